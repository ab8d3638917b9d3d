"""Which stores and reads of an attribute are of one object: those of a class and of the classes related to it."""

from __future__ import annotations

import ast
from collections.abc import Hashable

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Scope


def attribute_key(view: FileView, name: str, scope: Scope | None) -> Hashable:
    """The key of an attribute in a class's scope; one key for the file where other objects' attributes are read too."""
    family = view.provide(_Families).of(name, scope)
    return ("attribute", name) if family is None else ("attribute", name, family)


def self_scope(view: FileView, node: ast.Attribute) -> Scope | None:
    """The class whose object ``self.name`` is of; None for an attribute of anything else."""
    if not isinstance(node.value, ast.Name) or node.value.id != "self":
        return None
    scope = view.tree.scopes.get(node.value)
    return None if scope is None else scope.enclosing_class()


def is_set_on_self(view: FileView, node: ast.Attribute) -> bool:
    """Whether ``self.type`` is what its class has set, and not the method that it inherits by this name."""
    if self_scope(view, node) is None:
        return False
    return any(self_scope(view, store.target) is not None for store in view.evaluator.stores_of(node))


class _Families:
    """Classes of a file that derive from one another, and the attributes that only their own methods name."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        classes = {n.name: n for n, s in view.tree.own.items() if s.kind == "class" and isinstance(n, ast.ClassDef)}
        self._unclear = len(classes) < sum(scope.kind == "class" for scope in view.tree.own.values())
        self._first = {name: name for name in classes}
        for name, node in classes.items():
            for base in node.bases:
                if isinstance(base, ast.Name) and base.id in classes:
                    self._first[self._root(name)] = self._root(base.id)
        self._own: dict[str, bool] = {}

    def _root(self, name: str) -> str:
        while self._first[name] != name:
            name = self._first[name]
        return name

    def of(self, name: str, scope: Scope | None) -> str | None:
        """The family of a class; None if the file also names the attribute of other objects."""
        if scope is None or self._unclear or not isinstance(scope.node, ast.ClassDef):
            return None
        if name not in self._own:
            members = [*self._view.tree.members.get(name, ())]
            self._own[name] = all(self_scope(self._view, member) is not None for member in members)
        return self._root(scope.node.name) if self._own[name] else None
