"""Calls whose API is known only at run time, ``norm_layer(width, eps=1e-6)``: the shim converts their arguments.

The call's text keeps torch's arguments. At run time the shim's ``torch_args`` converts them if the callee is a layer
or function of Paddle's, and changes nothing for any other callee.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from paddletorch_rules.adapters import adapters
from paddletorch_rules.facts import facts
from paddletorch_rules.guesses import suggests

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.inference.keywords import shared_items
from paddletorch.plan.model.changes import Changes, Import, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.refusals import (
    AmbiguousApi,
    ArgumentsDoNotFit,
    ArgumentsNotReadable,
    NeedsWholeCall,
    Refusal,
    SharedDict,
    SignatureNotKnown,
    UncertainBinding,
    UnseenArguments,
)
from paddletorch.plan.model.site import Candidate, Site
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.model.written_code import is_written
from paddletorch.resolve import Binding, NoneValue, Partial, Qualified, Unknown
from paddletorch.resolve.values import Local

MODULE = "paddletorch_shim.paddle"
WRAPPER = f"{MODULE}.torch_args"
CODE = "API227"

_CONVERTED_AT_RUN_TIME = (UncertainBinding, AmbiguousApi, UnseenArguments, SharedDict)
"""Refusals of calls that the shim can convert at run time."""

_CONVERTED_FOR_PARAMETERS = (
    *_CONVERTED_AT_RUN_TIME,
    ArgumentsDoNotFit,
    SignatureNotKnown,
    ArgumentsNotReadable,
    NeedsWholeCall,
)
"""As ``_CONVERTED_AT_RUN_TIME``, for calls of a parameter, whose callers may pass another API."""

_OF_TENSORS_TOO = ("device", "dtype")
"""Parameters that functions of tensors have as well: what ``table[name]`` and ``made(name)`` give may be one."""


def with_callee_wrapped(view: FileView, use: Use) -> Use:
    """The use with its callee wrapped_callee for the shim; unchanged if the shim is not used for it."""
    site, call = use.site, use.site.call
    if not view.settings.shim_wraps_calls or call is None or site.role not in ("call", "partial"):
        return use
    if site.role == "partial" and use.converts:
        return use
    if not (_may_get_another_api(view, use) if use.converts else _converts_at_run_time(use)):
        return use
    if view.is_deselected(CODE, call) or not all(_is_callable(view, c) for c in site.candidates):
        return use
    known = site.anchor.kind in ("import", "free") and site.other is None and len(site.candidates) == 1
    if not known and site.anchor.node is not site.node:
        return use  # a module's member: the module stays, and the shim would be given the source's own class
    form = view.settings.emitted(site.candidates[0].row)
    target = form.names[0] if known and form is not None else WRAPPER
    findings = (*(use.findings if use.converts else ()), finding(CODE, call, view.text(site.node)))
    return Use(
        site, use.row, target, wrapped_callee(view, site.node), findings, keeps_name=not known, needed_module=MODULE
    )


def _converts_at_run_time(use: Use) -> bool:
    """Whether the shim can convert the call, whatever refusals it has."""
    refusals = _CONVERTED_FOR_PARAMETERS if _is_parameter(use.site) else _CONVERTED_AT_RUN_TIME
    return bool(use.findings) and all(isinstance(f.refusal, refusals) for f in use.findings)


def _may_get_another_api(view: FileView, use: Use) -> bool:
    """Whether callers in other files may pass another API than the one that the arguments were converted for.

    A written class takes the source's arguments, as the wrapper does; the call of another one may not.
    """
    if not _is_parameter(use.site):
        return False
    call, is_written_class = use.site.call, any(c.name in adapters(view.target) for c in use.site.candidates)
    return bool(use.every_edit) or (is_written_class and call is not None and bool(_layer_keywords(view, call)))


def _is_parameter(site: Site) -> bool:
    return site.anchor.kind == "alias" and any(b.kind == "parameter" for b in site.anchor.bindings)


def _is_callable(view: FileView, candidate: Candidate) -> bool:
    """Whether the counterpart can be called by its name: the target's own, or the class that is written for it."""
    row, form = candidate.row, view.settings.emitted(candidate.row)
    if form is None:
        return candidate.name in adapters(view.target)
    return row.kind in ("class", "function") and form.template is None and bool(form.names)


