"""Where the value that one binding gives to a name is read: the reverse of reaching definitions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding
from paddletorch.resolve.scopes.reaching import ReachingDefinitions
from paddletorch.resolve.scopes.spans import SpanIndex


class _Variable(NamedTuple):
    """All bindings of one name, and the names that read it."""

    places: dict[Binding, int]
    """The place of each binding among those that give a value."""
    by_node: dict[ast.AST, Binding]
    reads: SpanIndex[ast.Name]
    """By the places of the bindings that reach them; of those that the same reach, the last in the file first."""
    numbers: dict[ast.Name, int]
    by_statement: dict[ast.stmt | None, list[ast.Name]]


class Reads:
    """The bindings by the names that they reach, and the names by the bindings that reach them, in one file."""

    def __init__(
        self, view: FileView, reaching: ReachingDefinitions, wanted: Callable[[ast.Name], bool] | None = None
    ) -> None:
        """``wanted``: which reads are looked for; all of them without it."""
        self._view = view
        self._tree = view.tree
        self._reaching = reaching
        self._wanted = wanted
        self._variables: dict[int, _Variable] = {}
        """By the identity of the list of bindings that a name means."""

    def bindings(self, name: ast.Name) -> Sequence[Binding]:
        """The bindings that can reach the name, without augmented assignments."""
        found = self._tree.scopes[name].lookup(name.id) if name in self._tree.scopes else ()
        return self._reaching.of(name, found).values() if found else ()

    def bound_by(self, target: ast.Name) -> list[Binding]:
        """The binding of the name that is assigned to."""
        variable = self._variable(self._tree.scopes[target].lookup(target.id))
        return [variable.by_node[target]] if variable is not None and target in variable.by_node else []

    def of(self, bindings: Iterable[Binding]) -> Iterator[ast.Name]:
        """The names that read what one of the bindings gives, each once."""
        seen: set[ast.Name] = set()
        for binding in bindings:
            variable = self._variable(binding.scope.lookup(binding.name))
            place = variable.places.get(binding) if variable is not None else None
            if variable is None or place is None:
                continue
            for load in variable.reads.around((place, 0)):
                if load not in seen:
                    seen.add(load)
                    yield load

    def number(self, load: ast.Name) -> int:
        """The place of a name among the names that read the same variable."""
        variable = self._variable(self._tree.scopes[load].lookup(load.id))
        return variable.numbers.get(load, -1) if variable is not None else -1

    def in_statement(self, bindings: Sequence[Binding], statement: ast.stmt | None) -> list[ast.Name]:
        """The names of the innermost statement that read what one of the bindings gives."""
        variable = self._variable(bindings[0].scope.lookup(bindings[0].name)) if bindings else None
        loads = variable.by_statement.get(statement, ()) if variable is not None else ()
        wanted = set(bindings)
        return [load for load in loads if not wanted.isdisjoint(self.bindings(load))]

    def _variable(self, bindings: Sequence[Binding]) -> _Variable | None:
        if not bindings:
            return None
        found = self._variables.get(id(bindings))
        if found is None:
            found = self._variables[id(bindings)] = self._index(bindings)
        return found

    def _index(self, bindings: Sequence[Binding]) -> _Variable:
        loads = [load for load in self._tree.reads(bindings) if self._wanted is None or self._wanted(load)]
        spans = []
        by_statement: dict[ast.stmt | None, list[ast.Name]] = {}
        for load in sorted(loads, key=lambda node: (node.lineno, node.col_offset), reverse=True):
            start, end = self._reaching.of(load, bindings).values_range()
            spans.append(((start, 0), (end, 0), load))
            by_statement.setdefault(self._view.statement(load), []).append(load)
        return _Variable(
            {b: n for n, b in enumerate(self._reaching.values(bindings))},
            {b.node: b for b in bindings},
            SpanIndex(spans),
            {load: n for n, load in enumerate(loads)},
            by_statement,
        )
