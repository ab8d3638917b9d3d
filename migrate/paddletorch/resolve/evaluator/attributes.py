"""Attributes: members of modules, instances and classes, and what the module stores to them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from paddletorch.resolve.evaluator.classes import Classes
from paddletorch.resolve.evaluator.environment import Environment
from paddletorch.resolve.evaluator.operations import of_kind, state_dict_method, tensors
from paddletorch.resolve.evaluator.solver import Solver
from paddletorch.resolve.evaluator.type_expressions import TypeExpressions
from paddletorch.resolve.evaluator.variables import Variables
from paddletorch.resolve.scopes.bindings import AttributeStore, Binding, Scope
from paddletorch.resolve.values import (
    NOTHING,
    TENSOR,
    UNKNOWN,
    Instance,
    Local,
    Method,
    OpaqueFunction,
    Qualified,
    Value,
    Values,
    container,
    foreign,
    qualified,
)

_NUMBERS_OF_ARRAYS = frozenset({"shape", "strides", "ndim", "size", "itemsize", "nbytes"})
"""Attributes of NumPy's arrays that are integers, or tuples of them."""


class Attributes:
    """What ``x.name`` can be."""

    def __init__(
        self,
        environment: Environment,
        solver: Solver[Value],
        classes: Classes,
        types: TypeExpressions,
        variables: Variables,
    ) -> None:
        self._environment = environment
        self._solver = solver
        self._evaluate = solver.evaluate
        self._classes = classes
        self._types = types
        self._variables = variables
        self._stores = environment.tree.stores_by_name
        self._by_owner: dict[str, dict[Scope | None, list[AttributeStore]]] = {}
        self._classes_of_self: dict[Binding, Scope | None] = {}
        """The class of the method whose first parameter this is."""

    def attribute(self, node: ast.Attribute) -> Values:
        """What the attribute can be: a member of the object, else what is stored to it."""
        found = self.member(self._evaluate(node.value), node.attr)
        if found - UNKNOWN:
            return found
        owner = self.class_of_self(node)
        if node.attr not in self._stores and (owner is None or node.attr not in owner.bindings):
            return found
        return self._solver.variable(("attribute", owner, node.attr), lambda: self._stored(node))

    def member(self, objects: Values, name: str) -> Values:
        """The member ``name`` of any of ``objects``."""
        found: Values = NOTHING
        for base in objects:
            if isinstance(base, Qualified):
                found |= self._qualified(base, name)
            elif isinstance(base, Instance):
                found |= self._member_of_instance(base, name)
            elif isinstance(base, Local) and isinstance(base.node, ast.ClassDef):
                bindings = self._environment.tree.own[base.node].bindings.get(name)
                found |= self._variables.bound(bindings) if bindings else UNKNOWN
            else:
                found |= UNKNOWN
        return found

    def _qualified(self, base: Qualified, name: str) -> Values:
        kind = self._environment.types.constant(base.name)
        if kind:
            return self._member_of_instance(Instance(kind, base.name), name)
        external = self._environment.external.object(base.name)
        return self.member(external, name) if external - UNKNOWN else qualified(f"{base.name}.{name}")

    def _member_of_instance(self, base: Instance, name: str) -> Values:
        method = self._classes.method(base, name)
        if method:
            return method
        if base.type == "foreign":
            if base.api.startswith("numpy.") and name in _NUMBERS_OF_ARRAYS:
                return container(foreign("int")) if name in ("shape", "strides") else foreign("int")
            result = state_dict_method(name) if base.api.endswith("state_dict") else NOTHING
            return frozenset({OpaqueFunction(result)}) if result else frozenset({base})
        if base.holds is not None and name in base.holds.names:
            return base.holds.parts[base.holds.names.index(name)]
        known = self._environment.types.member(base.type, name)
        if known is None:
            return UNKNOWN
        kind, made = known
        root = base.api.partition(".")[0]
        if root not in self._environment.roots:
            root = ""
        if kind == "attribute":
            return of_kind(made, f"{root}.{name}" if root else name)
        return frozenset({Method(base.type, name, made or "", root)})

    def _stored(self, node: ast.Attribute) -> Values:
        """What was stored to the attribute: for ``self.x`` in its class, else by the attribute's name."""
        stores = self._stores.get(node.attr, [])
        found: Values = NOTHING
        owner = self.class_of_self(node)
        if owner is not None:
            by_owner = self._stores_by_owner(node.attr)
            in_class = [*by_owner.get(owner, ()), *by_owner.get(None, ())]
            has_default = any(b.kind == "assign" for b in owner.bindings.get(node.attr, ()))
            stores = in_class or ([] if has_default else stores)
            if has_default:
                found |= self._variables.bound(owner.bindings[node.attr])
        for store in stores:
            if store.annotation is not None:
                found |= self._types.annotated(store.annotation, store.scope)
            if store.value is not None:
                given = self._evaluate(store.value)
                found |= self._as_tensor(store, given) if store.registered else given
            elif isinstance(augmented := self._environment.tree.parents.get(store.target), ast.AugAssign):
                found |= tensors(self._evaluate(augmented.value))  # another operand leaves the type as it is
            elif store.annotation is None:
                found |= UNKNOWN
        return found if found or any(store.value is not None for store in stores) else UNKNOWN

    def _as_tensor(self, store: AttributeStore, given: Values) -> Values:
        """What a module is given as a buffer: a tensor of its framework where nothing else shows what it is."""
        if not given & UNKNOWN:
            return given
        modules = (v for v in self._evaluate(store.target.value) if isinstance(v, Instance))
        roots = {root for module in modules if (root := module.api.partition(".")[0]) in self._environment.roots}
        return (given - UNKNOWN) | {Instance(TENSOR, f"{root}.Tensor") for root in roots} if roots else given

    def _stores_by_owner(self, name: str) -> Mapping[Scope | None, Sequence[AttributeStore]]:
        """The stores to attributes called ``name``, by the class in whose method ``self.name`` is."""
        found = self._by_owner.get(name)
        if found is None:
            found = self._by_owner[name] = {}
            for store in self._stores.get(name, ()):
                found.setdefault(self.class_of_self(store.target), []).append(store)
        return found

    def class_of_self(self, node: ast.Attribute) -> Scope | None:
        """The class scope if ``node`` is ``self.x`` or ``cls.x`` of a method."""
        base = node.value
        if not isinstance(base, ast.Name):
            return None
        scope = self._environment.tree.scopes.get(base)
        bindings = scope.lookup(base.id) if scope is not None else []
        if len(bindings) != 1 or bindings[0].kind != "parameter":
            return None
        binding = bindings[0]
        if binding not in self._classes_of_self:
            self._classes_of_self[binding] = _class_of_first(binding)
        return self._classes_of_self[binding]


def _class_of_first(parameter: Binding) -> Scope | None:
    """The class scope if the parameter is the first one of a method."""
    function = parameter.scope
    arguments = getattr(function.node, "args", None)
    first = next(iter([*arguments.posonlyargs, *arguments.args]), None) if arguments else None
    if first is parameter.node and function.parent is not None and function.parent.kind == "class":
        return function.parent
    return None