def shim_finding(view: FileView, refusal: Refusal, call: ast.Call) -> Finding | None:
    """The finding that the shim converts a refused call at run time; None if it does not."""
    if not (view.settings.shim_wraps_calls and isinstance(refusal, UnseenArguments | SharedDict)) or view.is_deselected(
        CODE, call
    ):
        return None
    return finding(CODE, call, view.text(call.func))


def wrapped_callee(view: FileView, callee: ast.expr) -> tuple[Edit, ...]:
    """Edits that wrap the callee in the shim's ``torch_args``."""
    span = view.source.span(callee)
    before, after = Span(span.start, span.start), Span(span.end, span.end)
    return Edit(before, WRAPPER + "(", CODE), Edit(after, ")", CODE)


def plan_unknown_calls(view: FileView, planned: Planned) -> Changes:
    """Calls of unknown callees with keywords of the source's layers: convert them by the shim, or report them."""
    edits: list[Edit] = []
    imports: list[Import] = []
    conversions: list[Conversion] = []
    findings: list[Finding] = []
    for call, word in _unknown_calls(view, planned):
        name = view.text(call.func)
        if not view.settings.shim_wraps_calls:
            findings.append(finding("API226", call, name, word=word))
        elif not view.is_deselected(CODE, call):
            edits += wrapped_callee(view, call.func)
            imports.append(Import(call.func, MODULE))
            findings.append(finding(CODE, call, name))
            conversions.append(view.conversion(CODE, call, name, WRAPPER))
    return Changes(tuple(edits), tuple(conversions), tuple(findings), tuple(imports))


def _unknown_calls(view: FileView, planned: Planned) -> Iterator[tuple[ast.Call, str]]:
    """Each such call, with the first keyword that shows it; none in code of the target."""
    planned_calls = planned.handled.union(use.site.call for use in planned.uses if use.site.call is not None)
    for call in view.tree.calls:
        if call in planned_calls:
            continue
        words = _layer_keywords(view, call)
        bound = view.settings.shim_wraps_calls and _is_partial(view, call)
        if isinstance(call.func, ast.Subscript | ast.Call):
            words = [word for word in words if word not in _OF_TENSORS_TOO]
        unknown = bool(words) and (_is_unknown(view, call.func) or _is_only_parameter(view, call.func))
        unknown = unknown and (view.settings.shim_wraps_calls or not _takes_them_already(view, call.func))
        if (
            (bound or unknown)
            and view.origins.may_be_sources(call.func)
            and view.is_located(call)
            and not is_written(view, call)
        ):
            yield call, next(iter(words), "")


def _layer_keywords(view: FileView, call: ast.Call) -> list[str]:
    """Keywords of the call that the source's layers have; unknown ``**kwargs`` count where a layer's name is called."""
    known = facts().layer_parameters[view.settings.source]
    found = [k.arg for k in call.keywords if k.arg in known]
    for value in (k.value for k in call.keywords if k.arg is None):
        seen = [key for key, _, _ in shared_items(view, value)]
        found += [key for key in seen if key in known]
        found += ["**" + view.text(value)] if not seen and _may_make_a_layer(view, call) else []
    return [word for word in found if word is not None]


def _may_make_a_layer(view: FileView, call: ast.Call) -> bool:
    """Whether the callee's name is that of a layer's class, neither the method's own class nor one that is made."""
    function = call.func
    if not suggests("made_layer", getattr(function, "id", getattr(function, "attr", ""))):
        return False
    root: ast.expr = function
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return True
    scope = view.tree.scopes[root]
    if root is not function:  # ``self.base_layer(x, **kwargs)`` calls a layer that is made
        return getattr(scope.node, "name", "") not in _CALLS
    return not any(_is_own_class(binding) for binding in scope.lookup(root.id))


