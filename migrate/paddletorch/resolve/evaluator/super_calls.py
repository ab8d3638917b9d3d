"""Which classes of a module ``super().__init__(...)`` may reach: those that its class has in common with a subclass."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from paddletorch.resolve.scopes.scopes import ScopeTree


class SuperCalls:
    """The families of a module's classes, by name."""

    def __init__(self, tree: ScopeTree) -> None:
        self._tree = tree

    def may_reach(self, call: ast.Call, name: str) -> bool:
        """False for a call by ``super()`` in a class that has not the class ``name`` behind it in any of its orders."""
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if not (isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super"):
            return True
        around = self._tree.scopes[owner.func].enclosing_class()
        if around is None or not isinstance(around.node, ast.ClassDef):
            return True
        here = around.node.name
        if here in self._ancestors(name):
            return False
        families = [self._ancestors(other) for other in self._bases]
        return any(None in family or name in family for family in families if here in family)

    def _ancestors(self, name: str) -> frozenset[str | None]:
        """The class and all that it inherits from; None for a base that is not a class's name."""
        found: set[str | None] = {name}
        queue = [name]
        while queue:
            for base in self._bases.get(queue.pop(), ()):
                if base not in found:
                    found.add(base)
                    queue += [base] if base is not None else []
        return frozenset(found)

    @cached_property
    def _bases(self) -> dict[str, set[str | None]]:
        """The names of the bases of each class of the module."""
        found: dict[str, set[str | None]] = {}
        for scope in self._tree.own.values():
            if isinstance(scope.node, ast.ClassDef):
                found.setdefault(scope.node.name, set()).update(self._names(scope.node))
        return found

    def _names(self, node: ast.ClassDef) -> Iterator[str | None]:
        for base in node.bases:
            if isinstance(base, ast.Attribute):
                yield base.attr
            elif isinstance(base, ast.Name) and self._is_class(base):
                yield base.id
            else:
                yield None

    def _is_class(self, base: ast.Name) -> bool:
        """Whether the name is only a class statement's or an import's."""
        return all(b.kind in ("class", "import") for b in self._tree.scopes[base].lookup(base.id))
