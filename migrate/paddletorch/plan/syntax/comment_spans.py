"""Where the comments of a file stand."""

from __future__ import annotations

import io
import tokenize

from paddletorch.model import Span
from paddletorch.plan.model.view import FileView


def comment_spans(view: FileView) -> list[Span]:
    """The comments of the file, in order; none if its tokens cannot be read."""
    found: list[Span] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(view.source.text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                before = view.source.slice(view.source.line_span(row))[:column]
                start = view.source.offset(row, len(before.encode("utf-8")))
                found.append(Span(start, start + len(token.string.encode("utf-8"))))
    except (tokenize.TokenError, SyntaxError, IndexError):
        return []
    return found
