"""Starred arguments that become elements of a list: ``f(*a or b)`` is right, and ``[*(a or b)]`` has brackets."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch.model import Span
from paddletorch.plan.syntax.precedence import precedence_of, required_precedence
from paddletorch.text.source import Source


def spans_to_bracket(source: Source, arguments: Iterable[ast.expr]) -> list[Span]:
    """The values behind stars that have no brackets and need some where the arguments stand in a list."""
    found = []
    for node in arguments:
        if not isinstance(node, ast.Starred) or precedence_of(node.value) >= required_precedence(node, node.value):
            continue
        value = source.span(node.value)
        if "(" not in source.slice(Span(source.span(node).start, value.start)):
            found.append(value)
    return found