_CALLS = frozenset({"forward", "__call__"})
"""Methods in which layers are called and not made."""


def _is_own_class(binding: Binding) -> bool:
    """Whether it is the class that a class method is called on."""
    function = binding.scope.node
    if binding.kind != "parameter" or not isinstance(function, ast.FunctionDef):
        return False
    is_first = binding.node is next(iter((*function.args.posonlyargs, *function.args.args)), None)
    marks = {ast.unparse(mark) for mark in function.decorator_list}
    return is_first and ("classmethod" in marks or function.name == "__new__")


def _is_partial(view: FileView, call: ast.Call) -> bool:
    """Whether the callee is a variable that holds a ``functools.partial`` object of an API."""
    if not isinstance(call.func, ast.Name | ast.Attribute) or not (call.args or call.keywords):
        return False
    values = view.evaluator.values(call.func) if b"partial" in view.source.body else ()
    return any(isinstance(v, Partial) and view.settings.lookup(v.name) for v in values)


def _is_unknown(view: FileView, function: ast.expr) -> bool:
    """Whether the callee is a variable that may hold a layer's class."""
    is_known = False
    if isinstance(function, ast.Name):
        bindings = view.tree.scopes[function].lookup(function.id)
        kinds = view.provide(_VariableKinds).of(bindings) if bindings else None
        if kinds is None:
            return False
        is_known = kinds == {"assign"} and not view.settings.shim_wraps_calls
    elif isinstance(function, ast.Subscript | ast.Call):
        if isinstance(function, ast.Call) and _is_answered(view, function.func):
            return False
        if any(isinstance(v, Qualified) and view.settings.lookup(v.name) for v in view.evaluator.values(function)):
            return True  # an element of a table of layers, whose calls are not planned
        is_known = not view.settings.shim_wraps_calls
    elif not isinstance(function, ast.Attribute) or not suggests("layer_class", function.attr):
        return False
    values = view.evaluator.values(function)
    unknown = Unknown if is_known else Unknown | Partial  # a known partial object is converted with its calls
    return all(isinstance(v, NoneValue) for v in values) or any(isinstance(v, unknown) for v in values)


def _is_answered(view: FileView, function: ast.expr) -> bool:
    """Whether it is ``getattr``, which another finding names, or what wraps a callee already."""
    if isinstance(function, ast.Name) and function.id == "getattr":
        return True
    return any(isinstance(v, Qualified) and v.name == WRAPPER for v in view.evaluator.values(function))


def _is_only_parameter(view: FileView, function: ast.expr) -> bool:
    """Whether the callee is a parameter, for which callers in other files may pass a layer's class."""
    if not view.settings.shim_wraps_calls or not isinstance(function, ast.Name):
        return False
    bindings = view.tree.scopes[function].lookup(function.id)
    return bool(bindings) and all(b.kind == "parameter" and b.qualified is None for b in bindings)


def _takes_them_already(view: FileView, function: ast.expr) -> bool:
    """Whether the callee may be a class that an earlier conversion has written, which takes the source's arguments."""
    classes = (v.node for v in view.evaluator.values(function) if isinstance(v, Local))
    written = {one.name for one in adapters(view.target).values()}
    return any(isinstance(node, ast.ClassDef) and node.name in written for node in classes)


class _VariableKinds:
    """The kinds of the bindings of names that are only assigned, passed or iterated over."""

    def __init__(self, _view: FileView) -> None:
        self._kinds: dict[int, frozenset[str] | None] = {}
        """By the identity of a list of bindings."""

    def of(self, bindings: Sequence[Binding]) -> frozenset[str] | None:
        """The kinds, of all bindings of one name; None if one of them is of another kind."""
        key = id(bindings)
        if key not in self._kinds:
            kinds = frozenset(b.kind if b.qualified is None else "import" for b in bindings)
            self._kinds[key] = kinds if kinds <= {"parameter", "assign", "iterate"} else None
        return self._kinds[key]
