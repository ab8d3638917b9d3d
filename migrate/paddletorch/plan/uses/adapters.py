"""Calls whose arguments only the running program knows: an adapter with the source's signature takes them.

``nn.BatchNorm2d(width, **options)`` becomes ``TorchBatchNorm2d(width, **options)``, and the file gets that class: a
subclass of Paddle's layer with torch's arguments. So the arguments mean what they meant, whatever they are. It also
stands for a layer that would need a function without a name around it: ``nn.Dropout(mode="downscale_in_infer")``.
For a function, ``F.pad(x, **options)``, the adapter is a function: ``torch_pad(x, **options)``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from paddletorch_rules.adapters import Adapter, Definition, adapters, definitions, function_adapters

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.initial_values import warned_code
from paddletorch.plan.inference.opaque_arguments import spread_keys
from paddletorch.plan.model.changes import NOTHING, Changes, Import, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.refusals import Refused, UnseenArguments
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled, statement_below
from paddletorch.plan.names.written_functions import (
    functions_in,
    has_function,
    is_free,
    place_at_top,
    place_below_imports,
)
from paddletorch.plan.syntax.statements import start_of

CODE = "API240"
OVERLOADS = "API224"
"""The code for arguments that do not say which form of an API is called."""

HANDED_ON = "API229"
"""The code for unseen arguments that must be given as the target calls them."""


def has_source_calls(view: FileView, name: str) -> bool:
    """Whether the class has an adapter whose calls are the source's."""
    adapter = adapters(view.target).get(view.settings.adapted_name(name))
    return adapter is not None and adapter.keeps_calls


def with_adapter(view: FileView, use: Use) -> Use:
    """The use with an adapter in the place of its class; unchanged if its arguments are seen, or there is none."""
    site = use.site
    if site.other is None and site.call is not None and _is_overload(use):
        return _as_function(view, use, site.call) or use
    if site.other is not None or len(site.candidates) != 1:
        return use
    found = _adapter(view, site)
    stands_for_it = found is not None and (found.alone or (site.role == "base" and (found.is_base or found.derivable)))
    if found is not None and stands_for_it and not view.suppressed(use.row.code, site.call or site.node):
        return _in_its_place(view, use, found)
    if found is not None and found.is_base:
        return use
    if site.role in ("partial", "value") and not use.converts:
        return _handed_over(view, use) or use
    if site.role == "partial" and found is not None and site.call is not None:
        return _kept_partial(view, use, site.call, found) or use
    if site.role == "check" and found is not None and view.target == "torch":
        return _compared_as_base(view, use) or use
    if site.role != "call" or site.call is None or has_source_calls(view, site.name):
        return use  # decided for all calls of the class in the file: ``plan_source_calls``
    unseen = all(isinstance(f.refusal, UnseenArguments) for f in use.findings) and bool(use.findings)
    if use.converts:  # as the class that takes them whatever they are, or as those that runs saw
        unseen = any(f.code == HANDED_ON for f in use.findings) or spread_keys(view, site.call) is not None
    if unseen:
        return adapted(view, use, site.call) or _as_function(view, use, site.call) or use
    if not use.converts:
        return _answered(view, use, site.call) or use
    return _written_plainly(view, use, site.call)


def _is_overload(use: Use) -> bool:
    """Whether all that is said of a call is that its unseen arguments decide which form of an API it means."""
    unseen = use.site.call is not None and (
        any(isinstance(one, ast.Starred) for one in use.site.call.args)
        or any(one.arg is None for one in use.site.call.keywords)
    )
    codes = {found.code for found in use.findings}
    return unseen and codes == {OVERLOADS} and len({one.name for one in use.site.candidates}) == 1


def _as_function(view: FileView, use: Use, call: ast.Call) -> Use | None:
    """The use with a function that takes the call's arguments; None if there is none for it."""
    if use.converts:
        return None  # what is handed on means the same
    adapter = _named(view, function_adapters(view.target), use.site)
    if adapter is None or any(keyword.arg in adapter.checks for keyword in call.keywords):
        return None  # what is given and checked would raise
    return _with(view, use, adapter, call)


def _handed_over(view: FileView, use: Use) -> Use | None:
    """A function that is handed over where the target has an expression only: a written one takes its place."""
    adapter = _named(view, function_adapters(view.target), use.site)
    codes = {found.code for found in use.findings}
    if adapter is None or not codes or not codes <= {"API233", "API205"}:
        return None
    return _with(view, use, adapter, use.site.call)


