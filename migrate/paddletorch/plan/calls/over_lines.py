"""Gives each argument of a written call a line of its own, where the call would make a line too long."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from paddletorch.model import Span
from paddletorch.plan.model.view import FileView
from paddletorch.text.source import WIDTH

_CALLEE = re.compile(r"[\w.]+\(")
_TOKEN = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|[([{]|[)\]}]|, ?|\b(?:lambda|for)\b|:")
"""What counts in a template's text: strings, brackets, commas, comprehensions, and the parameters of a lambda."""


def over_lines(view: FileView, node: ast.expr, parts: Sequence[str | Span]) -> list[str | Span]:
    """The parts of the text that takes the place of ``node``, broken after the commas of the call that they write.

    Only a call of several arguments is broken, and only where a line has more than ``WIDTH`` characters. Of one that
    takes a generator without brackets, the commas are those of its loop.
    """
    first = parts[0] if parts else ""
    callee = _CALLEE.match(first) if isinstance(first, str) else None
    if callee is None or view.in_string(node) or not _is_too_long(view, node, parts):
        return list(parts)
    source = view.source
    indentation = source.indentation(source.position(source.span(node).start)[0])
    outer = source.newline + indentation
    inner = outer + ("\t" if "\t" in indentation else " " * source.indent)
    pieces = [*_pieces(parts, callee.end() - 1)]
    own = {text.strip() for text, depth in pieces if isinstance(text, str) and depth == 1}
    if "," not in own or "for" in own:
        return list(parts)
    found: list[str | Span] = []
    is_open = True
    for text, depth in pieces:
        if not isinstance(text, str) or not is_open or depth != 1:
            found.append(text)
        elif text == "(":
            found.append(text + inner)
        elif text == ")":
            found.append(f",{outer})")
            is_open = False
        else:
            found.append(f",{inner}" if text.startswith(",") else text)
    return [*_joined(found)]


def _joined(parts: Sequence[str | Span]) -> Iterator[str | Span]:
    """The parts with neighbouring text in one: names of written functions are looked for in each."""
    for is_text, group in groupby(parts, key=lambda part: isinstance(part, str)):
        if is_text:
            yield "".join(part for part in group if isinstance(part, str))
        else:
            yield from group


def _pieces(parts: Sequence[str | Span], start: int) -> Iterator[tuple[str | Span, int]]:
    """The parts, text cut at brackets and commas, each with how many brackets are open: those of the call count 1."""
    depth, lambdas = 0, 0
    for number, part in enumerate(parts):
        if isinstance(part, Span):
            yield part, -1
            continue
        position = 0
        for token in _TOKEN.finditer(part, start if number == 0 else 0):
            if token.start() > position:
                yield part[position : token.start()], -1
            position = token.end()
            depth += token[0] in "([{"
            if depth == 1:
                lambdas += (token[0] == "lambda") - (token[0] == ":" and lambdas > 0)
            is_break = token[0][0] in "([{)]}" or token[0] == "for" or (token[0][0] == "," and not lambdas)
            yield token[0], depth if is_break else -1
            depth -= token[0] in ")]}"
        if position < len(part):
            yield part[position:], -1


def _is_too_long(view: FileView, node: ast.expr, parts: Sequence[str | Span]) -> bool:
    """Whether the call makes a line of more than ``WIDTH`` characters; edits inside of arguments do not count.

    Within another expression only what the call itself needs counts: what stands beside it may go elsewhere.
    """
    source, span = view.source, view.source.span(node)
    text = "".join(part if isinstance(part, str) else source.slice(part) for part in parts)
    line, column = source.position(span.start)
    before, after = len(source.indentation(line)), 0
    if _begins_value(view, node):
        end = source.line_span(source.position(span.end)[0]).end
        before, after = column - 1, len(source.slice(Span(span.end, end)).partition("#")[0].rstrip())
    first, *others = text.splitlines() or [""]
    lengths = [before + len(first), *map(len, others)]
    lengths[-1] += after
    return max(lengths) > WIDTH


def _begins_value(view: FileView, node: ast.expr) -> bool:
    """Whether the call is the value of a statement, or what that value reads members of."""
    current: ast.AST = node
    parent = view.parent(current)
    while isinstance(parent, ast.Attribute | ast.Subscript | ast.Call):
        inner = parent.func if isinstance(parent, ast.Call) else parent.value
        if inner is not current:
            return False
        current, parent = parent, view.parent(parent)
    return isinstance(parent, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr)
