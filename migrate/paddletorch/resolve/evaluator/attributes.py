"""Attributes: members of modules, instances and classes, and what the file stores to them."""

from __future__ import annotations

import ast
from functools import cached_property

from paddletorch.resolve.evaluator.annotations import StatedTypes
from paddletorch.resolve.evaluator.expressions import plain
from paddletorch.resolve.evaluator.facts import imported, result_of
from paddletorch.resolve.scopes.bindings import AttributeStore, Scope
from paddletorch.resolve.values import (
    NOTHING,
    UNKNOWN,
    Instance,
    Local,
    Method,
    Qualified,
    Returning,
    Values,
    container,
    tuple_of,
)


class Attributes(StatedTypes):
    """What ``x.name`` can be."""

    def stores(self, name: str) -> list[AttributeStore]:
        """All stores to an attribute called ``name`` in the file."""
        return self._stored_names.get(name, [])

    def _attribute(self, node: ast.Attribute) -> Values:
        found = self._member_of(self._evaluate(node.value), node.attr)
        if found - UNKNOWN:
            return found
        owner = self._owner(node)
        if node.attr not in self._stored_names and (owner is None or node.attr not in owner.bindings):
            return found
        return self._variable(("attribute", owner, node.attr), lambda: self._stored(node))

    def _member_of(self, bases: Values, name: str) -> Values:
        found: Values = NOTHING
        for base in bases:
            if isinstance(base, Qualified):
                found |= self._qualified(base, name)
            elif isinstance(base, Instance):
                found |= self._member(base, name)
            elif isinstance(base, Local) and isinstance(base.node, ast.ClassDef):
                found |= self._class_attribute(base.node, name)
            else:
                found |= UNKNOWN
        return found

    def _qualified(self, base: Qualified, name: str) -> Values:
        kind = self._types.constant(base.name)
        if kind:
            return self._member(Instance(kind, base.name), name)
        held = self._outside.held(base.name) if self._outside is not None else NOTHING
        return self._member_of(held, name) if held - UNKNOWN else imported(f"{base.name}.{name}")

    def _member(self, base: Instance, name: str) -> Values:
        own = self._own_member(base, name)
        if own:
            return own
        if base.type == "foreign":
            given = _of_state(name) if base.api.endswith("state_dict") else NOTHING
            return frozenset({Returning(given)}) if given else frozenset({base})
        known = self._types.member(base.type, name)
        if known is None:
            return UNKNOWN
        kind, made = known
        if kind == "attribute":
            root = self._root(base)
            return result_of(made, f"{root}.{name}" if root else name)
        return frozenset({Method(base.type, name, made or "", self._root(base))})

    def _root(self, instance: Instance) -> str:
        root = instance.api.partition(".")[0]
        return root if root in self._roots else ""

    def _class_attribute(self, node: ast.ClassDef, name: str) -> Values:
        bindings = self.tree.own[node].bindings.get(name)
        return self._bound(bindings) if bindings else UNKNOWN

    @cached_property
    def _stored_names(self) -> dict[str, list[AttributeStore]]:
        found: dict[str, list[AttributeStore]] = {}
        for store in self.tree.stores:
            found.setdefault(store.target.attr, []).append(store)
        return found

    def _stored(self, node: ast.Attribute) -> Values:
        """What was stored to the attribute: for ``self.x`` in its class, else by the attribute's name."""
        stores = self.stores(node.attr)
        found: Values = NOTHING
        owner = self._owner(node)
        if owner is not None:
            same = [store for store in stores if self._owner(store.target) in (owner, None)]
            stores = same or ([] if self._class_binds(owner, node.attr) else stores)
            if self._class_binds(owner, node.attr):
                found |= self._bound(owner.bindings[node.attr])
        for store in stores:
            if store.annotation is not None:
                found |= self._annotated(store.annotation, store.scope)
            if store.value is not None:
                found |= self._evaluate(store.value)
            elif store.annotation is None:
                found |= UNKNOWN
        return found if found or any(store.value is not None for store in stores) else UNKNOWN

    @staticmethod
    def _class_binds(owner: Scope, name: str) -> bool:
        return any(b.kind == "assign" for b in owner.bindings.get(name, ()))

    def _owner(self, node: ast.Attribute) -> Scope | None:
        """The class scope if ``node`` is ``self.x`` or ``cls.x`` of a method."""
        base = node.value
        if not isinstance(base, ast.Name):
            return None
        scope = self.tree.scopes.get(base)
        bindings = scope.lookup(base.id) if scope is not None else []
        if len(bindings) != 1 or bindings[0].kind != "parameter":
            return None
        function = bindings[0].scope
        arguments = getattr(function.node, "args", None)
        first = next(iter([*arguments.posonlyargs, *arguments.args]), None) if arguments else None
        if first is bindings[0].node and function.parent is not None and function.parent.kind == "class":
            return function.parent
        return None


def _of_state(method: str) -> Values:
    """What a dict of tensors, numbers and more dicts gives: its own methods are a dict's."""
    if method == "items":
        return container(tuple_of([plain("str"), UNKNOWN]))
    if method == "values":
        return container(UNKNOWN)
    return UNKNOWN if method in ("get", "pop", "setdefault") else NOTHING
