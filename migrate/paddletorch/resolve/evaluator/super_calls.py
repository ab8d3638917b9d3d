"""Which classes of a module ``super().__init__(...)`` may reach: those that its class has in common with a subclass."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from paddletorch.resolve.scopes.scopes import ScopeTree


class SuperCalls:
    """Calls of ``__init__`` as a method, and the families of a module's classes, by name."""

    def __init__(self, tree: ScopeTree, calls: Sequence[ast.Call]) -> None:
        self._tree = tree
        self._calls = calls

    def reaching(self, name: str) -> list[ast.Call]:
        """The calls that may reach the class ``name``, in order.

        Left out is a call by ``super()`` in a class that has not the class ``name`` behind it in any of its orders.
        """
        callers = self._callers_of_all | _closure(_closure({name}, self._derived), self._bases)
        callers -= _closure({name}, self._bases)
        found = [number for caller in (*(callers - {None}), None) for number in self._by_caller.get(caller, ())]
        return [self._calls[number] for number in sorted(found)]

    @cached_property
    def _by_caller(self) -> dict[str | None, list[int]]:
        """The positions of the calls by ``super()`` of each class; None: all others."""
        found: dict[str | None, list[int]] = {}
        for number, call in enumerate(self._calls):
            found.setdefault(self._caller(call), []).append(number)
        return found

    def _caller(self, call: ast.Call) -> str | None:
        """The class that makes a call by ``super()``."""
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if not (isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super"):
            return None
        around = self._tree.scopes[owner.func].enclosing_class()
        return around.node.name if around is not None and isinstance(around.node, ast.ClassDef) else None

    @cached_property
    def _callers_of_all(self) -> set[str | None]:
        """Classes that have a subclass with an unknown base, whose orders may hold any class."""
        return _closure(_closure({None}, self._derived), self._bases)

    @cached_property
    def _derived(self) -> dict[str | None, set[str | None]]:
        """The names of the classes that have a base of the name; None for a base that is not a class's name."""
        found: dict[str | None, set[str | None]] = {}
        for name, bases in self._bases.items():
            for base in bases:
                found.setdefault(base, set()).add(name)
        return found

    @cached_property
    def _bases(self) -> dict[str | None, set[str | None]]:
        """The names of the bases of each class of the module."""
        found: dict[str | None, set[str | None]] = {}
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


def _closure(names: Iterable[str | None], edges: Mapping[str | None, Iterable[str | None]]) -> set[str | None]:
    """The names and all that can be reached from them."""
    found = set(names)
    queue = list(found)
    while queue:
        new = set(edges.get(queue.pop(), ())) - found
        found |= new
        queue += new
    return found
