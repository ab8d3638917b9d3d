"""Attributes: members of modules, instances and classes, and what the module stores to them."""

from __future__ import annotations

import ast

from paddletorch.resolve.evaluator.classes import Classes
from paddletorch.resolve.evaluator.environment import Environment
from paddletorch.resolve.evaluator.operations import of_kind, state_dict_method, tensors
from paddletorch.resolve.evaluator.solver import Solver
from paddletorch.resolve.evaluator.type_expressions import TypeExpressions
from paddletorch.resolve.evaluator.variables import Variables
from paddletorch.resolve.scopes.bindings import AttributeStore, Binding, Scope
from paddletorch.resolve.scopes.class_families import ClassFamilies, Family
from paddletorch.resolve.values import (
    NOTHING,
    TENSOR,
    UNKNOWN,
    Instance,
    Local,
    Method,
    NoneValue,
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
        self.families = ClassFamilies(environment.tree)
        self._size: Values = of_kind("shape", "torch.Size") if environment.source == "torch" else NOTHING
        """What else than an object of no framework has in its ``shape``; of Paddle it is a list like any."""
        self._classes_of_self: dict[Binding, Scope | None] = {}
        """The class of the method whose first parameter this is."""

    def attribute(self, node: ast.Attribute) -> Values:
        """What the attribute can be: a member of the object, else what is stored to it."""
        objects = self._evaluate(node.value)
        local = frozenset(v for v in objects if isinstance(v, Instance) and v.node is not None)
        found, own = self.member(objects - local, node.attr), self.member(local, node.attr)
        if own - UNKNOWN or (found - UNKNOWN and not local):
            return found | own
        if found - UNKNOWN:  # of others; what objects of this module's classes keep is stored to them
            owners = self._owners(node, local)
            return found | self._solver.variable(
                ("attribute", owners, node.attr), lambda: self._stored(owners, node.attr)
            )
        found |= own
        owners = self._owners(node, objects)
        if node.attr not in self._stores and not self._class_bindings(owners, node.attr):
            inherited = self._inherited(owners, node.attr)
            return inherited or (found | self._size if node.attr == "shape" else found)
        return self._solver.variable(("attribute", owners, node.attr), lambda: self._stored(owners, node.attr))

    def of_class(self, node: ast.ClassDef, name: str) -> Values:
        """What objects of a class of this module keep under the name; nothing if no module shows it."""
        owners = self.families.of(self._environment.tree.own[node])
        if name in self._stores or self._class_bindings(owners, name):
            return self._solver.variable(("attribute", owners, name), lambda: self._stored(owners, name))
        return self._inherited(owners, name)

    def _inherited(self, owners: Family | None, name: str) -> Values:
        """What the classes of other modules that these derive from keep under the name."""
        nodes = (scope.node for scope in owners or ())
        made = (v for node in nodes if isinstance(node, ast.ClassDef) for v in self._classes.local_instance(node))
        bases = {v.external_class for v in made if isinstance(v, Instance)} - {""}
        return frozenset(v for base in bases for v in self._environment.external.attribute(base, name))

    def owners(self, node: ast.Attribute) -> Family | None:
        """The module's classes of which the object before the dot may be, with their families; None: of any class."""
        return self._owners(node, self._evaluate(node.value))

    def stores_of(self, name: str, owners: Family | None) -> list[AttributeStore]:
        """The stores to the attribute of objects of these classes, also from outside of their methods."""
        stores = self._stores.get(name, [])
        if owners is None or not stores:
            return stores
        return [store for store in stores if self._may_be_of(store, owners)]

    def _may_be_of(self, store: AttributeStore, owners: Family) -> bool:
        of_store = self.owners(store.target)
        return of_store is None or not of_store.isdisjoint(owners)

    def _owners(self, node: ast.Attribute, objects: Values) -> Family | None:
        around = self.class_of_self(node)
        if around is not None:
            return self.families.of(around)
        found: Family = frozenset()
        # the other module, which has the class, says what its objects keep
        of_another = any(isinstance(v, Instance) and v.external_class and v.node is None for v in objects)
        for value in objects:
            made = value.node if isinstance(value, Instance | Local) else None
            if isinstance(made, ast.ClassDef):
                found |= self.families.of(self._environment.tree.own[made])
            elif of_another:
                continue
            elif not isinstance(value, NoneValue) and not (isinstance(value, Instance) and value.type == TENSOR):
                return None
        return found if of_another else found or None

    def _class_bindings(self, owners: Family | None, name: str) -> list[Binding]:
        """What the bodies of the classes assign to the name."""
        scopes = owners or ()
        return [b for scope in scopes for b in scope.bindings.get(name, ()) if b.kind == "assign"]

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
            of_another = base.external_class if base.node is None else ""
            return (of_another and self._environment.external.attribute(of_another, name)) or UNKNOWN
        kind, made = known
        root = base.api.partition(".")[0]
        if root not in self._environment.roots:
            root = ""
        if kind == "attribute":
            return of_kind(made, f"{root}.{name}" if root else name)
        return frozenset({Method(base.type, name, made or "", root)})

    def _stored(self, owners: Family | None, name: str) -> Values:
        """What was stored to the attribute of an object of these classes; of any object, if its class is not known."""
        defaults = self._class_bindings(owners, name)
        found: Values = self._variables.bound(defaults) if defaults else NOTHING
        if any(binding.annotation is not None for binding in defaults):
            found |= UNKNOWN  # a constructor may be given it, as that of a data class is
        stores = self.stores_of(name, owners)
        if not stores and not defaults:
            return self._inherited(owners, name) or UNKNOWN
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
