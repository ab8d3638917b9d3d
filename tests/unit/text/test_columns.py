"""Columns of long lines are found as those of short ones, and not by reading the line anew for each."""

from __future__ import annotations

import random
from typing import Any

import pytest
from paddletorch.text.columns import Columns
from paddletorch.text.source import Source

LETTERS = "ab é ü 漢 😀 \u0301 x"


def line_of(length: int, letters: str) -> str:
    chance = random.Random(length)
    return "".join(chance.choice(letters) for _ in range(length))


@pytest.mark.parametrize("letters", ["abc ", LETTERS, "😀漢"])
@pytest.mark.parametrize("length", [0, 1, 255, 256, 257, 1023, 1024, 1025, 5000])
def test_columns_of_a_long_line(length: int, letters: str) -> None:
    text = "# é\n# " + line_of(length, letters) + "\nx = 1\n"
    source = Source(text.encode())
    start, line = 5, text.split("\n")[1]  # the first line has four characters and five bytes
    for column in {*range(1, min(len(line), 40)), *range(1, len(line) + 2, 97), len(line) + 1}:
        offset = start + len(line[: column - 1].encode())
        assert source.position(offset) == (2, column)
        assert source.offset_of(2, column) == offset


@pytest.mark.parametrize("letters", ["a", "é"])
def test_a_place_of_a_long_line_takes_no_look_at_all_of_it(letters: str) -> None:
    read: list[int] = []

    class Text(bytes):
        def __getitem__(self, key: Any) -> Any:
            found = super().__getitem__(key)
            read.append(len(found) if isinstance(key, slice) else 1)
            return found

    columns = Columns(Text(f"# {letters * 400_000}\n".encode()))
    columns.count(0, 400_000)
    read.clear()
    for place in range(0, 400_000, 4000):
        assert columns.offset(0, columns.count(0, place)) == place
    assert max(read) <= 4096
