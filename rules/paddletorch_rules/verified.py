"""The record of executed proofs: which rows were verified, in which directions, on which releases.

``verified.json`` is written by ``paddletorch rules check --execute --record``. A row that changed since then, or whose
hook did, does not count as verified: its digest differs.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddletorch_rules.hook_sources import source_of
from paddletorch_rules.releases import Framework
from paddletorch_rules.schema import Row
from paddletorch_rules.table import Table

RECORD = Path(__file__).with_name("verified.json")
_NOT_PROVEN = frozenset(["title", "file", "docs", "bare", "tokens", "whole", "unchecked", "remark"])


@dataclass(frozen=True, slots=True)
class RecordedProof:
    """A recorded proof of one row: its digest then, the targets that were proven, the releases that ran it."""

    digest: str
    directions: tuple[Framework, ...]
    torch: str
    paddle: str


class Record:
    """The recorded proofs, held against the tables as they are now."""

    def __init__(self, entries: Mapping[str, RecordedProof]) -> None:
        self.entries = dict(entries)

    def proof(self, row: Row, table: Table) -> RecordedProof | None:
        """The proof of ``row``, if there is one and the row is as it was then."""
        found = self.entries.get(row.id)
        return found if found is not None and found.digest == digest(row, table) else None

    def directions(self, row: Row, table: Table) -> tuple[Framework, ...]:
        """The targets to which ``row`` is proven; empty if it is not verified."""
        found = self.proof(row, table)
        return found.directions if found is not None else ()

    def stale(self, table: Table) -> list[str]:
        """Recorded rows that are no longer in the tables, or have changed."""
        rows = {row.id: row for row in reversed(table.rows)}
        return sorted(
            row_id for row_id in self.entries if row_id not in rows or self.proof(rows[row_id], table) is None
        )

    def write(self, path: Path = RECORD) -> None:
        """Write the record, a line for each row."""
        lines = [
            f"{json.dumps(row_id)}: {json.dumps(dataclasses.asdict(entry))}"
            for row_id, entry in sorted(self.entries.items())
        ]
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def read(path: Path = RECORD) -> Record:
    """The record as it was written; empty if there is none."""
    if not path.exists():
        return Record({})
    entries: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return Record(
        {
            row_id: RecordedProof(**{**entry, "directions": tuple(entry["directions"])})
            for row_id, entry in entries.items()
        }
    )


def digest(row: Row, table: Table) -> str:
    """A digest of all that a row's proof depends on here: its data, the value maps it names, and its hook's source.

    Of the hook's module only the definitions count that the hook uses: a module holds up to fifty hooks, and a
    change to one would make the proofs of all their rows void.
    """
    used = sorted({pair.values for pair in (*row.parameters, *row.forward) if pair.values is not None})
    data = [_plain(row, _NOT_PROVEN), [_plain(table.values[name], frozenset(["file"])) for name in used]]
    if row.hook is not None:
        data.append(source_of(row.hook))
    return hashlib.blake2b(json.dumps(data).encode(), digest_size=8).hexdigest()


def _plain(value: Any, leave_out: Iterable[str] = ()) -> Any:
    """Plain data. Fields that have their default are left out, so that a new kind of field changes no digest."""
    if dataclasses.is_dataclass(value) or hasattr(value, "_fields"):
        return [
            [name, _plain(getattr(value, name))]
            for name, default in _defaults(value)
            if name not in leave_out and getattr(value, name) != default
        ]
    if isinstance(value, Mapping):
        return [[str(key), _plain(item)] for key, item in value.items()]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def _defaults(value: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a record, each with its default; what equals nothing stands for none."""
    if hasattr(value, "_fields"):
        yield from ((name, value._field_defaults.get(name, _NO_DEFAULT)) for name in value._fields)
        return
    for field in dataclasses.fields(value):
        if field.default_factory is not dataclasses.MISSING:
            yield field.name, field.default_factory()
        else:
            yield field.name, _NO_DEFAULT if field.default is dataclasses.MISSING else field.default


_NO_DEFAULT = object()