def _answered(view: FileView, use: Use, call: ast.Call) -> Use | None:
    """The use with an adapter that takes what the target's own layer does not: another padding for each side."""
    adapter, codes = _adapter(view, use.site), {found.code for found in use.findings}
    if adapter is None and use.row.kind == "function":
        adapter = _named(view, function_adapters(view.target), use.site)
    if adapter is None or not codes or not codes <= set(adapter.answers) or not takes(view, adapter, call):
        return None
    found = _with(view, use, adapter, call)
    return None if found is None else replace(found, findings=tuple(f for f in found.findings if f.code != CODE))


def _in_its_place(view: FileView, use: Use, adapter: Adapter) -> Use:
    """The use with the class that stands for one that the target lacks; a variable that holds it keeps its name."""
    if use.site.anchor.kind in ("import", "free") and not use.site.recorded:
        return adapted(view, use, None) or use
    if use.site.anchor.kind == "outside" or use.site.recorded:
        return use
    return Use(use.site, use.row, adapter.name, keeps_name=True)


def _written_plainly(view: FileView, use: Use, call: ast.Call) -> Use:
    """The use with an adapter where a function without a name would stand around the call, or hang on its object."""
    adapter = _adapter(view, use.site)
    if adapter is None or adapter.warns or (use.row.initial and view.settings.options.initial_values == "source"):
        return use  # the function does more than the arguments say
    unnamed = any("lambda" in edit.written for edit in use.every_edit)
    is_about_attributes = any((k.arg or "").endswith("_attr") for k in call.keywords)
    needed = unnamed and (is_about_attributes or bool(adapter.texts))
    if not (needed or _is_beside(view, call, adapter)) or not takes(view, adapter, call):
        return use
    found = adapted(view, use, call)
    kept = tuple(f for f in use.findings if f.code not in adapter.answers)
    return use if found is None else replace(found, findings=kept)


def _kept_partial(view: FileView, use: Use, call: ast.Call, adapter: Adapter) -> Use | None:
    """The use with an adapter where a function would take the place of the partial object, which may be asked for."""
    named = {one.arg for one in (*_parameters(adapter).args, *_parameters(adapter).kwonlyargs)}
    count = len(call.args) - 1 if not any(isinstance(one, ast.Starred) for one in call.args) else len(named) + 1
    if adapter.warns or count > len(_parameters(adapter).args) or any(k.arg not in named for k in call.keywords):
        return None
    if not any("lambda *args" in edit.written for edit in use.every_edit):
        return None
    found = adapted(view, use, call)
    return None if found is None else replace(found, findings=use.findings)


def _compared_as_base(view: FileView, use: Use) -> Use | None:
    """``part.func == nn.BatchNorm2D``: a partial object may hold an adapter, which derives from the target's class."""
    node, around = use.site.node, view.parent(use.site.node)
    if not isinstance(around, ast.Compare) or not isinstance(around.ops[0], ast.Eq | ast.Is | ast.NotEq | ast.IsNot):
        return None
    function = around.left
    if len(around.ops) > 1 or node is function or not isinstance(function, ast.Attribute) or function.attr != "func":
        return None
    if any(view.qualified(base) == use.site.name for one in view.tree.of_kind(ast.ClassDef) for base in one.bases):
        return None  # the file's own classes were other ones
    negated = "not " * isinstance(around.ops[0], ast.NotEq | ast.IsNot)
    parts = (f"{negated}issubclass(", view.source.span(function), ", ", view.source.span(node), ")")
    edit = Edit(view.source.span(around), "", use.row.code, parts)
    return replace(use, edits=(*use.edits, edit))


def _is_beside(view: FileView, call: ast.Call, adapter: Adapter) -> bool:
    """Whether the class around the call makes a layer for which the target's own one has the wrong dimensions."""
    around: ast.AST | None = call if adapter.beside else None
    while around is not None and not isinstance(around, ast.ClassDef):
        around = view.parent(around)
    calls = (n for n in ast.walk(around) if isinstance(n, ast.Call)) if around is not None else ()
    return any(view.qualified(one.func) in adapter.beside for one in calls)


def takes(view: FileView, adapter: Adapter, call: ast.Call) -> bool:
    """Whether the adapter takes the arguments as they stand: none is an initializer that suits only its own tensor."""
    arguments = _parameters(adapter)
    parameters = [one.arg for one in arguments.args]
    named = {*parameters, *(one.arg for one in arguments.kwonlyargs)}
    given = positional(adapter, call)
    if len(given) < len(call.args) or any(k.arg is None or k.arg not in named for k in call.keywords):
        return False
    given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
    default = dict(zip(parameters[::-1], arguments.defaults[::-1], strict=False))
    if any(name in adapter.checks and not _is_default(value, default.get(name)) for name, value in given.items()):
        return False
    return all(_is_handed_on(view, value, is_text=name in adapter.texts) for name, value in given.items())


