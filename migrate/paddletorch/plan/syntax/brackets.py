"""Brackets around an expression, which its syntax node does not hold."""

from __future__ import annotations

import re

from paddletorch.model import Span
from paddletorch.text.source import Source

_CLOSING = re.compile(rb"(?:\s|\\|#[^\r\n]*)*\)")


def with_brackets(source: Source, span: Span, start: int) -> Span:
    """``span`` with all brackets that open between ``start``, where the syntax before it ends, and its first byte."""
    opening = source.body.find(b"(", start, span.start)
    end = span.end
    for _ in range(source.body.count(b"(", start, span.start)):
        closing = _CLOSING.match(source.body, end)
        if closing is None:  # the bracket stood in a comment
            break
        end = closing.end()
    return Span(span.start if opening < 0 else opening, end)
