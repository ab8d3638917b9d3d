"""The page on the table format has every key that the tables may use, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from paddletorch_rules import TableError, load

PAGE = (Path(__file__).parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")
_SHORT = {"method", "method_example", "method_paddle_example", "in_place", "in_place_example"}
"""Keys of short rows only: they are gone when a row's keys are checked."""


def _keys(section: str) -> set[str]:
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in text.splitlines() if line.startswith("| `")]
    return {key for name, meaning in rows for key in (*re.findall(r"`(\w+)`", name), *_SHORT_IN.findall(meaning))}


_SHORT_IN = re.compile(r"`((?:method|in_place)_\w+)`")


@pytest.mark.parametrize(
    ("section", "entry", "read"),
    [
        ("Row", "[[row]]\nid = 'f'\nwrong = 1\n", _SHORT),
        ("Form", "[[row]]\nid = 'f'\ncode = 'XXX101'\ntitle = 'f'\n[[row.torch]]\nwrong = 1\n", set()),
        (
            "Parameter",
            "[[row]]\nid = 'f'\ncode = 'XXX101'\ntitle = 'f'\nparameters = [{ wrong = 1 }]\n"
            "torch = [{ names = ['torch.f'] }]\n",
            set(),
        ),
        ("Alias", "[[alias]]\nof = 'torch.a'\nat = 'torch.b'\nwrong = 1\n", set()),
        ("Value map", "[[values]]\nname = 'v'\nwrong = 1\n", set()),
        ("Type", "[[type]]\nname = 't'\nwrong = 1\n", set()),
        ("Diagnostic and area", "[[diagnostic]]\ncode = 'XXX201'\nwrong = 1\n", set()),
    ],
)
def test_keys(section: str, entry: str, read: set[str], tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    table.write_text(entry)
    with pytest.raises(TableError) as raised:
        load((str(table),))
    assert "wrong" in str(raised.value)
    known = set(re.findall(r"\w+", str(raised.value).rpartition("known are ")[2]))
    assert _keys(section) - read == known
