"""What a run's options mean once the tables are loaded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from paddletorch_rules import Form, ParameterPair, ReleaseSet, Row, Table
from paddletorch_rules.adapters import adapters

from paddletorch.model import PACKAGES, Framework, Options

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """What a run's options mean once the tables are loaded; the same for every file."""

    options: Options
    table: Table
    source_releases: ReleaseSet
    target_releases: ReleaseSet
    rows: frozenset[Row]
    inapplicable: frozenset[str] = frozenset()
    """Codes of findings that do not apply with the parts of the shim in use."""
    shim_wraps_calls: bool = False
    """The shim translates calls whose API is known only at run time."""

    @cached_property
    def source(self) -> Framework:
        """The framework that the code is written for."""
        return self.options.source

    @cached_property
    def without_guesses(self) -> Settings:
        """The same settings without ``--unsafe``."""
        return replace(self, options=replace(self.options, unsafe=False)) if self.options.unsafe else self

    @cached_property
    def target(self) -> Framework:
        """The framework to convert to."""
        return self.options.target

    @cached_property
    def has_called_layers(self) -> bool:
        """Whether a selected row is of a layer whose calls have parameters of other names."""
        return any(row.forward for row in self.rows)

    def is_asked(self, code: str) -> bool:
        """Whether edits or findings of the code are wanted, by this name or its former one."""
        spec = self.table.diagnostics.get(code)
        former = spec.formerly if spec is not None else ""
        return self.options.wants(code) or bool(former and self.options.wants(former))

    def is_of_source(self, name: str) -> bool:
        """Whether a qualified name is of a package that counts as the source framework's."""
        return name.partition(".")[0] in PACKAGES[self.source]

    def lookup(self, name: str) -> tuple[Row, Form] | None:
        """Row and spelling of a source-side qualified name, if it is selected."""
        known = self._looked_up
        if name not in known:
            found = self.table.lookup(self.source, name)
            known[name] = found if found is not None and found[0] in self.rows else None
        return known[name]

    @cached_property
    def _looked_up(self) -> dict[str, tuple[Row, Form] | None]:
        return {}

    def adapted_name(self, name: str) -> str:
        """The name under which the adapters know a class: its row's for ``paddle.nn.loss.CrossEntropyLoss``."""
        known = adapters(self.target)
        found = None if name in known else self.lookup(name)
        return name if found is None else next((one for one in found[1].names if one in known), name)

    def overloads(self, name: str) -> list[tuple[Row, Form]]:
        """All selected rows of a source-side qualified name."""
        return [pair for pair in self.table.overloads(self.source, name) if pair[0] in self.rows]

    @cached_property
    def spellings(self) -> tuple[frozenset[str], frozenset[str]]:
        """Every segment of a dotted name of an API or member, and every module path that leads to an API."""
        return _spellings(self.table, self.source, self.rows)

    @cached_property
    def keywords(self) -> frozenset[str]:
        """Every name of a parameter of an API of the source."""
        forms = (form for row in self.rows for form in row.forms(self.source))
        signatures = (signature for form in forms for _, signature in form.signatures)
        return frozenset(parameter.name for signature in signatures for parameter in signature.parameters)

    @cached_property
    def bare(self) -> dict[str, frozenset[str]]:
        """Names that mean an API where nothing binds them, as in documentation."""
        found: dict[str, set[str]] = {}
        for row in self.rows:
            if row.bare:
                for form in row.forms(self.source):
                    for name in form.names:
                        found.setdefault(name.rpartition(".")[2], set()).add(name)
        return {name: frozenset(names) for name, names in found.items()}

    def exported(self, module: str) -> dict[str, frozenset[str]]:
        """The APIs of a module by their last segment: what ``from module import *`` may bind."""
        return {last: frozenset({name}) for last, name in self.table.exported(self.source, module).items()}

    def deselects(self, name: str) -> bool:
        """Whether ``name`` is in the tables, but in no selected row."""
        first = self.table.lookup(self.source, name)  # knows prefixes too
        pairs = self.table.overloads(self.source, name) or [first] if first else []
        rows = [row for row, _ in pairs if row.serves(self.target)]
        return bool(rows) and self.rows.isdisjoint(rows)

    @cached_property
    def modules(self) -> frozenset[str]:
        """Every module path that leads to an API of the source."""
        names = {name for row in self.rows if row.receiver is None for f in row.forms(self.source) for name in f.names}
        above = (".".join(p[:n]) for name in names for p in [name.split(".")] for n in range(1, len(p)))
        return self.table.aliases.paths(self.source).union(above)

    def cached(self, question: str, key: Hashable, answer: Callable[[], T]) -> T:
        """The cached answer to a question about the tables and releases, which is the same for every file."""
        known = self._cache[question]
        if key not in known:
            known[key] = answer()
        found: T = known[key]
        return found

    @cached_property
    def _cache(self) -> defaultdict[str, dict[Hashable, Any]]:
        return defaultdict(dict)

    def emitted(self, row: Row) -> Form | None:
        """The form of the row that is written: the first one that every target release has."""
        return self.cached("emitted", row, lambda: row.emitted(self.target, self.target_releases.versions))

    def pairs(self, row: Row) -> tuple[tuple[ParameterPair, str | None, str | None], ...]:
        """The row's parameters, each with its name of the source and of the target."""
        return self.cached(
            "pairs", row, lambda: tuple((p, p.name(self.source), p.name(self.target)) for p in row.parameters)
        )

    @cached_property
    def member_names(self) -> frozenset[str]:
        """The member names of all selected rows."""
        return frozenset(
            name for row in self.rows if row.receiver is not None for f in row.forms(self.source) for name in f.names
        )

    def members(self, name: str) -> list[tuple[Row, Form]]:
        """The selected rows of members with this name."""
        return [pair for pair in self.table.members(self.source, name) if pair[0] in self.rows]


@lru_cache(maxsize=8)  # engines of one process differ in releases more often than in rows
def _spellings(table: Table, source: Framework, rows: frozenset[Row]) -> tuple[frozenset[str], frozenset[str]]:
    segments: set[str] = {"__init__", "__new__"}
    prefixes: set[str] = {source}
    other_paths = table.aliases.paths(source)
    prefixes.update(other_paths)
    segments.update(table.aliases.segments(source))
    for row in rows:
        for form in row.forms(source):
            for name in form.names:
                parts = name.removesuffix(".*").split(".")
                if name.endswith(".*"):
                    prefixes.add(name)
                segments.update(parts)
                if row.receiver is None:
                    prefixes.update(".".join(parts[:n]) for n in range(1, len(parts) + 1))
    return frozenset(segments), frozenset(prefixes)
