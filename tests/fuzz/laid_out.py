"""The same program laid out in another way: brackets around every expression, a comment between any two tokens."""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from collections.abc import Iterator


def in_brackets(text: str) -> str:
    """``text`` with brackets around each expression that is read, ``(f)((x), y=(z))``."""
    tree = ast.parse(text)
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    places: list[tuple[int, int, int, bytes]] = []
    barred = set(_without_brackets(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and node not in barred and isinstance(getattr(node, "ctx", _READ), ast.Load):
            start, end = starts[node.lineno - 1] + node.col_offset, starts[_line(node) - 1] + _column(node)
            # at one place what ends comes first, the shortest before the rest, and what begins last, the longest first
            places += [(start, 0, start - end, b"("), (end, -1, end - start, b")")]
    return _inserted(text.encode(), [(at, bracket) for at, _, _, bracket in sorted(places)]).decode()


def commented(text: str) -> str:
    """``text`` with a comment and a line break between any two tokens inside of brackets."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    depth = strings = 0
    places: list[tuple[int, bytes]] = []
    for token, after in itertools.pairwise(tokens):
        name = tokenize.tok_name[token.type]
        strings += name.endswith("STRING_START")
        strings -= name.endswith("STRING_END")
        if token.type == tokenize.OP and not strings:
            depth += (token.string in "([{") - (token.string in ")]}")
        if depth and not strings and token.end[0] == after.start[0] and not {token.type, after.type} & _LAYOUT:
            places.append((len(text[: starts[token.end[0] - 1] + token.end[1]].encode()), b"  # c\n   "))
    return _inserted(text.encode(), places).decode()


_READ = ast.Load()
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def _without_brackets(tree: ast.Module) -> Iterator[ast.AST]:
    """What cannot stand in brackets, or means something else there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield from (inner for inner in ast.walk(node) if inner is not node)
        elif isinstance(node, ast.match_case):
            yield from ast.walk(node.pattern)
        elif isinstance(node, ast.With):
            yield from (item.context_expr for item in node.items)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
            yield from ast.walk(node.target)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice | ast.Tuple):
            yield node.slice
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif isinstance(node, ast.GeneratorExp | ast.Starred | ast.Slice):
            yield node


def _line(node: ast.expr) -> int:
    assert node.end_lineno is not None
    return node.end_lineno


def _column(node: ast.expr) -> int:
    assert node.end_col_offset is not None
    return node.end_col_offset


def _inserted(data: bytes, places: list[tuple[int, bytes]]) -> bytes:
    pieces, position = [], 0
    for at, text in places:
        pieces += [data[position:at], text]
        position = at
    return b"".join([*pieces, data[position:]])
