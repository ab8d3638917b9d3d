"""APIs named by strings: patched, imported, registered, or read with ``getattr(torch, name)``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from paddletorch_rules import Row

from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding, refused
from paddletorch.plan.model.refusals import NoSuchUse
from paddletorch.plan.model.same_code import same_code
from paddletorch.plan.model.target_forms import target_form, target_name
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import BASE_MODULES, Instance, Value


def plan_names_in_strings(view: FileView, planned: Planned) -> Changes:
    """Report each such string that no edit replaces."""
    findings: list[Finding] = []
    packages = (view.settings.source + ".", "apex.")
    dotted = [n for n in view.tree.strings if isinstance(n.value, str) and n.value.startswith(packages)]
    for node in sorted(dotted, key=lambda n: (n.lineno, n.col_offset)):
        if node in view.tree.string_annotations or isinstance(view.parent(node), ast.Expr):
            continue
        assert isinstance(node.value, str)
        found = view.settings.lookup(node.value)
        if found is None or found[0].kind == "module" or _is_replaced(view, planned, node):
            continue
        if _is_type_of_tensor(view, node):
            continue
        row = found[0]
        findings.append(finding("API206", node, node.value, row, replacement=target_name(row, view)))
    return Changes(findings=tuple(findings))


def _is_type_of_tensor(view: FileView, node: ast.expr) -> bool:
    """Whether it is compared with what names a tensor's class, as converted code still does: ``x.type() == "..."``."""
    parent = view.parent(node)
    compared = (parent.left, *parent.comparators) if isinstance(parent, ast.Compare) else ()
    calls = [one.func for one in compared if isinstance(one, ast.Call)]
    return any(
        (isinstance(function, ast.Attribute) and function.attr == "type")
        or (isinstance(function, ast.Name) and function.id == "torch_type_name")
        for function in calls
    )


def _is_replaced(view: FileView, planned: Planned, node: ast.expr) -> bool:
    """Whether the converted file has nothing of the expression's text."""
    kept = view.kept(planned.edits)
    return kept is not None and not kept.touches(view.source.span(node))


def plan_names_in_probes(view: FileView, planned: Planned) -> Changes:
    """Report ``getattr(torch, name)``, which reads an API by a name known only at run time."""
    findings: list[Finding] = []
    for call in view.tree.calls_of(*_PROBES):
        if not isinstance(call.func, ast.Name) or len(call.args) < 2:
            continue
        module, attribute = call.args[:2]
        path = view.qualified(module) or ""
        if not _has_no_row(view, path) or _is_replaced(view, planned, module):  # as by plan_dtypes_by_name
            continue
        name = str(attribute.value) if isinstance(attribute, ast.Constant) else ""
        api = f"{path}.{name}" if name else f"an API of {path}"
        asked = view.text(module).replace(view.settings.source, view.target, 1)
        text = view.text(call)
        findings.append(refused(NoSuchUse(text, text.replace(view.text(module), asked, 1)), call, api))
    return Changes(findings=tuple(findings))


def _has_no_row(view: FileView, module: str) -> bool:
    """Whether no row has the module of the source, or what stands above one."""
    known = module == view.settings.source or module in view.settings.modules
    return known and view.settings.lookup(module) is None


_PROBES = frozenset({"getattr", "setattr", "delattr"})
"""``hasattr`` is converted by ``plan_probes``."""


def plan_attributes_by_name(view: FileView, planned: Planned) -> Changes:
    """Report ``hasattr(layer, "kernel_size")``, where the target keeps the attribute by another name."""
    findings: list[Finding] = []
    for call in view.tree.calls_of(*_BY_NAME):
        if not isinstance(call.func, ast.Name) or len(call.args) < 2:
            continue
        holder, attribute = call.args[:2]
        if not isinstance(attribute, ast.Constant) or not isinstance(attribute.value, str):
            continue
        row = _renamed(view, holder, attribute.value)
        if row is None or _is_replaced(view, planned, attribute) or view.suppressed(row.code, call):
            continue
        form, text = target_form(row, view), view.text(call)
        written = form.template or f"{{self}}.{form.names[0]}"
        plain = written.removeprefix("{self}.")
        asked = text.replace(attribute.value, plain) if plain.isidentifier() else written.replace("{self}", "it")
        findings.append(refused(NoSuchUse(text, asked), call, f"{row.receiver}.{attribute.value}", row))
    return Changes(findings=tuple(findings))


_BY_NAME = _PROBES | {"hasattr"}


def _renamed(view: FileView, holder: ast.expr, name: str) -> Row | None:
    """The row of an attribute of the framework's object that has no such name in the target; None for any other."""
    bases = view.settings.table.bases
    rows = [row for row, _ in view.settings.members(name) if view.settings.emitted(row) is not None]
    values = view.evaluator.objects(holder) if rows else ()
    if not values or not all(isinstance(value, Instance) for value in values) or _is_own(view, holder, values, name):
        return None
    found = [row for row in rows for value in values if _may_have(bases, row, value)]
    keep = any(name in form.names for row in found if (form := view.settings.emitted(row)) is not None)
    return found[0] if found and not keep else None


def _is_own(view: FileView, holder: ast.expr, values: Iterable[Value], name: str) -> bool:
    """Whether the program gives the object this attribute: its class, or an assignment to the same object."""
    if any(isinstance(value, Instance) and value.node is not None for value in values):
        return name in view.tree.stores_by_name or name in view.tree.class_members
    return any(store.target.attr == name and same_code(store.target.value, holder) for store in view.tree.stores)


def _may_have(bases: Callable[[str], tuple[str, ...]], row: Row, value: Value) -> bool:
    """Whether the object is of the row's type; what is only known as a module may be any layer."""
    if not isinstance(value, Instance) or row.receiver is None:
        return False
    return row.receiver in bases(value.type) or (
        value.api in BASE_MODULES.values() and value.type == "module" and "module" in bases(row.receiver)
    )
