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
_TOKEN = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|[([{]|[)\]}]|, ?")
"""What counts in a template's text: strings, brackets and commas."""


def over_lines(view: FileView, node: ast.expr, parts: Sequence[str | Span]) -> list[str | Span]:
    """The parts of the text that takes the place of ``node``, broken after the commas of the call that they write.

    Only a call of several arguments is broken, and only where a line has more than ``WIDTH`` characters.
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
    if not any(depth == 1 and text.startswith(",") for text, depth in pieces if isinstance(text, str)):
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
    depth = 0
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
            yield token[0], depth if token[0][0] in "([{)]}," else -1
            depth -= token[0] in ")]}"
        if position < len(part):
            yield part[position:], -1


def _is_too_long(view: FileView, node: ast.expr, parts: Sequence[str | Span]) -> bool:
    """Whether a line of the statement gets more than ``WIDTH`` characters; edits inside of arguments do not count."""
    source, span = view.source, view.source.span(node)
    text = "".join(part if isinstance(part, str) else source.slice(part) for part in parts)
    before = source.position(span.start)[1] - 1
    after = source.slice(Span(span.end, source.line_span(source.position(span.end)[0]).end)).partition("#")[0].rstrip()
    first, *others = text.splitlines() or [""]
    lines = [" " * before + first, *others]
    lines[-1] += after
    return max(map(len, lines)) > WIDTH
