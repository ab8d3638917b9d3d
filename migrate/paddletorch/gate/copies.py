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
    """A violation for each conversion inside of another edit whose old name new text of the statement holds."""
    found = list(_copies(text))
    converted = {text.source.span_of(one) for one in conversions} if found else ()
    return [violation for span, violation in found if span in converted]


def _copies(text: ConvertedText) -> Iterator[tuple[Span, Violation]]:
    written: dict[Span, frozenset[str]] = {}
    for outer in text.edits:
        inside = text.edits_in(outer.span) if outer.span.end > outer.span.start else []
        old = {one.span: name for one in inside if one.span != outer.span and (name := _dotted(text, one))}
        if not old:
            continue
        lines = text.lines_of(outer.span)
        whole = Span(text.source.line_span(min(lines)).start, text.source.line_span(max(lines)).end)
        if whole not in written:
            written[whole] = frozenset().union(*(_names(edit.written) for edit in text.edits_in(whole)))
        for span, name in old.items():
            if name in written[whole]:
                yield span, Violation(CODE, f"'{name}' would be repeated as it is", lines)


def _dotted(text: ConvertedText, edit: Edit) -> str:
    """The dotted name that an edit replaces by something without it; empty for others."""
    old = re.sub(r"\s", "", _without_brackets(text.source.slice(edit.span)))
    return old if _DOTTED.fullmatch(old) and old not in _names(edit.written) else ""


@lru_cache(maxsize=256)
def _names(written: str) -> frozenset[str]:
    """The dotted names in new text, and what stands before each dot of them."""
    code = _without_brackets(_DOCSTRINGS.sub("", written))
    chains = (re.sub(r"\s", "", name).split(".") for name in _DOTTED.findall(code))
    return frozenset(".".join(parts[:end]) for parts in chains for end in range(2, len(parts) + 1))


def _without_brackets(code: str) -> str:
    """The code with no brackets around names alone, and without comments: ``a.b`` for ``(a).b``."""
    code, found = _LAYOUT.sub(" ", code), 1
    while found:
        code, found = _BRACKETED.subn(r"\1", code)
    return code


_LAYOUT = re.compile(r"#[^\r\n]*|\\(?=[\r\n])")
_BRACKETED = re.compile(r"(?<![\w)\]])\(\s*([^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*)\s*\)")
_DOTTED = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)+")
_DOCSTRINGS = re.compile(r'"""(?:.|\n)*?"""')
"""A class that is written above the statement says in its docstring what it stands for."""
