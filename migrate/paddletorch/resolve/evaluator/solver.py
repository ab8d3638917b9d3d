"""A fixpoint solver: what expressions and variables can be, where they depend on each other.

It is the one solver for every fact of a value: what it is (:mod:`resolve.values`), and each fact of
:mod:`resolve.facts`, such as its dtype. Facts are sets that are joined by union, so a branch adds to what is known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from paddletorch.model.time_limit import TimeLimit

Fact = TypeVar("Fact", bound=Hashable)

_CHANGES = 30
"""How often a variable may change before it counts as unknown; in real code a few changes are enough."""

_WIDE = 64
"""A variable that reads more than this is not run again for each of them that changes."""


class Solver(Generic[Fact]):
    """frozenset[Fact] of expressions and variables, computed on demand and remembered.

    A variable (a binding, an attribute, a function's result) has a rule that computes it, which may read other
    variables and itself. A variable that is read for the first time is empty, and queued. When its rule finds
    something else than before, its readers are queued again, until nothing changes.
    """

    def __init__(
        self,
        rules: Mapping[type[ast.expr], Callable[[Any], frozenset[Fact]]],
        unknown: frozenset[Fact],
        other: Callable[[ast.expr], frozenset[Fact]] | None = None,
        limit: TimeLimit | None = None,
    ) -> None:
        """``rules`` find what an expression of each kind can be; they call :meth:`evaluate` for the parts of it.

        ``unknown`` is what stands for anything at all; ``other`` is the rule of all other kinds of expressions.
        """
        self._unknown = unknown
        self._limit = limit if limit is not None else TimeLimit()
        self._rules_by_kind = rules
        self._other: Callable[[ast.expr], frozenset[Fact]] = other if other is not None else lambda _node: unknown
        self._final: dict[Hashable, frozenset[Fact]] = {}
        """Variables that cannot change any more."""
        self.final_expressions: dict[ast.expr, frozenset[Fact]] = {}
        """Expressions that cannot change any more."""
        self._current: dict[Hashable, frozenset[Fact]] = {}
        """Variables that are being solved."""
        self._current_expressions: dict[ast.expr, frozenset[Fact]] = {}
        """Without it, a chain of calls would be evaluated more often with each link."""
        self._current_shared: dict[Hashable, frozenset[Fact]] = {}
        """The same for what many expressions share."""
        self._rules: dict[Hashable, Callable[[], frozenset[Fact]]] = {}
        self._readers: dict[Hashable, dict[Hashable, None]] = {}
        self._changes: dict[Hashable, int] = {}
        self._queue: dict[Hashable, None] = {}
        self._wide_queue: dict[Hashable, None] = {}
        """Variables that read many others, which run once those have settled."""
        self._wide: set[Hashable] = set()
        self._reader: Hashable = None
        """The variable whose rule is running."""
        self._reads = 0
        """How often something was read that may still change."""

    def release(self) -> None:
        """Forget everything, also the rules of variables that were not solved, which hold this solver."""
        self.__dict__.clear()

    def solve(self, question: Callable[[], frozenset[Fact]]) -> frozenset[Fact]:
        """The answer to ``question`` once no variable that it reads changes any more."""
        found = question()
        while self._queue:
            self._run()
            found = question()
        return found or self._unknown

    def solved(self, node: ast.expr) -> frozenset[Fact]:
        """What ``node`` can be; as :meth:`solve`, without the cost of a function for the question."""
        found = self.evaluate(node)
        while self._queue:
            self._run()
            found = self.evaluate(node)
        return found or self._unknown

    def evaluate(self, node: ast.expr) -> frozenset[Fact]:
        """What ``node`` can be, as far as it is known now."""
        found = self.final_expressions.get(node)
        if found is not None:
            return found
        if node in self._current_expressions:
            self._reads += 1
            return self._current_expressions[node]
        reads = self._reads
        found = self._rules_by_kind.get(node.__class__, self._other)(node)
        if self._reads == reads:  # it depends on nothing that may still change
            self.final_expressions[node] = found
        else:
            self._current_expressions[node] = found
        return found

    def shared(self, key: Hashable, rule: Callable[[], frozenset[Fact]]) -> frozenset[Fact]:
        """What ``rule`` finds, as far as it is known now; the same for all expressions that ask with ``key``."""
        found = self._final.get(key)
        if found is not None:
            return found
        found = self._current_shared.get(key)
        reads = self._reads
        if found is None:
            found = rule()
            (self._final if self._reads == reads else self._current_shared)[key] = found
        else:
            self._reads += 1
        return found

    def union(self, nodes: Iterable[ast.expr]) -> frozenset[Fact]:
        """What any of ``nodes`` can be, as far as it is known now."""
        found: frozenset[Fact] = frozenset()
        for node in nodes:
            found |= self.evaluate(node)
        return found

    def variable(self, key: Hashable, rule: Callable[[], frozenset[Fact]]) -> frozenset[Fact]:
        """What a variable can be, as far as it is known now."""
        found = self._final.get(key)
        if found is not None:
            return found
        self._reads += 1
        if key not in self._current:
            self._current[key] = frozenset()
            self._rules[key] = rule
            self._queue[key] = None
        if self._reader is not None:
            self._readers.setdefault(key, {})[self._reader] = None
        return self._current[key]

    def _run(self) -> None:
        """Run the rules of queued variables until none of them changes any more."""
        while self._queue or self._wide_queue:
            self._limit.check()
            key, _ = (self._queue or self._wide_queue).popitem()
            reads = self._reads
            self._reader = key
            self._current_expressions, self._current_shared = {}, {}
            found = self._rules[key]()
            self._reader = None
            if self._reads - reads > _WIDE:
                self._wide.add(key)
            if found == self._current[key]:
                continue
            changes = self._changes[key] = self._changes.get(key, 0) + 1
            if changes > _CHANGES:
                found = self._unknown
                if self._current[key] == self._unknown:
                    continue
            self._current[key] = found
            for reader in self._readers.get(key, ()):
                (self._wide_queue if reader in self._wide else self._queue)[reader] = None
        self._final.update(self._current)
        self._current, self._rules, self._readers, self._changes = {}, {}, {}, {}
        self._current_expressions, self._current_shared = {}, {}
        self._wide.clear()
