"""Edits given to the gate without a planner: each names a text of the file and what takes its place."""

from __future__ import annotations

import ast
import textwrap

from paddletorch.gate.converted_text import ConvertedText
from paddletorch.gate.gate import violations
from paddletorch.gate.violation import Violation
from paddletorch.model import Edit, Span
from paddletorch.resolve import Parsed
from paddletorch.text.source import Source


def converted(code: str | bytes, *replaced: tuple[str, str]) -> ConvertedText:
    """What replacing each first text by the second makes of ``code``; an empty one stands for the file's beginning."""
    data = code if isinstance(code, bytes) else textwrap.dedent(code).encode()
    source = Source(data, encoding=None if isinstance(code, bytes) else "utf-8")
    edits = []
    for old, new in replaced:
        start = source.body.index(old.encode())
        edits.append(Edit(Span(start, start + len(old.encode())), new))
    parsed = Parsed.of(source, ast.parse(source.text))
    return ConvertedText(source, parsed.module, parsed.tree, tuple(edits))


def found(code: str | bytes, *replaced: tuple[str, str]) -> list[Violation]:
    """What the gate says of it, on the way from torch to Paddle."""
    return violations(converted(code, *replaced), "torch", "paddle")


def said(code: str | bytes, *replaced: tuple[str, str]) -> list[tuple[str, str, set[int]]]:
    """The same as code, problem and lines."""
    return [(one.code, one.problem, set(one.lines)) for one in found(code, *replaced)]
