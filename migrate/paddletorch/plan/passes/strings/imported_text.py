"""Modules that strings name for a function that imports: ``optional_import("einops.layers.torch", name="Reduce")``.

Or that asks for them: ``find_spec("torch")``, ``"torch" in sys.modules``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from paddletorch_rules import Form, Row

from paddletorch.model import Edit
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.target_forms import target_name
from paddletorch.plan.model.view import FileView

_LOADERS = frozenset(
    {"LazyLoader", "load_module", "locate", "resolve_name"}
    | {"find_spec", "find_loader", "find_module", "version", "distribution", "get_distribution"}
)
"""Functions that import what a string names, or ask for it, and have no ``import`` in their names."""


def plan_imported_text(view: FileView, planned: Planned) -> Changes:
    """Write the target's module where all that the call may take from it is called alike, and report the others."""
    names = frozenset(filter(_says_import, (*view.tree.names, *view.tree.members)))
    calls = [call for call in view.tree.calls if _called_by(call) in names] if names else []
    imported = (_planned(view, call, text) for call in calls for text in _texts(call))
    return joined([*imported, _loaded(view)])


def _loaded(view: FileView) -> Changes:
    """Report the modules that the file looks for among those that are loaded: what is loaded then is the target's."""
    if "modules" not in view.tree.members:
        return NOTHING
    found = [text for text in view.tree.strings if _is_root(view, text) and _is_key_of_modules(view, text)]
    return Changes(findings=tuple(finding("API206", text, str(text.value), replacement=view.target) for text in found))


def _is_root(view: FileView, text: ast.Constant) -> bool:
    return str(text.value).partition(".")[0] == view.settings.source


def _is_key_of_modules(view: FileView, text: ast.Constant) -> bool:
    """Whether a string is looked for in ``sys.modules``."""
    around = view.parent(text)
    if isinstance(around, ast.Compare):
        held: ast.expr = around.comparators[0]
    elif isinstance(around, ast.Subscript):
        held = around.value
    elif isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute):
        held = around.func.value
    else:
        return False
    return isinstance(held, ast.Attribute) and view.qualified(held) == "sys.modules"


def _called_by(call: ast.Call) -> str:
    """The last name of the function that is called; empty if it has none."""
    name: str = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name


def _says_import(name: str) -> bool:
    """Whether the name of a function says that it imports what it is given."""
    return name in _LOADERS or "import" in name.lower()


def _texts(call: ast.Call) -> Iterator[ast.Constant]:
    for node in (*call.args, *(keyword.value for keyword in call.keywords)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node


def _planned(view: FileView, call: ast.Call, text: ast.Constant) -> Changes:
    """The edits of a module's name and of the one that is taken from it, or the finding that it is the source's."""
    module = str(text.value)
    if not all(part.isidentifier() for part in module.split(".")):
        return Changes()
    found = view.settings.lookup(module)
    if found is not None and found[0].kind != "module":
        return Changes()  # an API, not a module
    if found is None and not view.settings.is_of_source(module):
        return Changes()
    names = _taken(view, call, text, module)
    row = found[0] if found is not None else None
    written = _written(view, module, list(names)) if row is not None else None
    if row is None or written is None or view.is_deselected(row.code, text) or not view.is_located(text):
        replacement = target_name(row, view) if row is not None else module.replace(view.settings.source, view.target)
        return Changes(findings=(finding("API206", text, module, row, replacement=replacement),))
    renamed = {text: (module, written.module)}
    renamed |= {node: (name, written.names[name]) for name, node in names.items() if node is not None}
    return joined(_renamed(view, node, old, new, row) for node, (old, new) in renamed.items() if old != new)


def _taken(view: FileView, call: ast.Call, text: ast.Constant, module: str) -> dict[str, ast.Constant | None]:
    """The names that the call takes from the module, with the strings that say them; all of it if none does."""
    others = {str(other.value): other for other in _texts(call) if other is not text}
    named = {name: other for name, other in others.items() if view.settings.lookup(f"{module}.{name}")}
    return dict(named) if named else dict.fromkeys(view.settings.exported(module))


class _Target(NamedTuple):
    """The target's module and what the source's names are there."""

    module: str
    names: Mapping[str, str]


def _written(view: FileView, module: str, names: list[str]) -> _Target | None:
    """The target's module that has all of the names, each called with the same arguments; None if there is none."""
    forms = {name: _called_alike(view, f"{module}.{name}") for name in names}
    written = {name: form.names[0].rpartition(".") for name, form in forms.items() if form is not None}
    modules = {place for place, _, _ in written.values()}
    if len(written) != len(names) or len(modules) != 1:
        return None
    return _Target(modules.pop(), {name: last for name, (_, _, last) in written.items()})


def _called_alike(view: FileView, api: str) -> Form | None:
    """The target's form of the API if a use that is not seen would be the same; None otherwise."""
    pairs = view.settings.overloads(api)
    if len(pairs) != 1:
        return None
    row, own = pairs[0]
    form = view.settings.emitted(row)
    special = row.hook or row.initial or row.report or row.forward or view.target in row.warn
    if form is None or special or form.template is not None or own.template is not None or not form.names:
        return None
    parameters = [[signature.parameters for _, signature in one.signatures[-1:]] for one in (own, form)]
    return form if parameters[0] == parameters[1] and parameters[0] else None


def _renamed(view: FileView, node: ast.Constant, old: str, new: str, row: Row) -> Changes:
    span = view.source.span(node)
    before = view.source.slice(span)
    if old not in before:
        return Changes()
    edit = Edit(span, before.replace(old, new, 1), row.code)
    return Changes((edit,), (view.conversion(row.code, node, old, new, row.id),))