def takes_as_it_stands(view: FileView, use: Use) -> bool:
    """Whether there is an adapter for the use's class, which has the parameters that its call names or fills."""
    adapter, call = _adapter(view, use.site), use.site.call
    if adapter is None or call is None:
        return False
    return _has_parameters(adapter, call)


def _has_parameters(adapter: Adapter, call: ast.Call, skip: int = 0) -> bool:
    """Whether the adapter has each parameter that the call names or fills; ``skip`` arguments are not its own."""
    arguments = _parameters(adapter)
    if arguments.vararg is None and len(call.args) - skip > len(arguments.args):
        return False
    named = {one.arg for one in (*arguments.args, *arguments.kwonlyargs)}
    return arguments.kwarg is not None or all(k.arg is None or k.arg in named for k in call.keywords)


def positional(adapter: Adapter, call: ast.Call) -> dict[str, ast.expr]:
    """The positional arguments by the adapter's parameters."""
    return dict(zip([one.arg for one in _parameters(adapter).args], call.args, strict=False))


def _parameters(adapter: Adapter) -> ast.arguments:
    """What the class, without its ``self``, or the function takes."""
    return _parameters_in(adapter.text)


@cache  # there are as many as the tables have adapters
def _parameters_in(text: str) -> ast.arguments:
    (whole,) = ast.parse(text).body
    if isinstance(whole, ast.FunctionDef):
        return whole.args
    arguments = next(n.args for n in ast.walk(whole) if isinstance(n, ast.FunctionDef) and n.name == "__init__")
    del arguments.args[0]
    return arguments


def _is_default(value: ast.expr, default: ast.expr | None) -> bool:
    return default is not None and isinstance(value, ast.Constant) and ast.dump(value) == ast.dump(default)


def _is_handed_on(view: FileView, value: ast.expr, *, is_text: bool) -> bool:
    """Whether the argument means the same by way of a parameter: a number or a flag, or what is made elsewhere."""
    if is_text:
        return True
    if isinstance(value, ast.Constant):
        return not isinstance(value.value, str | bytes)
    made = [n for n in ast.walk(value) if isinstance(n, ast.Call | ast.List | ast.Tuple | ast.Starred | ast.Dict)]
    return not any(not isinstance(n, ast.Call) or view.settings.overloads(view.qualified(n.func) or "") for n in made)


def adapted(view: FileView, use: Use, call: ast.Call | None) -> Use | None:
    """The use with the name of the adapter for its class, and ``call`` as it stands; None if there is none for it.

    Without ``call``, the class is called where the file does not show it.
    """
    adapter = _adapter(view, use.site)
    return None if adapter is None else _with(view, use, adapter, call)


def _with(view: FileView, use: Use, adapter: Adapter, call: ast.Call | None) -> Use | None:
    """The use with the name of the adapter; None if it has no place, or its name is taken."""
    site = use.site
    place = _place(view, site)
    if place is None or (call is not None and not _has_parameters(adapter, call, site.role == "partial")):
        return None
    parts = [one for one in definitions(view.target, adapter) if not has_function(view, one)]
    if not all(is_free(view, one.name) for one in parts):
        return None
    try:
        _written(view, site, statement_below(view, place), place, "\n".join(one.text for one in parts))
    except Refused:
        return None
    edit = Edit(view.source.span(site.node), view.quoted(adapter.name, site.node), use.row.code)
    return Use(
        site,
        use.row,
        adapter.name,
        (edit,),
        tuple(_findings(view, use, adapter, call)),
        writes_name=True,
        adapter=adapter,
    )


def _adapter(view: FileView, site: Site) -> Adapter | None:
    """The adapter of the site's class, by the name that its row has: ``torch.nn.modules.ReLU`` is ``torch.nn.ReLU``."""
    return _named(view, adapters(view.target), site)


def _named(view: FileView, known: Mapping[str, Adapter], site: Site) -> Adapter | None:
    """The adapter of the site's name, or of another spelling with the same parameters: ``_LRScheduler``."""
    row, form = site.candidates[0].row, site.candidates[0].form
    names = [site.name, *form.names[:1]]
    for one in row.forms(view.settings.source):
        if one.signatures == form.signatures:
            names += one.names
    return next((known[name] for name in names if name in known), None)


