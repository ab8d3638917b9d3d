"""The page on the table format has every key that the tables may use, and no other."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from paddletorch_rules import TableError, adapters, load
from paddletorch_rules.adapters import Adapter

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

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


def test_keys_of_adapters() -> None:
    """The entries of adapters are read as they stand: no key is unknown to the record or to the page."""
    known = set(Adapter._fields)
    assert _keys("Adapter") == known
    for path in Path(adapters.__file__).parent.glob("*.toml"):
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        assert {key for entry in tables.get("adapter", ()) for key in entry} <= known
        assert {key for entry in tables.get("function", ()) for key in entry} <= known | {"reads"}
        assert all({"name", "text"} <= set(entry) for entry in tables.get("function", ()))
