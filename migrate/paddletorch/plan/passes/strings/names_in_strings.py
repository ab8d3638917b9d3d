"""APIs that are named by strings: patched, imported, registered, or asked for with ``getattr(torch, name)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch.model import Edit
from paddletorch.plan.model.context import FileContext
from paddletorch.plan.model.outcome import target_name


def report_strings(context: FileContext, edits: Sequence[Edit]) -> None:
    """Report each such string that stays as it is."""
    for node in sorted(context.tree.strings, key=lambda n: (n.lineno, n.col_offset)):
        if node in context.tree.quoted or isinstance(context.parent(node), ast.Expr):
            continue
        assert isinstance(node.value, str)
        if "." not in node.value or not node.value.startswith((context.settings.source + ".", "apex.")):
            continue
        found = context.settings.lookup(node.value)
        if _is_replaced(context, node, edits):
            continue
        if found is not None and found[0].kind != "module":
            row = found[0]
            context.report("API206", node, node.value, row, replacement=target_name(row, context) or "the counterpart")


def _is_replaced(context: FileContext, node: ast.expr, edits: Sequence[Edit]) -> bool:
    span = context.source.span(node)
    return any(e.span.holds(span) and span not in e.parts for e in edits)


def report_probes(context: FileContext, edits: Sequence[Edit]) -> None:
    """Report ``getattr(torch, name)``: the framework itself is asked for something by name."""
    for call in context.tree.calls:
        if not isinstance(call.func, ast.Name) or call.func.id not in _PROBES or len(call.args) < 2:
            continue
        if not isinstance(call.args[0], ast.Name):
            continue
        if context.qualified(call.args[0]) == context.settings.source and not _is_replaced(
            context, call.args[0], edits
        ):
            name, replacement = context.text(call.args[0]), context.text(call)
            asked = str(call.args[1].value) if isinstance(call.args[1], ast.Constant) else ""
            api = f"{context.settings.source}.{asked}" if asked else f"an API of {context.settings.source}"
            replacement = replacement.replace(name, context.target, 1)
            context.report("API205", call, api, None, what=context.text(call), replacement=replacement)


_PROBES = frozenset({"getattr", "setattr", "delattr"})
"""``hasattr`` is answered elsewhere."""
