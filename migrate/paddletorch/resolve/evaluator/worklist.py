"""A worklist: variables hold what is known of them so far, and are looked at again when what they read changes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable

from paddletorch.resolve.values import NOTHING, UNKNOWN, Values

_CHANGES = 30
"""How often a variable may change before it counts as unknown; real code settles in a few."""


class Worklist:
    """Variables, by any key, with a rule each that says what they are. A rule may read variables, itself included."""

    def __init__(self) -> None:
        self._state: dict[Hashable, Values] = {}
        self._rules: dict[Hashable, Callable[[], Values]] = {}
        self._readers: dict[Hashable, dict[Hashable, None]] = {}
        self._changes: dict[Hashable, int] = {}
        self._queue: dict[Hashable, None] = {}
        self._final: dict[Hashable, Values] = {}
        self._reads = 0
        self._current: Hashable = None
        self._so_far: dict[ast.expr, Values] = {}
        """Expressions by what is known now; without it, a chain of calls is evaluated more often with each link."""

    def _settled(self, evaluate: Callable[[], Values]) -> Values:
        """Evaluate until no variable that was read changes any more."""
        found = evaluate()
        while self._queue:
            self._settle()
            found = evaluate()
        return found or UNKNOWN

    def _settle(self) -> None:
        """Look at queued variables until none of them changes any more."""
        while self._queue:
            key, _ = self._queue.popitem()
            self._current = key
            self._so_far.clear()
            found = self._rules[key]()
            self._current = None
            if found == self._state[key]:
                continue
            changes = self._changes[key] = self._changes.get(key, 0) + 1
            if changes > _CHANGES:
                found = UNKNOWN
                if self._state[key] == UNKNOWN:
                    continue
            self._state[key] = found
            self._queue.update(self._readers.get(key, ()))
        self._final.update(self._state)  # what nothing waits for any more stays as it is
        for held in (self._state, self._rules, self._readers, self._changes, self._so_far):
            held.clear()

    def _variable(self, key: Hashable, rule: Callable[[], Values]) -> Values:
        """What is known of a variable so far; it is queued when it is met for the first time."""
        found = self._final.get(key)
        if found is not None:
            return found
        self._reads += 1
        if key not in self._state:
            self._state[key] = NOTHING
            self._rules[key] = rule
            self._queue[key] = None
        if self._current is not None:
            self._readers.setdefault(key, {})[self._current] = None
        return self._state[key]
