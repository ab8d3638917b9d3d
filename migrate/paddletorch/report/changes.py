"""The lines of a file, and where two versions of it differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import AnyStr, Literal

from paddletorch.text.source import Source, Undecodable

Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]
"""``(tag, start, end, new start, new end)`` in lines, as SequenceMatcher has it."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_WINDOW = 64  # lines to look ahead for where two files agree again; doubled as long as they do not


def text_lines(data: bytes) -> list[str]:
    """The lines of a Python file with their ends, as Python counts them: ``\\n``, ``\\r\\n`` or ``\\r`` ends one.

    Bytes that do not fit the file's encoding become U+FFFD.
    """
    try:
        text = Source(data).text
    except Undecodable:
        text = data.decode("utf-8", "replace")
    return _LINE.findall(text)


def opcodes(old: Sequence[AnyStr], new: Sequence[AnyStr]) -> Iterator[Opcode]:
    """What SequenceMatcher says, asked only about the lines around each change.

    Over whole files it takes minutes on 100,000 similar lines, or with ``autojunk`` finds nothing equal.
    """
    i = j = 0
    while i < len(old) or j < len(new):
        i1, j1 = i, j
        while i < len(old) and j < len(new) and old[i] == new[j]:
            i, j = i + 1, j + 1
        if i > i1:
            yield "equal", i1, i, j1, j
            continue
        window = _WINDOW
        while True:
            found = SequenceMatcher(None, old[i : i + window], new[j : j + window], autojunk=False).get_opcodes()
            if len(found) > 1 or (i + window >= len(old) and j + window >= len(new)):
                break
            window *= 2
        tag, _, i2, _, j2 = found[0]  # a change, since the first lines differ; the rest is looked at anew
        yield tag, i, i + i2, j, j + j2
        i, j = i + i2, j + j2
