"""APIs named by strings: patched, imported, registered, or read with ``getattr(torch, name)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch.model import Edit
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding, refused
from paddletorch.plan.model.refusals import NoSuchUse
from paddletorch.plan.model.target_forms import target_name
from paddletorch.plan.model.view import FileView


def plan_names_in_strings(view: FileView, planned: Planned) -> Changes:
    """Report each such string that no edit replaces."""
    findings: list[Finding] = []
    for node in sorted(view.tree.strings, key=lambda n: (n.lineno, n.col_offset)):
        if node in view.tree.string_annotations or isinstance(view.parent(node), ast.Expr):
            continue
        assert isinstance(node.value, str)
        if "." not in node.value or not node.value.startswith((view.settings.source + ".", "apex.")):
            continue
        found = view.settings.lookup(node.value)
        if found is None or found[0].kind == "module" or _is_replaced(view, node, planned.edits):
            continue
        row = found[0]
        findings.append(finding("API206", node, node.value, row, replacement=target_name(row, view)))
    return Changes(findings=tuple(findings))


def _is_replaced(view: FileView, node: ast.expr, edits: Sequence[Edit]) -> bool:
    span = view.source.span(node)
    return any(e.span.holds(span) and span not in e.parts for e in edits)


def plan_names_in_probes(view: FileView, planned: Planned) -> Changes:
    """Report ``getattr(torch, name)``, which reads an API by a name known only at run time."""
    findings: list[Finding] = []
    for call in view.tree.calls:
        if not isinstance(call.func, ast.Name) or call.func.id not in _PROBES or len(call.args) < 2:
            continue
        module, attribute = call.args[:2]
        if not isinstance(module, ast.Name) or view.qualified(module) != view.settings.source:
            continue
        if _is_replaced(view, module, planned.edits):
            continue
        name = str(attribute.value) if isinstance(attribute, ast.Constant) else ""
        api = f"{view.settings.source}.{name}" if name else f"an API of {view.settings.source}"
        text = view.text(call)
        findings.append(refused(NoSuchUse(text, text.replace(view.text(module), view.target, 1)), call, api))
    return Changes(findings=tuple(findings))


_PROBES = frozenset({"getattr", "setattr", "delattr"})
"""``hasattr`` is converted by ``plan_probes``."""
