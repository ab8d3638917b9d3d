"""Code inside f-strings: whether its position is right, and which quotes generated code may use there."""

from __future__ import annotations

import ast
import io
import tokenize

from paddletorch.text.source import Source

_STARTS = frozenset({tokenize.STRING, getattr(tokenize, "FSTRING_START", tokenize.STRING)})


def enclosing_fstrings(parents: dict[ast.AST, ast.AST], node: ast.AST) -> list[ast.JoinedStr]:
    """The f-strings around ``node``, the innermost first. A format specification counts as its own f-string."""
    found: list[ast.JoinedStr] = []
    current: ast.AST | None = node
    while current is not None and not isinstance(current, ast.stmt):
        if isinstance(current, ast.JoinedStr):
            found.append(current)
        current = parents.get(current)
    return found


def is_located(source: Source, node: ast.expr) -> bool:
    """Whether the node's position is right: before Python 3.12 it may be wrong inside f-strings."""
    try:
        text = source.slice(source.span(node))
        return ast.dump(ast.parse(f"({text})", mode="eval").body) == ast.dump(node)
    except (SyntaxError, ValueError, IndexError):
        return False


def free_quote(source: Source, fstring: ast.JoinedStr, node: ast.expr) -> str | None:
    """A quote that code at ``node`` may use on every Python; None if the f-string uses both."""
    span, inner = source.span(fstring), source.span(node)
    used: set[str] = set()
    text = f"({source.slice(span)})"
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    position = len(source.body[span.start : inner.start].decode("utf-8")) + 1
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            start = starts[token.start[0] - 1] + token.start[1]
            if token.type in _STARTS and start <= position:
                end = starts[token.end[0] - 1] + token.end[1]
                if token.type != tokenize.STRING or position < end:
                    used.add(token.string.lstrip("rRbBfFuUtT")[:1])
    except (tokenize.TokenError, SyntaxError):
        return None
    return next((quote for quote in ("'", '"') if quote not in used), None)
