"""The innermost node of some classes around a node: found once for each, however deep the nodes stand."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache

_SHORT = 8
"""So many steps up cost no more than to remember them."""


@cache
def _concrete(kinds: tuple[type[ast.AST], ...]) -> frozenset[type[ast.AST]]:
    """The classes and all that derive from them: nodes are looked for by their own class."""
    classes = (kind for kind in vars(ast).values() if isinstance(kind, type))
    return frozenset(kind for kind in classes if issubclass(kind, kinds))


class Innermost:
    """The way up from any node of one module to the innermost one that is of some classes."""

    def __init__(self, parents: Mapping[ast.AST, ast.AST], kinds: tuple[type[ast.AST], ...]) -> None:
        self._parents = parents
        self._kinds = _concrete(kinds)
        self._known: dict[ast.AST, ast.AST | None] = {}

    def around(self, node: ast.AST) -> ast.AST | None:
        """The innermost node of these classes that is or holds ``node``."""
        parents, kinds = self._parents, self._kinds
        current: ast.AST | None = node
        for _ in range(_SHORT):
            if current is None or current.__class__ in kinds:
                return current
            current = parents.get(current)
        return self._far_around(current)

    def _far_around(self, node: ast.AST | None) -> ast.AST | None:
        """The same for what stands deep, where each node on the way is remembered."""
        passed: list[ast.AST] = []
        current = node
        while current is not None and current.__class__ not in self._kinds:
            if current in self._known:
                current = self._known[current]
                break
            passed.append(current)
            current = self._parents.get(current)
        self._known.update(dict.fromkeys(passed, current))
        return current
