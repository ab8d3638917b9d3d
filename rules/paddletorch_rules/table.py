"""The loaded tables, indexed for the engine and the shim."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from paddletorch_rules import compiled, facts, guesses, members, namesakes, packages
from paddletorch_rules.aliases import Aliases
from paddletorch_rules.name_patterns import matches_name
from paddletorch_rules.plain import Records
from paddletorch_rules.releases import Framework, other_framework
from paddletorch_rules.schema import AliasRule, AreaSpec, DiagnosticSpec, Form, RawTables, Row, TypeSpec, ValueMap

if TYPE_CHECKING:
    from paddletorch_rules.table_index import CompiledTables, Places

_HERE = Path(__file__).parent
METHODS_OF = "tensor"
"""The type whose methods are functions under other names, too."""


class Table:
    """All rows, value maps and diagnostics. The first row that has a name wins, so overlays come first."""

    def __init__(self, tables: CompiledTables, digest: str) -> None:
        self.digest = digest
        self.values = {name: ValueMap(*fields) for name, fields in tables["values"].items()}
        self.diagnostics = {code: DiagnosticSpec(*fields) for code, fields in tables["diagnostics"].items()}
        self.types = {name: TypeSpec(*fields) for name, fields in tables["types"].items()}
        self.areas = {code: AreaSpec(*fields) for code, fields in tables["areas"].items()}
        self.aliases = Aliases([AliasRule(*fields) for fields in tables["aliases"]], tables["alias_index"])
        self._written = tables["rows"]
        self._rows: list[Row | None] = [None] * len(self._written)
        self._records = Records()
        self._index = tables["index"]
        self._pairs: dict[Framework, dict[str, Sequence[tuple[Row, Form]]]] = {"torch": {}, "paddle": {}}
        self._member_pairs: dict[Framework, dict[str, Sequence[tuple[Row, Form]]]] = {"torch": {}, "paddle": {}}
        self._prefixes: dict[Framework, dict[str, tuple[int, int, int]]] = {}
        """Of names that end in ``.*`` what stands before the star: its order in the tables, its row and form."""
        self._exported: dict[Framework, dict[str, dict[str, str]]] = {"torch": {}, "paddle": {}}
        self._by_module: dict[Framework, dict[str, list[str]]] = {"torch": {}, "paddle": {}}
        self._made: dict[str, str | None] = {}
        self._constants: dict[str, str | None] = {}
        self._bases: dict[str, tuple[str, ...]] = {}
        self._known_members: dict[tuple[str, str], tuple[str, str | None] | None] = {}

    def with_rows(self, rows: Iterable[Row]) -> Table:
        """A table of these rows alone, with all else as here."""
        from paddletorch_rules.table_index import compile_tables  # to read a table, none is compiled

        raw = RawTables()
        raw.rows, raw.aliases = list(rows), list(self.aliases.rules)
        raw.values, raw.diagnostics, raw.types, raw.areas = self.values, self.diagnostics, self.types, self.areas
        return Table(compile_tables(raw), self.digest)

    def _row(self, number: int) -> Row:
        row = self._rows[number]
        if row is None:
            row = self._rows[number] = self._records.row(marshal.loads(self._written[number]))
        return row

    def _at(self, side: Framework, places: Places) -> Sequence[tuple[Row, Form]]:
        rows = [(self._row(number), position) for number, position in places]
        return [(row, row.forms(side)[position]) for row, position in rows]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """All rows, in the order of the files."""
        return tuple(map(self._row, range(len(self._rows))))

    @property
    def row_codes(self) -> frozenset[str]:
        """The codes of the rows."""
        return frozenset(self._index["codes"])

    @property
    def codes(self) -> frozenset[str]:
        """The codes of conversions and findings."""
        return self.row_codes | frozenset(self.diagnostics)

    def selected(self, target: Framework, wants: Callable[[str], bool]) -> Iterator[Row]:
        """The rows that are used when converting to ``target`` and whose code is wanted."""
        wanted = frozenset(filter(wants, self.row_codes))
        rows = zip(self._index["codes"], self._index["directions"], strict=True)
        for number, (code, direction) in enumerate(rows):
            if code in wanted and direction in (None, target):
                yield self._row(number)

    def makes(self, qualified_name: str) -> str | None:
        """The tracked type that calling ``qualified_name`` makes an instance of, if any."""
        if qualified_name not in self._made:
            self._made[qualified_name] = self._makes(qualified_name)
        return self._made[qualified_name]

    def _makes(self, qualified_name: str) -> str | None:
        for side in ("torch", "paddle"):
            found = self._named(side, qualified_name)
            if found and (found[0][0].kind != "unsupported" or found[0][0].instance):
                return found[0][0].instance
        return next((name for pattern, name in self._makers if fnmatchcase(qualified_name, pattern)), None)

    @cached_property
    def _makers(self) -> list[tuple[str, str]]:
        """The patterns of names that make instances of a tracked type, each with the type."""
        return [(pattern, spec.name) for spec in self.types.values() for pattern in spec.makes]

    def constant(self, qualified_name: str) -> str | None:
        """The tracked type of the object that a name is, such as a dtype."""
        if qualified_name not in self._constants:
            self._constants[qualified_name] = self._constant(qualified_name)
        return self._constants[qualified_name]

    def _constant(self, qualified_name: str) -> str | None:
        for side in ("torch", "paddle"):
            found = self._named(side, qualified_name)
            if found and found[0][0].kind == "constant":
                return found[0][0].instance
        return None

    def documented(self, runtime_name: str) -> str:
        """The name that rows and types have for what a program calls ``torch.nn.modules.conv.Conv2d``; else the same.

        A package offers the classes of its modules: ``torch.optim.Adam`` stands in ``torch.optim.adam``.
        """
        module, _, last = runtime_name.rpartition(".")
        for name in (runtime_name, f"{module.rpartition('.')[0]}.{last}"):
            if found := self._own_name(name):
                return found
        return runtime_name

    def _own_name(self, name: str) -> str | None:
        if any(name in names for names in self._index["names"].values()):
            return name
        others = (self._own_name(other) for other in self.aliases.others(name))
        return next((other for other in others if other), name if self.makes(name) else None)

    def member(self, type_name: str, name: str) -> tuple[str, str | None] | None:
        """Kind of a member of a tracked type, and the type that it is or gives."""
        key = type_name, name
        if key not in self._known_members:
            self._known_members[key] = self._member(type_name, name)
        return self._known_members[key]

    def _member(self, type_name: str, name: str) -> tuple[str, str | None] | None:
        for kind in self.bases(type_name):
            for side in ("torch", "paddle"):
                for row, _ in self.members(side, name):
                    if row.receiver == kind:
                        return row.kind, row.instance
        return None

    def bases(self, type_name: str) -> tuple[str, ...]:
        """The type and those whose members it has too."""
        known = self._bases.get(type_name)
        if known is not None:
            return known
        found = [type_name]
        while (spec := self.types.get(found[-1])) is not None and spec.base and spec.base not in found:
            found.append(spec.base)
        self._bases[type_name] = tuple(found)
        return self._bases[type_name]

    def distinctive(self, name: str, side: Framework) -> str | None:
        """What a method gives whose name alone shows that its receiver is a tensor or a module; ``side``'s before."""
        distinctive = self._index["distinctive"]
        first, second = distinctive[side], distinctive[other_framework(side)]
        return first[name] if name in first else second.get(name)

    def suggests(self, type_name: str, name: str) -> bool:
        """Whether a variable's name suggests the type."""
        spec = self.types.get(type_name)
        return spec is not None and matches_name(spec.names, name)

    def row(self, row_id: str) -> Row:
        """The row called ``row_id``.

        Raises:
            KeyError: there is none.
        """
        return self._row(self._index["ids"][row_id])

    def lookup(self, side: Framework, qualified_name: str) -> tuple[Row, Form] | None:
        """The first row and spelling of a source-side qualified name, if the tables know it."""
        found = self._named(side, qualified_name)
        if found:
            return found[0]
        prefixes, end = self._by_prefix(side), qualified_name.find(".")
        first: tuple[int, int, int] | None = None
        while end >= 0:
            one = prefixes.get(qualified_name[: end + 1])
            if one is not None and (first is None or one < first):
                first = one
            end = qualified_name.find(".", end + 1)
        return self._at(side, (first[1:],))[0] if first is not None else None

    def _by_prefix(self, side: Framework) -> dict[str, tuple[int, int, int]]:
        if side not in self._prefixes:
            found = self._prefixes[side] = {}
            for order, (prefix, number, position) in enumerate(self._index["prefixes"][side]):
                found.setdefault(prefix, (order, number, position))
        return self._prefixes[side]

    def overloads(self, side: Framework, qualified_name: str) -> Sequence[tuple[Row, Form]]:
        """All rows of a source-side qualified name: they differ in what they take."""
        return self._named(side, qualified_name)

    def _named(self, side: Framework, qualified_name: str) -> Sequence[tuple[Row, Form]]:
        """Rows of a name, or of the name that it is another one of by rule."""
        found = self._pairs[side].get(qualified_name)
        if found is not None:
            return found
        places = self._index["names"][side].get(qualified_name)
        if places is not None:
            pairs = self._pairs[side][qualified_name] = self._at(side, places)
            return pairs
        for other in self.aliases.others(qualified_name):
            if rows := self._named(side, other) or self._methods(side, other):
                return rows
        return ()

    def _methods(self, side: Framework, qualified_name: str) -> Sequence[tuple[Row, Form]]:
        """Rows of a method by the name that it has in its class, as a function: ``torch.Tensor.view``."""
        owner, _, name = qualified_name.rpartition(".")
        kind = self.makes(owner) if owner and name in self._index["members"][side] else None
        return [pair for pair in self.members(side, name) if pair[0].receiver == kind] if kind == METHODS_OF else []

    def members(self, side: Framework, name: str) -> Sequence[tuple[Row, Form]]:
        """Rows for the method or attribute ``name`` of tracked instances on ``side``."""
        found = self._member_pairs[side].get(name)
        if found is None:
            found = self._at(side, self._index["members"][side].get(name, ()))
            if found:
                self._member_pairs[side][name] = found
        return found

    def absent(self, side: Framework, name: str) -> Mapping[str, Row]:
        """Rows that say of a member that it has no counterpart, by the class that has it."""
        return {owner: self._row(number) for owner, number in self._index["absent"][side].get(name, {}).items()}

    def names(self, side: Framework) -> Iterable[str]:
        """Every qualified name that a row has on ``side``; prefixes and other names by rule are left out."""
        return self._index["names"][side].keys()

    def exported(self, side: Framework, module: str) -> dict[str, str]:
        """The APIs in a module, by their last name: what ``from module import *`` may bind."""
        if module not in self._exported[side]:
            found: dict[str, str] = {}
            for alias, other in self.aliases.below(module):
                if alias.endswith(".*"):
                    found.update({last: f"{module}.{last}" for last in self.exported(side, other[:-2])})
                elif self._named(side, other):
                    found[alias.rpartition(".")[2]] = alias
            last_names = self._last_names(side).get(module, ())
            found.update({last: f"{module}.{last}" for last in last_names})
            self._exported[side][module] = found
        return self._exported[side][module]

    def _last_names(self, side: Framework) -> dict[str, list[str]]:
        """The names that rows have on ``side``, by the module in which they stand."""
        if not self._by_module[side]:
            for name in self._index["names"][side]:
                module, _, last = name.rpartition(".")
                self._by_module[side].setdefault(module, []).append(last)
        return self._by_module[side]

    def tokens(self, side: Framework, rows: Iterable[Row]) -> Tokens:
        """What a file's bytes must hold for any of ``rows`` to matter when ``side`` is the source."""
        target = other_framework(side)
        plain: set[str] = set()
        gated: dict[tuple[str, ...], set[str]] = {}
        for row in rows:
            if not row.serves(target):
                continue
            if row.whole:
                plain.add(side)
                if row.receiver is not None and side in row.distinctive:
                    plain.update(f".{name}(" for form in row.forms(side) for name in form.names)
                continue
            gate = self.types[row.receiver].tokens if row.receiver is not None else ()
            found = gated.setdefault(gate, set()) if gate else plain
            if row.tokens is not None:
                found.update(row.tokens)
            elif row.kind != "module":
                found.update(_token(row, name) for form in row.forms(side) for name in form.names)
        first = tuple(t for t in (side.encode(),) if side in plain)  # most files that hold any hold this one
        rest = tuple(t for t in _shortest(plain) if t not in first)
        pairs = tuple((_bytes(gate), _shortest(found)) for gate, found in gated.items())
        return Tokens(first + rest, pairs, _by_part(first + rest, [token for gate, _ in pairs for token in gate]))


