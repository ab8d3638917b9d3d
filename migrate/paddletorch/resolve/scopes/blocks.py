"""Where the statements of a module stand in their blocks, and which of them end a block: found once for each block."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from paddletorch.resolve.scopes.scopes import ScopeTree

COMPOUND = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match),
    *((ast.TryStar,) if hasattr(ast, "TryStar") else ()),  # ``except*`` came with Python 3.11
)

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_EXITS = frozenset({"exit", "_exit", "abort", "quit"})


class _Ends(NamedTuple):
    """Positions in one block, in order: of the statements below which nothing runs, and of those with ``break``."""

    leaving: list[int]
    breaking: list[int]


class Blocks:
    """The blocks of one module."""

    def __init__(self, tree: ScopeTree) -> None:
        self._tree = tree
        self._ends: dict[int, _Ends] = {}

    def first_end(self, block: Sequence[ast.stmt], start: int, end: int) -> int | None:
        """The first statement from ``start`` to ``end`` below which nothing runs."""
        return _first(self._ends_of(block).leaving, start, end)

    def has_break(self, block: Sequence[ast.stmt], start: int, end: int) -> bool:
        """Whether a statement from ``start`` to ``end`` is or holds a ``break``."""
        return _first(self._ends_of(block).breaking, start, end) is not None

    def _ends_of(self, block: Sequence[ast.stmt]) -> _Ends:
        found = self._ends.get(id(block))
        if found is None:
            breaking = [number for number, statement in enumerate(block) if statement in self._breaking]
            found = self._ends[id(block)] = _Ends([n for n, s in enumerate(block) if leaves(s)], breaking)
        return found

    @cached_property
    def _breaking(self) -> set[ast.AST]:
        """Every node that is or holds a ``break``, up to the function around it."""
        found: set[ast.AST] = set()
        for node in self._tree.of_kind(ast.Break):
            around: ast.AST | None = node
            while around is not None and around not in found and not isinstance(around, _DEFINITIONS):
                found.add(around)
                around = self._tree.parents.get(around)
        return found


def leaves(statement: ast.stmt) -> bool:
    """Whether nothing runs below the statement in its block."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        return getattr(called, "attr", getattr(called, "id", "")) in _EXITS
    return isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue)


def _first(positions: Sequence[int], start: int, end: int) -> int | None:
    index = bisect_left(positions, start)
    return positions[index] if index < len(positions) and positions[index] < end else None
