"""Where the comments of a file stand."""

from __future__ import annotations

import io
import tokenize

from paddletorch.model import Span
from paddletorch.plan.model.view import FileView


def comment_spans(view: FileView) -> list[Span]:
    """The comments of the file, in order; none if its tokens cannot be read."""
    return comments_between(view, 1)


def comments_between(view: FileView, first: int, end: int | None = None) -> list[Span]:
    """The comments from one line on, before the line ``end``; none if the tokens cannot be read."""
    found: list[Span] = []
    source = view.source
    last = source.line_span(end).start if end is not None else len(source.body)
    text = source.slice(Span(source.line_span(first).start, last))
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                row, column = first + token.start[0] - 1, token.start[1]
                before = source.slice(source.line_span(row))[:column]
                start = source.offset(row, len(before.encode("utf-8")))
                found.append(Span(start, start + len(token.string.encode("utf-8"))))
    except (tokenize.TokenError, SyntaxError, IndexError):
        return []
    return found
