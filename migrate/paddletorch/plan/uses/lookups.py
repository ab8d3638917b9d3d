"""APIs read from a module by a name that only the running program knows: ``getattr(F, act)(x)``."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from paddletorch_rules import Row
from paddletorch_rules.facts import facts
from paddletorch_rules.guesses import suggests

from paddletorch.model import Edit
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.target_forms import target_name
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.side_effects import is_pure

_CODE = "API235"
_WRITTEN = {"torch_activation": "activation_name", "torch_padding": "padding_name"}
"""Functions that look a layer up by torch's name, and the guess about the variables that hold such names."""


def convert_lookup(view: FileView, site: Site, module: str, row: Row) -> Use | None:
    """Look the API up in the target's module, by the target's name where that is another; None if that is not safe.

    Towards torch it is where the API is called with one argument at most, and the file does not name one that does
    something else; towards Paddle, where its name says that it is an activation or a padding.
    """
    if site.call is None or view.is_deselected(row.code, site.call):
        return None
    if view.target == "paddle":
        return _looked_up(view, site, site.call, row) if module == "torch.nn" else None
    names = _names(view, site.call, module)
    name = site.call.args[1] if len(site.call.args) > 1 else None
    if names is None or name is None or not is_pure(name):
        return None
    if isinstance(name, ast.Constant):
        return _by_known_name(view, site, module, row, name)
    if any(node.value in facts().not_looked_up for node in view.tree.strings):
        return None
    span = view.source.span(name)
    text = view.source.slice(span)
    renamed = view.quoted(repr(dict(names)), site.call)
    edit = Edit(span, f"{renamed}.get({text}, {text})", row.code)
    warning = finding(_CODE, site.call, f"{module}.*", row)
    return Use(site, row, target_name(row, view), (edit,)).with_findings(warning)


def _by_known_name(view: FileView, site: Site, module: str, row: Row, name: ast.Constant) -> Use | None:
    """``getattr(F, "swish")``, where the target's module has the function too, under whatever name."""
    hit = view.settings.lookup(f"{module}.{name.value!s}") if isinstance(name.value, str) else None
    form = view.settings.emitted(hit[0]) if hit is not None else None
    target = target_name(row, view)
    if form is None or form.template is not None or name.value in facts().not_looked_up:
        return None
    home, _, last = form.names[0].rpartition(".")
    if home != target:
        return None
    edit = Edit(view.source.span(name), view.quoted(repr(last), name), row.code)
    return Use(site, row, target, (edit,))


def _looked_up(view: FileView, site: Site, lookup: ast.Call, row: Row) -> Use | None:
    """``torch_activation(act)`` for ``getattr(nn, act)``, where the program's names say what it is."""
    name = lookup.args[1] if len(lookup.args) == 2 and not lookup.keywords else None
    if not isinstance(lookup.func, ast.Name) or lookup.func.id != "getattr" or name is None:
        return None
    if isinstance(name, ast.Constant | ast.Starred):
        return None
    called = ast.unparse(name)
    function = next((one for one, guess in _WRITTEN.items() if suggests(guess, called)), None)
    if function is None:
        return None
    span = view.source.span(name)
    edit = Edit(view.source.span(lookup), "", row.code, (f"{function}(", span, ")"))
    return Use(site, row, target_name(row, view), (edit,)).with_findings(finding(_CODE, lookup, "torch.nn.*", row))


def _names(view: FileView, lookup: ast.Call, module: str) -> Mapping[str, str] | None:
    """Names of the module that differ in the target, for a function or a class that is called with that many values."""
    call, names = view.parent(lookup), facts().looked_up
    if not isinstance(lookup.func, ast.Name) or lookup.func.id not in ("getattr", "hasattr"):
        return None
    if lookup.func.id == "hasattr":
        return _names_asked_for(view, lookup, module)
    if not isinstance(call, ast.Call) or call.func is not lookup:
        return names.get(module)
    if call.keywords or len(call.args) > 1 or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    return names.get(module) or names.get(f"{module}:{len(call.args)}")


def _names_asked_for(view: FileView, probe: ast.Call, module: str) -> Mapping[str, str] | None:
    """For ``hasattr(nn, act)`` the names with which ``getattr(nn, act)`` looks it up, or all that differ."""
    asked = [ast.dump(argument) for argument in probe.args]
    for call in view.tree.calls_of("getattr"):
        if isinstance(call.func, ast.Name) and list(map(ast.dump, call.args)) == asked:
            return _names(view, call, module)
    known = (names for one, names in facts().looked_up.items() if one.partition(":")[0] == module)
    return {name: other for names in known for name, other in names.items()} or None
