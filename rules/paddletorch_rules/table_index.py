"""Where the tables have which name: rows by number, as plain values, so that a run makes those that it asks for."""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from typing import Any, TypedDict

from paddletorch_rules import aliases, compiled
from paddletorch_rules.plain import plain
from paddletorch_rules.releases import Framework, other_framework
from paddletorch_rules.schema import RawTables, Row

Places = tuple[tuple[int, int], ...]
"""Numbers of rows, each with that of one of its spellings."""


class Index(TypedDict):
    """What can be asked of all rows; by side where a name belongs to one."""

    ids: dict[str, int]
    codes: tuple[str, ...]
    directions: tuple[str | None, ...]
    names: dict[str, dict[str, Places]]
    prefixes: dict[str, tuple[tuple[str, int, int], ...]]
    members: dict[str, dict[str, Places]]
    absent: dict[str, dict[str, dict[str, int]]]
    distinctive: dict[str, dict[str, str | None]]


class CompiledTables(TypedDict):
    """The tables as plain values."""

    rows: tuple[bytes, ...]
    """Each as ``marshal`` writes it: it is read when it is asked for."""
    values: dict[str, Any]
    diagnostics: dict[str, Any]
    types: dict[str, Any]
    areas: dict[str, Any]
    aliases: tuple[Any, ...]
    alias_index: aliases.Index
    index: Index


def compile_tables(raw: RawTables) -> CompiledTables:
    """The tables with their index, as plain values."""
    return {
        "rows": tuple(marshal.dumps(plain(row), compiled.MARSHAL) for row in raw.rows),
        "values": plain(raw.values),
        "diagnostics": plain(raw.diagnostics),
        "types": plain(raw.types),
        "areas": plain(raw.areas),
        "aliases": plain(raw.aliases),
        "alias_index": plain(aliases.index_of(raw.aliases)),
        "index": _index(raw.rows),
    }


def _index(rows: Sequence[Row]) -> Index:
    index = Index(
        ids={},
        codes=tuple(row.code for row in rows),
        directions=tuple(row.direction for row in rows),
        names={"torch": {}, "paddle": {}},
        prefixes={"torch": (), "paddle": ()},
        members={"torch": {}, "paddle": {}},
        absent={"torch": {}, "paddle": {}},
        distinctive={"torch": {}, "paddle": {}},
    )
    for number, row in enumerate(rows):
        index["ids"].setdefault(row.id, number)
        for side in ("torch", "paddle"):
            _add(index, rows, number, side)
        if row.kind == "method" and (row.receiver == "tensor" or (row.receiver == "module" and row.instance)):
            for known in row.distinctive:
                names = (name for form in row.forms(known) for name in form.names)
                index["distinctive"][known].update((name, row.instance) for name in names)
    return index


def _add(index: Index, rows: Sequence[Row], number: int, side: Framework) -> None:
    row = rows[number]
    if not row.serves(other_framework(side)):
        return
    for position, form in enumerate(row.forms(side)):
        place = number, position
        for name in form.names:
            if row.receiver is not None:
                of_name = index["members"][side]
                of_name[name] = (*of_name.get(name, ()), place)
            elif name.endswith(".*"):
                index["prefixes"][side] += ((name[:-1], *place),)
            else:
                owner, _, last = name.rpartition(".")
                if row.kind == "unsupported" and owner.rpartition(".")[2][:1].isupper():
                    index["absent"][side].setdefault(last, {})[owner] = number
                found = index["names"][side].get(name, ())
                if not found or rows[found[0][0]].file == row.file:  # overloads stand in one file; overlays replace
                    index["names"][side][name] = (*found, place)
