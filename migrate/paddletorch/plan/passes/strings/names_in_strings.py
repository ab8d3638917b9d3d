"""APIs that are named by strings: patched, imported, registered, or asked for with ``getattr(torch, name)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch.model import Edit
from paddletorch.plan.model.outcome import target_name
from paddletorch.plan.model.view import FileView


def report_strings(view: FileView, edits: Sequence[Edit]) -> None:
    """Report each such string that stays as it is."""
    for node in sorted(view.tree.strings, key=lambda n: (n.lineno, n.col_offset)):
        if node in view.tree.quoted or isinstance(view.parent(node), ast.Expr):
            continue
        assert isinstance(node.value, str)
        if "." not in node.value or not node.value.startswith((view.settings.source + ".", "apex.")):
            continue
        found = view.settings.lookup(node.value)
        if _is_replaced(view, node, edits):
            continue
        if found is not None and found[0].kind != "module":
            row = found[0]
            view.report("API206", node, node.value, row, replacement=target_name(row, view) or "the counterpart")


def _is_replaced(view: FileView, node: ast.expr, edits: Sequence[Edit]) -> bool:
    span = view.source.span(node)
    return any(e.span.holds(span) and span not in e.parts for e in edits)


def report_probes(view: FileView, edits: Sequence[Edit]) -> None:
    """Report ``getattr(torch, name)``: the framework itself is asked for something by name."""
    for call in view.tree.calls:
        if not isinstance(call.func, ast.Name) or call.func.id not in _PROBES or len(call.args) < 2:
            continue
        if not isinstance(call.args[0], ast.Name):
            continue
        if view.qualified(call.args[0]) == view.settings.source and not _is_replaced(view, call.args[0], edits):
            name, replacement = view.text(call.args[0]), view.text(call)
            asked = str(call.args[1].value) if isinstance(call.args[1], ast.Constant) else ""
            api = f"{view.settings.source}.{asked}" if asked else f"an API of {view.settings.source}"
            replacement = replacement.replace(name, view.target, 1)
            view.report("API205", call, api, None, what=view.text(call), replacement=replacement)


_PROBES = frozenset({"getattr", "setattr", "delattr"})
"""``hasattr`` is answered elsewhere."""