class Tokens(NamedTuple):
    """Byte strings that a file must hold to be looked at.

    ``plain``: any of them is enough. ``gated``: pairs of a gate and tokens; one of each is needed. ``by_part``: the
    plain ones by a part that several have, or that a gate is: where it is missing, no look for each is needed.
    """

    plain: tuple[bytes, ...]
    gated: tuple[tuple[tuple[bytes, ...], tuple[bytes, ...]], ...]
    by_part: tuple[tuple[bytes, tuple[bytes, ...]], ...]

    def hit(self, data: bytes) -> bool:
        """Whether ``data`` is worth parsing."""
        held: dict[bytes, bool] = {}
        for part, tokens in self.by_part:
            held[part] = found = part in data
            if found and (tokens == (part,) or any(token in data for token in tokens)):
                return True
        for gate, tokens in self.gated:
            opens = any(held.get(token) or (token not in held and token in data) for token in gate)
            if opens and any(token in data for token in tokens):
                return True
        return False

    def named(self, data: bytes) -> bool:
        """Whether any token stands in ``data``, a part of a file, whatever the rest of the file holds."""
        return any(token in data for token in (*self.plain, *(t for _, tokens in self.gated for t in tokens)))


def _by_part(plain: Iterable[bytes], gates: Sequence[bytes]) -> tuple[tuple[bytes, tuple[bytes, ...]], ...]:
    """Tokens by the part that is looked for first: a gate, or the last word of several (``from apex``)."""
    found: dict[bytes, list[bytes]] = {}
    for token in plain:
        last = token[max(token.rfind(b" "), 0) :]
        found.setdefault(next((gate for gate in gates if gate in token), last), []).append(token)
    return tuple(
        (part if len(tokens) > 1 or part in gates else tokens[0], tuple(tokens)) for part, tokens in found.items()
    )


