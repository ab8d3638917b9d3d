"""Which classes of a module have objects in common: a class, those it derives from, and those that derive from it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from paddletorch.resolve.scopes.bindings import Scope
from paddletorch.resolve.scopes.scopes import ScopeTree

Family = frozenset[Scope]
"""The scopes of classes whose methods may run on one object."""


class ClassFamilies:
    """The classes of one module by their bases, which are followed by name."""

    def __init__(self, tree: ScopeTree) -> None:
        self._tree = tree
        self._families: dict[Scope, Family] = {}

    def of(self, scope: Scope) -> Family:
        """The classes whose methods may run on an object of this class, or of a class that derives from it."""
        found = self._families.get(scope)
        if found is None:
            below = _reached([scope], self._subclasses)
            found = self._families[scope] = frozenset(_reached(below, self._bases))
        return found

    @cached_property
    def _bases(self) -> dict[Scope, list[Scope]]:
        found: dict[Scope, list[Scope]] = {}
        for node, scope in self._tree.own.items():
            if isinstance(node, ast.ClassDef) and node.bases:
                found[scope] = [base for one in node.bases for base in self._classes(one)]
        return found

    @cached_property
    def _subclasses(self) -> dict[Scope, list[Scope]]:
        found: defaultdict[Scope, list[Scope]] = defaultdict(list)
        for scope, bases in self._bases.items():
            for base in bases:
                found[base].append(scope)
        return found

    def _classes(self, base: ast.expr) -> Iterable[Scope]:
        if isinstance(base, ast.Subscript):  # ``Base[T]``
            base = base.value
        scope = self._tree.scopes.get(base) if isinstance(base, ast.Name) else None
        bindings = scope.lookup(base.id) if scope is not None and isinstance(base, ast.Name) else ()
        return [self._tree.own[b.node] for b in bindings if isinstance(b.node, ast.ClassDef)]


def _reached(start: Iterable[Scope], steps: dict[Scope, list[Scope]]) -> dict[Scope, None]:
    found, waiting = dict.fromkeys(start), list(start)
    while waiting:
        for scope in steps.get(waiting.pop(), ()):
            if scope not in found:
                found[scope] = None
                waiting.append(scope)
    return found
