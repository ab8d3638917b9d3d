"""The loaded tables, indexed for the engine and the shim."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from paddletorch_rules.loader import read
from paddletorch_rules.releases import Framework
from paddletorch_rules.schema import DiagnosticSpec, Form, Row, TypeSpec, ValueMap

_HERE = Path(__file__).parent


class Table:
    """All rows, value maps and diagnostics. The first row that has a name wins, so overlays come first."""

    def __init__(
        self,
        rows: Sequence[Row],
        values: dict[str, ValueMap],
        diagnostics: dict[str, DiagnosticSpec],
        types: dict[str, TypeSpec],
        digest: str,
    ) -> None:
        self.rows = tuple(rows)
        self.values = values
        self.diagnostics = diagnostics
        self.types = types
        self.digest = digest
        self._by_id: dict[str, Row] = {}
        self._by_name: dict[Framework, dict[str, tuple[Row, Form]]] = {"torch": {}, "paddle": {}}
        self._prefixes: dict[Framework, list[tuple[str, Row, Form]]] = {"torch": [], "paddle": []}
        self._members: dict[Framework, dict[str, list[tuple[Row, Form]]]] = {"torch": {}, "paddle": {}}
        for row in self.rows:
            self._by_id.setdefault(row.id, row)
            for side in ("torch", "paddle"):
                self._index(row, side)

    def _index(self, row: Row, side: Framework) -> None:
        target: Framework = "paddle" if side == "torch" else "torch"
        if not row.serves(target):
            return
        for form in row.forms(side):
            for name in form.names:
                if row.receiver is not None:
                    self._members[side].setdefault(name, []).append((row, form))
                elif name.endswith(".*"):
                    self._prefixes[side].append((name[:-1], row, form))
                else:
                    self._by_name[side].setdefault(name, (row, form))

    def makes(self, qualified_name: str) -> str | None:
        """The tracked type that calling ``qualified_name`` makes an instance of, if any."""
        for side in ("torch", "paddle"):
            found = self._by_name[side].get(qualified_name)
            if found is not None:
                return found[0].instance
        for spec in self.types.values():
            if any(fnmatchcase(qualified_name, pattern) for pattern in spec.makes):
                return spec.name
        return None

    def row(self, row_id: str) -> Row:
        """The row called ``row_id``.

        Raises:
            KeyError: there is none.
        """
        return self._by_id[row_id]

    def lookup(self, side: Framework, qualified_name: str) -> tuple[Row, Form] | None:
        """The row and spelling of a source-side qualified name, if the tables know it."""
        found = self._by_name[side].get(qualified_name)
        if found is not None:
            return found
        for prefix, row, form in self._prefixes[side]:
            if qualified_name.startswith(prefix):
                return row, form
        return None

    def members(self, side: Framework, name: str) -> Sequence[tuple[Row, Form]]:
        """Rows for the method or attribute ``name`` of tracked instances on ``side``."""
        return self._members[side].get(name, ())

    def names(self, side: Framework) -> Iterable[str]:
        """Every qualified name known on ``side`` (prefix rows left out)."""
        return self._by_name[side].keys()

    def tokens(self, side: Framework, rows: Iterable[Row]) -> Tokens:
        """What a file's bytes must hold for any of ``rows`` to matter when ``side`` is the source."""
        target: Framework = "paddle" if side == "torch" else "torch"
        plain: set[str] = set()
        gated: dict[tuple[str, ...], set[str]] = {}
        for row in rows:
            if not row.serves(target):
                continue
            gate = self.types[row.receiver].tokens if row.receiver is not None else ()
            found = gated.setdefault(gate, set()) if gate else plain
            if row.tokens is not None:
                found.update(row.tokens)
            elif row.kind != "module":
                found.update(_token(row, name) for form in row.forms(side) for name in form.names)
        return Tokens(_shortest(plain), tuple((_bytes(gate), _shortest(found)) for gate, found in gated.items()))


@dataclass(frozen=True, slots=True)
class Tokens:
    """Byte strings that a file must hold to be looked at.

    ``plain``: any of them is enough. ``gated``: pairs of a gate and tokens; one of each is needed.
    """

    plain: tuple[bytes, ...]
    gated: tuple[tuple[tuple[bytes, ...], tuple[bytes, ...]], ...]

    def hit(self, data: bytes) -> bool:
        """Whether ``data`` is worth parsing."""
        for token in self.plain:
            if token in data:
                return True
        for gate, tokens in self.gated:
            if any(token in data for token in gate) and any(token in data for token in tokens):
                return True
        return False

    def named(self, data: bytes) -> bool:
        """Whether any token stands in ``data``, a part of a file, whatever the rest of the file holds."""
        return any(token in data for token in (*self.plain, *(t for _, tokens in self.gated for t in tokens)))


def _shortest(tokens: Iterable[str]) -> tuple[bytes, ...]:
    """Without the tokens that another one is part of."""
    found = set(tokens)
    return _bytes(t for t in found if not any(other != t and other in t for other in found))


def _bytes(tokens: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(sorted(token.encode() for token in tokens))


def _token(row: Row, name: str) -> str:
    if row.receiver is not None:
        return "." + name
    return name.removesuffix(".*").rpartition(".")[2] if not name.endswith(".*") else name[:-2]


@lru_cache(maxsize=8)
def load(tables: tuple[str, ...] = ()) -> Table:
    """Load the built-in tables, with ``tables`` (TOML files) laid over them.

    Raises:
        TableError: a table is wrong; the message names file, row and key.
    """
    paths = [Path(t) for t in tables] + sorted(_HERE.glob("*.toml"))
    raw = read(paths)
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        digest.update(path.read_bytes())
    return Table(raw.rows, raw.values, raw.diagnostics, raw.types, digest.hexdigest())