def _findings(view: FileView, use: Use, adapter: Adapter, call: ast.Call | None) -> list[Finding]:
    """What the arguments may hold that the target has nothing like, and what holds for the class as such."""
    site, row = use.site, use.row
    found = [finding(code, site.node, site.name, row, what=what) for code, what in adapter.warns]
    if view.target in row.warn:
        found.append(finding(warned_code(view, row), site.node, site.name, row))
    given = {keyword.arg for keyword in call.keywords} if call is not None else set()
    seen = spread_keys(view, call) if call is not None else None
    open_ = [name for name in (*adapter.lacks, *adapter.checks) if name not in given and (seen is None or name in seen)]
    if open_:
        found.append(finding(CODE, site.node, site.name, row, name=adapter.name, parameters=", ".join(open_)))
    return found


class _Inserted(NamedTuple):
    """A class or function and where it is written; ``site`` names the API that it is for, if that is a site."""

    place: int
    one: Definition
    site: Site | None


def plan_adapters(view: FileView, planned: Planned) -> Changes:
    """Write the classes of the adapters, and the functions that new text calls, below the imports."""
    used: dict[str, _Inserted] = {}
    for found in (*_adapters(view, planned), *_functions(view, planned)):
        if found.one.name not in used or found.place < used[found.one.name].place:
            used[found.one.name] = found
    edits: list[Edit] = []
    imports: list[Import] = []
    for place in sorted({found.place for found in used.values()}):
        here = sorted((found for found in used.values() if found.place == place), key=lambda found: _order(found.one))
        below = statement_below(view, place)
        text = "\n" * _empty_lines(view, place, below) + "".join(f"{found.one.text}\n\n" for found in here)
        site = next((found.site for found in here if found.site is not None), None)
        written = _written(view, site, below, place, text.replace("\n", view.source.newline))
        edits += written.edits
        imports += [one._replace(node=below, site=site) for one in written.imports]  # it must be bound up there
    return Changes(tuple(edits), imports=tuple(imports)) if used else NOTHING


def _empty_lines(view: FileView, place: int, below: ast.stmt) -> int:
    """How many line ends make two empty lines above ``place``, where an import may be inserted as well."""
    if place == place_at_top(view):
        return 0 if isinstance(below, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else 2
    above = view.source.body[:place]
    return max(0, 3 - above[len(above.rstrip(b" \r\n")) :].count(view.source.newline.encode()))


def _adapters(view: FileView, planned: Planned) -> Iterator[_Inserted]:
    for use in planned.uses.converted:
        place = _place(view, use.site) if use.adapter is not None else None
        if use.adapter is not None and place is not None:
            parts = [one for one in definitions(view.target, use.adapter) if not has_function(view, one)]
            yield from (_Inserted(place, one, use.site) for one in parts)


def _functions(view: FileView, planned: Planned) -> Iterator[_Inserted]:
    for edit in planned.edits:
        for one in functions_in(view, [edit]).values():
            place = place_below_imports(view, edit, one)
            if place is not None and not has_function(view, one):
                yield _Inserted(place, one, None)


def _order(one: Definition) -> tuple[bool, bool, str]:
    """Functions come before classes, and those before the classes that derive from them."""
    head = one.text.strip().partition("\n")[0]
    derived = "(" in head and "." not in head
    return head.startswith("class "), head.startswith("class ") and derived, one.name


def _written(view: FileView, site: Site | None, below: ast.stmt, place: int, text: str) -> Changes:
    """The text at ``place``, above a statement, with the target's names as the file knows them there.

    Raises:
        Refused: a name is bound to something else.
    """
    code, name = (CODE, view.target) if site is None else (site.candidates[0].row.code, site.name)
    return spelled(view, {}, below, [Edit(Span(place, place), text, code)], name)


def _place(view: FileView, site: Site) -> int | None:
    """Where a class is written that the site names: below the imports that begin with that of the site's own name.

    None as well if a ``global`` of the module stands below: it may declare what the class reads.
    """
    body = view.tree.module.body
    nodes = [b.node for b in site.anchor.bindings if b.scope is view.tree.scope]
    if site.anchor.kind != "import" or not nodes or len(nodes) != len(site.anchor.bindings):
        return None
    imports = [n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom) and view.parent(n) is view.tree.module]
    if len(imports) != len(nodes):
        return None
    last = max(imports, key=start_of)  # `import torch` and `import torch.optim` bind one name
    below = body[body.index(last) :]
    count = next((n for n, s in enumerate(below) if not isinstance(s, ast.Import | ast.ImportFrom)), len(below))
    end = below[count - 1].end_lineno
    if any(isinstance(statement, ast.Global) for statement in below):
        return None
    if end is None or count == len(below) or below[count].lineno <= end or site.node.lineno <= end:
        return None
    start = view.source.line_span(end).end
    rest = view.source.body[start:]
    return start + len(rest) - len(rest.lstrip(b"\r\n"))
