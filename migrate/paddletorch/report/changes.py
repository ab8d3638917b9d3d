"""Where two versions of a file differ, in lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import AnyStr, Literal

Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]
"""``(tag, start, end, new start, new end)`` in lines, as SequenceMatcher has it."""

_WINDOW = 64  # lines to look ahead for where two files agree again; doubled as long as they do not


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