def _shortest(tokens: Iterable[str]) -> tuple[bytes, ...]:
    """Without the tokens that another one is part of."""
    found = set(tokens)
    sizes = sorted(set(map(len, found)))
    return _bytes(t for t in found if not any(part in found for part in _parts(t, sizes)))


def _parts(token: str, sizes: Sequence[int]) -> Iterator[str]:
    """The parts of a token that have one of these sizes, and not all of it."""
    for size in sizes:
        for start in range(len(token) - size + 1 if size < len(token) else 0):
            yield token[start : start + size]


def _bytes(tokens: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(sorted(token.encode() for token in tokens))


def _token(row: Row, name: str) -> str:
    if row.receiver is not None:
        return "." + name
    return name.removesuffix(".*").rpartition(".")[2] if not name.endswith(".*") else name[:-2]


def built_in_files() -> list[Path]:
    """The files of the built-in tables, in the order in which they are read."""
    beside = (facts.FILE, guesses.FILE, members.FILE, namesakes.FILE, packages.FILE)
    return [file for file in sorted(_HERE.glob("*.toml")) if file not in beside] + sorted(_HERE.glob("api/*.toml"))


@lru_cache(maxsize=8)
def load(tables: tuple[str, ...] = ()) -> Table:
    """Load the built-in tables, with ``tables`` (TOML files) laid over them.

    Raises:
        TableError: a table is wrong; the message names file, row and key.
    """
    paths = [*map(Path, tables), *built_in_files()]
    digest = compiled.digest_of(paths)
    kept: CompiledTables | None = compiled.restore(_KIND, digest)
    if kept is None:
        kept = read(paths)
        compiled.keep(_KIND, digest, kept)
    return Table(kept, digest)


_KIND = "tables"


def read(paths: Sequence[Path]) -> CompiledTables:
    """The tables of these files as plain values, without the cache.

    Raises:
        TableError: a table is wrong; the message names file, row and key.
    """
    from paddletorch_rules import loader  # slow to import, and not needed where the tables were kept
    from paddletorch_rules.table_index import compile_tables

    return compile_tables(loader.read(paths))
