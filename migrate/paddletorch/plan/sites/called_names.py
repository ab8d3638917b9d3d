"""Which calls may be of functions with given names, by the names alone: a question to ask before those about values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from paddletorch.plan.model.view import FileView
from paddletorch.plan.sites.aliases import names_that_may_hold


class CalledNames:
    """The names under which one file may call a function: its own, that of an import, and those of variables."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._spellings: dict[frozenset[str], frozenset[str]] = {}

    def may_call(self, function: ast.expr, names: frozenset[str]) -> bool:
        """Whether the expression that is called may be a function or method with one of ``names`` at its end."""
        spellings = self._spellings.get(names)
        if spellings is None:
            spellings = self._spellings[names] = self._spellings_of(names)
        if isinstance(function, ast.Attribute):
            return function.attr in spellings
        return isinstance(function, ast.Name) and function.id in spellings

    def _spellings_of(self, names: frozenset[str]) -> frozenset[str]:
        written = names.union(*(found for name, found in self._imports.items() if name in names))
        stored = list(self._stored(written))
        return written | names_that_may_hold(self._view, stored) if stored else written

    def _stored(self, written: frozenset[str]) -> Iterator[ast.expr]:
        """Expressions with one of the names that are not called, and what ``getattr`` gives."""
        tree = self._view.tree
        for name in written:
            for node in (*tree.names.get(name, ()), *tree.members.get(name, ())):
                parent = tree.parents.get(node)
                if not (isinstance(parent, ast.Call) and parent.func is node):
                    yield node
        for node in tree.names.get("getattr", ()):
            parent = tree.parents.get(node)
            if isinstance(parent, ast.Call):
                yield parent

    @cached_property
    def _imports(self) -> dict[str, set[str]]:
        """The names that imports bind, by the last part of what they import."""
        tree = self._view.tree
        found: dict[str, set[str]] = {}
        for scope in tree.own.values():
            for name in tree.imported & scope.bindings.keys():
                for binding in scope.bindings[name]:
                    if binding.qualified is not None:
                        found.setdefault(binding.qualified.rpartition(".")[2], set()).add(name)
        return found
