"""Strings whose whole text is an API's dotted name: patched, imported or registered by name."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch.model import Edit
from paddletorch.plan.context import FileContext
from paddletorch.plan.outcome import target_name


def report_strings(context: FileContext, edits: Sequence[Edit]) -> None:
    """Report each such string that stays as it is."""
    for node in sorted(context.tree.strings, key=lambda n: (n.lineno, n.col_offset)):
        if node in context.tree.quoted or isinstance(context.parent(node), ast.Expr):
            continue
        assert isinstance(node.value, str)
        if "." not in node.value or not node.value.startswith((context.settings.source + ".", "apex.")):
            continue
        found = context.settings.lookup(node.value)
        span = context.source.span(node)
        if any(e.span.start <= span.start and span.end <= e.span.end and span not in e.parts for e in edits):
            continue
        if found is not None and found[0].kind != "module":
            row = found[0]
            context.report("API206", node, node.value, row, replacement=target_name(row, context) or "the counterpart")
