"""Strings whose whole text is an API's dotted name: patched, imported or registered by name."""

from __future__ import annotations

import ast

from paddletorch.plan.calls import target_name
from paddletorch.plan.context import FileContext


def report_strings(context: FileContext) -> None:
    """Report each such string; its text stays."""
    for node in sorted(context.tree.strings, key=lambda n: (n.lineno, n.col_offset)):
        if node in context.tree.quoted or isinstance(context.parent(node), ast.Expr):
            continue
        assert isinstance(node.value, str)
        if "." not in node.value or not node.value.startswith((context.settings.source + ".", "apex.")):
            continue
        found = context.settings.lookup(node.value)
        if found is not None and found[0].kind != "module":
            row = found[0]
            context.report("API206", node, node.value, row, replacement=target_name(row, context) or "the counterpart")
