"""Scopes and bindings of one module: what asks about them once they are found.

Flow-insensitive, like LibCST's QualifiedNameProvider: a name means every binding of its scope.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

from paddletorch.resolve.scopes.bindings import AttributeStore, Binding
from paddletorch.resolve.scopes.innermost import Innermost
from paddletorch.resolve.scopes.spans import Position
from paddletorch.resolve.scopes.walk import Walk

_Node = TypeVar("_Node", bound=ast.AST)

_STATEMENTS = frozenset(kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.stmt))

_ALWAYS_BINDS = (ast.Assign, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


Place = tuple[int, int]
"""The identity of a block, and a position in it."""


class ScopeTree(Walk):
    """Scopes, parents, calls and attribute stores of a module."""

    @cached_property
    def names(self) -> dict[str, list[ast.Name]]:
        """Names that are read, by name."""
        found: defaultdict[str, list[ast.Name]] = defaultdict(list)
        for load in self.loads:
            found[load.id].append(load)
        return dict(found)

    @cached_property
    def members(self) -> dict[str, list[ast.Attribute]]:
        """Attributes, read or stored to, by their name."""
        found: defaultdict[str, list[ast.Attribute]] = defaultdict(list)
        for node in self.attributes:
            found[node.attr].append(node)
        return dict(found)

    def reads(self, bindings: Sequence[Binding]) -> Sequence[ast.Name]:
        """The names that mean ``bindings``, which are all bindings of one name, where they are read."""
        if not bindings:
            return ()
        name = bindings[0].name
        if name not in self._reads:
            found = self._reads[name] = {}
            for load in self.names.get(name, ()):
                for meant in self.meanings(load):
                    found.setdefault(id(meant), []).append(load)
        return self._reads[name].get(id(bindings), ())

    def meanings(self, load: ast.Name) -> list[list[Binding]]:
        """The bindings that a name which is read may mean; of a name that a class binds also the module's.

        Python reads the module's as long as the class has not bound it: ``class C: x = x``.
        """
        scope = self.scopes[load]
        found = scope.lookup(load.id)
        if scope.kind != "class" or found is not scope.bindings.get(load.id):
            return [found]
        outside = self.scope.bindings.get(load.id, found)
        return [found] if outside is found or self._is_bound_before(load, found) else [found, outside]

    def _is_bound_before(self, load: ast.Name, bindings: Sequence[Binding]) -> bool:
        """Whether a statement of the class body itself has bound the name before the class reads it."""
        if any(binding.kind == "delete" for binding in bindings):
            return False
        statements = (self._statement_of_class(binding) for binding in bindings)
        return any(s is not None and (s.end_lineno or 0, s.end_col_offset or 0) <= _start(load) for s in statements)

    def _statement_of_class(self, binding: Binding) -> ast.stmt | None:
        """The statement that binds a name of a class whenever the class body goes past it."""
        node = binding.node
        while node.__class__ not in _STATEMENTS:
            node = self.parents[node]
        value = getattr(node, "value", None)
        binds = isinstance(node, _ALWAYS_BINDS) or (isinstance(node, ast.AnnAssign) and value is not None)
        return node if binds and self.parents[node] is binding.scope.node else None

    @cached_property
    def _reads(self) -> dict[str, dict[int, list[ast.Name]]]:
        """Names that are read, by name and by the identity of the list of bindings that they mean."""
        return {}

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that is or holds ``node``."""
        found = self._statements.around(node)
        return found if isinstance(found, ast.stmt) else None

    @cached_property
    def _statements(self) -> Innermost:
        return Innermost(self.parents, (ast.stmt,))

    def place(self, statement: ast.stmt) -> Place | None:
        """Where the statement stands; None for one that is in no block."""
        if statement not in self._places:
            around = self.parents.get(statement, self.module)
            for name in ("body", "orelse", "finalbody"):
                block = getattr(around, name, None)
                if isinstance(block, list):
                    self._places.update((one, (id(block), number)) for number, one in enumerate(block))
        return self._places.get(statement)

    @cached_property
    def _places(self) -> dict[ast.AST, Place]:
        return {}

    def statement_around(self, start: Position, end: Position) -> ast.stmt | ast.expr | None:
        """The innermost statement, or decorator, that reaches from ``start`` or before it to ``end`` or behind it."""
        starts, nodes = self._starts
        number = bisect_right(starts, start) - 1
        node: ast.AST | None = nodes[number] if number >= 0 else None
        while node is not None:  # what holds the place is or holds the last one that starts before it
            if isinstance(node, ast.stmt | ast.expr) and _start(node) <= start and _end(node) >= end:
                return node
            node = self.parents.get(node)
        return None

    @cached_property
    def _starts(self) -> tuple[list[Position], list[ast.stmt | ast.expr]]:
        """Where statements and decorators start, in order, and they themselves."""
        nodes = [node for one in self.statements for node in (one, *getattr(one, "decorator_list", ()))]
        nodes.sort(key=_start)
        return [_start(node) for node in nodes], nodes

    def calls_of(self, *names: str) -> list[ast.Call]:
        """Calls of functions and methods that are called by one of ``names`` where they are written."""
        return [call for name in sorted(names) for call in self.calls_by_name.get(name, ())]

    @cached_property
    def calls_by_name(self) -> dict[str, list[ast.Call]]:
        """Calls by the name, or the last part of the dotted name, that is written; all others are not among them."""
        found: defaultdict[str, list[ast.Call]] = defaultdict(list)
        for call in self.calls:
            function = call.func
            if isinstance(function, ast.Attribute):
                found[function.attr].append(call)
            elif isinstance(function, ast.Name):
                found[function.id].append(call)
        return dict(found)

    def method_calls(self, name: str) -> list[ast.Call]:
        """Calls of a method or function that is called ``name`` and is an attribute of something."""
        return [call for call in self.calls_of(name) if isinstance(call.func, ast.Attribute)]

    @cached_property
    def bound(self) -> frozenset[str]:
        """Names that any scope of this module binds."""
        return frozenset().union(*(scope.bindings for scope in self.own.values()))

    @cached_property
    def class_members(self) -> frozenset[str]:
        """Names that classes of this module bind: their methods and class attributes."""
        return frozenset(name for scope in self.own.values() if scope.kind == "class" for name in scope.bindings)

    @cached_property
    def stores_by_name(self) -> dict[str, list[AttributeStore]]:
        """Stores to attributes, by the attribute's name."""
        found: dict[str, list[AttributeStore]] = {}
        for store in self.stores:
            found.setdefault(store.target.attr, []).append(store)
        return found

    @cached_property
    def subscripts(self) -> list[ast.Subscript]:
        """Subscripts of names, attributes, calls and strings."""
        return [node for node in self.of_kind(ast.Subscript) if node.value in self.scopes]

    def of_kind(self, kind: type[_Node]) -> list[_Node]:
        """The nodes of one class, in the order in which the tree was read."""
        return self._by_kind.get(kind, [])  # type: ignore[return-value]

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """All statements, in the order in which the tree was read."""
        return [node for node in self.parents if node.__class__ in _STATEMENTS]

    @cached_property
    def _by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        found: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        for node in self.parents:
            found[node.__class__].append(node)
        return dict(found)

    @cached_property
    def in_fstrings(self) -> frozenset[ast.AST]:
        """All nodes of f-strings."""
        return frozenset(node for fstring in self.fstrings for node in ast.walk(fstring))

    def release(self) -> None:
        """Break the reference cycles of scopes and bindings, so that memory is freed at once."""
        for scope in self.own.values():
            scope.bindings.clear()
        self.__dict__.clear()


def _start(node: ast.expr | ast.stmt) -> Position:
    return node.lineno, node.col_offset


def _end(node: ast.expr | ast.stmt) -> Position:
    return node.end_lineno or node.lineno, node.end_col_offset or 0
