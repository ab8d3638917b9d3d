"""Promise: new text repeats no code of the file that is converted where it stands.

A hook may write the text of an argument into its template. An edit inside that argument does not reach the copy, which
would still ask the source framework, or members that only its objects have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from paddletorch.gate.converted_text import ConvertedText
from paddletorch.gate.violation import Violation
from paddletorch.model import Conversion, Edit, Span

CODE = "SRC021"


def unconverted_copies(text: ConvertedText, conversions: Sequence[Conversion]) -> list[Violation]:
    """A violation for each conversion inside of another edit whose old code new text of the statement holds."""
    found = [one for outer in text.edits if outer.span.end > outer.span.start for one in _copies(text, outer)]
    converted = {text.source.span_of(one) for one in conversions} if found else ()
    return [violation for span, violation in found if span in converted]


def _copies(text: ConvertedText, outer: Edit) -> Iterator[tuple[Span, Violation]]:
    for inner in text.edits_in(outer.span):
        old = text.source.body[inner.span.start : inner.span.end].decode("utf-8")
        if "." not in old or inner.span == outer.span or _is_in(old, inner.written):
            continue
        lines = text.lines_of(outer.span)
        start, end = text.source.line_span(min(lines)).start, text.source.line_span(max(lines)).end
        if any(_is_in(old, edit.written) for edit in text.edits_in(Span(start, end))):
            yield inner.span, Violation(CODE, f"'{old}' would be repeated as it is", lines)


def _is_in(old: str, written: str) -> bool:
    """Whether new text holds the code, however it is spaced and quoted."""
    return re.search(rf"(?<![\w.]){re.escape(_plain(old))}(?!\w)", _plain(written)) is not None


@lru_cache(maxsize=256)
def _plain(code: str) -> str:
    return re.sub(r"\s+", "", code).replace('"', "'")
