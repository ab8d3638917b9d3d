"""The innermost node of some classes around a node: found once for each, however deep the nodes stand."""

from __future__ import annotations

import ast
from collections.abc import Mapping

_SHORT = 8
"""So many steps up cost no more than to remember them."""


class Innermost:
    """The way up from any node of one module to the innermost one that is of some classes."""

    def __init__(self, parents: Mapping[ast.AST, ast.AST], kinds: tuple[type[ast.AST], ...]) -> None:
        self._parents = parents
        self._kinds = kinds
        self._known: dict[ast.AST, ast.AST | None] = {}

    def around(self, node: ast.AST) -> ast.AST | None:
        """The innermost node of these classes that is or holds ``node``."""
        passed: list[ast.AST] = []
        current: ast.AST | None = node
        while current is not None and not isinstance(current, self._kinds):
            if current in self._known:
                current = self._known[current]
                break
            passed.append(current)
            current = self._parents.get(current)
        if len(passed) > _SHORT:
            self._known.update(dict.fromkeys(passed, current))
        return current
