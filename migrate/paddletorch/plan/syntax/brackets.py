"""Brackets around an expression, which its syntax node does not hold."""

from __future__ import annotations

import ast
import re

from paddletorch.model import Span
from paddletorch.text.source import Source

_OPENING = re.compile(rb"#[^\r\n]*|(\()")
_CLOSING = re.compile(rb"(?:\s|\\|#[^\r\n]*)*\)")


def first_part(source: Source, part: ast.expr, whole: ast.expr) -> Span:
    """The expression with which ``whole`` begins, such as the object before a dot, with the brackets around it."""
    return with_brackets(source, source.span(part), source.span(whole).start)


def with_brackets(source: Source, span: Span, start: int) -> Span:
    """``span`` with all brackets around it that open behind ``start``, where the syntax before it ends."""
    found = span
    openings = [m.start() for m in _OPENING.finditer(source.body, start, span.start) if m[1]]
    for opening in reversed(openings):
        closing = _CLOSING.match(source.body, found.end)
        if closing is None:  # brackets around more than this expression, those of a tuple
            break
        found = Span(opening, closing.end())
    return found


def in_own_brackets(source: Source, span: Span) -> Span | None:
    """``span`` of an operator's operand with the brackets that stand right beside it; None without brackets."""
    around = source.body.endswith(b"(", 0, span.start) and source.body.startswith(b")", span.end)
    return Span(span.start - 1, span.end + 1) if around else None
