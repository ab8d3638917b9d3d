"""Where a name is looked up: functions, class bodies and the module around its use, each with what is bound there."""

from __future__ import annotations

import builtins
from collections.abc import Collection

from .paths import BOUND, UNBOUND, State

_BUILTINS = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__path__", "__spec__", "__class__"}


class Scope:
    """One module or function: its local names, and what encloses it."""

    def __init__(self, path: str, local: set[str], parent: Scope | None) -> None:
        self.path = path
        self.local = local
        self.parent = parent
        self.end: State = {}
        """The state at its end, which functions in it see."""
        self.born: frozenset[str] = frozenset()
        """The names around a function or class that are bound where it is made: it cannot run any earlier."""


class ClassBody(Scope):
    """A class body: it runs where it stands, and sees the state there."""

    def __init__(self, path: str, local: set[str], outer: Scope, before: State) -> None:
        super().__init__(path, local | {"__module__", "__qualname__"}, outer)
        self.outer = outer
        self.before = before
        self.end = before


def is_bound(name: str, state: State, scope: Scope, declared: Collection[str]) -> bool:
    """Whether a name that is used in ``scope`` in this state is surely bound; functions bind those in ``declared``."""
    seen: State | None = state
    around: Scope | None = scope
    now = True  # only classes so far: they run where they stand
    while around is not None and not _decides(around, scope, name, seen):
        if isinstance(around, ClassBody):
            seen = around.before if now else {**around.outer.end, **dict.fromkeys(around.born, BOUND)}
            around = around.outer
        else:
            born, now, around = around.born, False, around.parent
            seen = {**around.end, **dict.fromkeys(born, BOUND)} if around is not None else None
    if around is None:
        return name in _BUILTINS or name in declared
    assert seen is not None
    return not seen.get(name, UNBOUND) & UNBOUND or (around.parent is None and name in declared)


def _decides(around: Scope, scope: Scope, name: str, seen: State | None) -> bool:
    """Whether a name that is used in ``scope`` is looked up in ``around`` and nowhere else."""
    if name not in around.local:
        return False
    if not isinstance(around, ClassBody):
        return True  # what is in a class does not see its names, and its own body looks further if need be
    return around is scope and seen is not None and not seen.get(name, UNBOUND) & UNBOUND
