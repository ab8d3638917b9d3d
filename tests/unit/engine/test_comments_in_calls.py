"""A comment in any gap of any call of a fixture stays, and does not keep the call from converting."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from paddletorch.text.call_spans import ArgumentSpan, CallLayout, LayoutError, read_layout
from paddletorch.text.source import Source

from ...fixture_files import FIXTURES, Fixture

GAPS: dict[str, Callable[[CallLayout, ArgumentSpan], int | None]] = {
    "before an argument": lambda call, argument: argument.whole.start,
    "before a value": lambda call, argument: argument.value.start if argument.keyword else None,
    "before a comma": lambda call, argument: argument.whole.end,
    "after a comma": lambda call, argument: argument.comma_end,
}


def calls(source: Source) -> Iterator[CallLayout]:
    """The layout of every call outside of f-strings."""
    module = ast.parse(source.text)
    strings = {n for s in ast.walk(module) if isinstance(s, ast.JoinedStr) for n in ast.walk(s)}
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and node not in strings:
            try:
                yield read_layout(source, node)
            except LayoutError:
                continue


EVERY = "every gap"


def commented(source: Source, gap: str) -> bytes:
    """The file with a comment, and the end of its line, in every such gap of every call."""
    chosen = GAPS.values() if gap == EVERY else [GAPS[gap]]
    places = {place(call, argument) for call in calls(source) for argument in call.arguments for place in chosen}
    body = source.body
    for number, position in enumerate(sorted((p for p in places if p is not None), reverse=True)):
        body = body[:position] + f"\n# gap {number}\n".encode() + body[position:]
    return source.encode(body)


def comments(data: bytes) -> list[str]:
    """Every comment, in order."""
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    return [token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT]


def cases() -> Iterator[Any]:
    """Each fixture with comments in all gaps or, every other one, in one of them in turn; the rest in a long run."""
    chosen = [one for one in FIXTURES if one.name.startswith("to_") and any(calls(Source(one.source)))]
    for number, fixture in enumerate(chosen):
        turn = number // 2 % len(GAPS) if number % 2 else len(GAPS)
        for place, gap in enumerate([*GAPS, EVERY]):
            marks = [] if place == turn else [pytest.mark.long]
            yield pytest.param(fixture, gap, id=f"{fixture.id}-{gap}", marks=marks)


@pytest.mark.parametrize(("fixture", "gap"), list(cases()))
def test_comments_stay(fixture: Fixture, gap: str) -> None:
    data = commented(Source(fixture.source), gap)
    result = fixture.convert(data)
    assert {d.code for d in result.diagnostics if d.code.startswith("SRC")} <= set(fixture.codes)
    left = comments(result.output)
    for comment in comments(data):
        assert comment in left
        left.remove(comment)
    assert fixture.convert(result.output).output == result.output
