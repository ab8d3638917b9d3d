"""Finds what expressions of one file can be: a light, demand-driven data-flow analysis.

It follows imports, value aliases, conditional expressions, containers, returns of local functions,
parameters from calls in the file, annotations and attributes. What it cannot follow is Unknown, never a
guess. Each variable (a binding, a function's result, an attribute) holds what is known of it so far;
whoever read it is looked at again when it changes, until nothing does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace

from paddletorch.resolve.bindings import AttributeStore, Binding, Scope
from paddletorch.resolve.calls import CallIndex, argument_of, is_method
from paddletorch.resolve.scopes import ScopeTree
from paddletorch.resolve.values import (
    NONE,
    NOTHING,
    UNKNOWN,
    Container,
    Instance,
    Local,
    Partial,
    Qualified,
    Unknown,
    Value,
    Values,
    container,
    elements,
)

MakesInstance = Callable[[str], str | None]
"""Says which tracked type a call of a qualified name makes, if any."""

_CHANGES = 30
"""How often a variable may change before it counts as unknown; real code settles in a few."""

_WRAPPERS = frozenset({"Optional", "Union", "Final", "ClassVar", "Annotated"})
_CONTAINERS = frozenset({"List", "Sequence", "Iterable", "list", "tuple", "set", "Tuple", "Set"})


class Evaluator:
    """Evaluates expressions of one module. Results are cached; recursion yields nothing, not Unknown."""

    def __init__(
        self, tree: ScopeTree, roots: Iterable[str], makes: MakesInstance, bare: Mapping[str, frozenset[str]]
    ) -> None:
        self.tree = tree
        self._roots = frozenset(roots)
        self._makes = makes
        self.bare = bare
        self._cache: dict[Hashable, Values] = {}
        self._state: dict[Hashable, Values] = {}
        self._rules: dict[Hashable, Callable[[], Values]] = {}
        self._readers: dict[Hashable, set[Hashable]] = {}
        self._changes: dict[Hashable, int] = {}
        self._queue: list[Hashable] = []
        self._current: Hashable = None
        self.calls = CallIndex(tree)
        self._stores_by_name: dict[str, list[AttributeStore]] | None = None

    # names by import alone -----------------------------------------------------------------------

    def imported_names(self, node: ast.expr) -> frozenset[str]:
        """Qualified names that imports alone give a name or attribute chain, as QualifiedNameProvider does."""
        if isinstance(node, ast.Attribute):
            return frozenset(f"{base}.{node.attr}" for base in self.imported_names(node.value))
        if isinstance(node, ast.Name):
            scope = self.tree.scopes.get(node)
            if scope is not None:
                return frozenset(b.qualified for b in scope.lookup(node.id) if b.qualified is not None)
        return frozenset()

    # values --------------------------------------------------------------------------------------

    def values(self, node: ast.expr) -> Values:
        """Everything ``node`` can be."""
        key: Hashable = node
        if isinstance(node, ast.Name) and (scope := self.tree.scopes.get(node)) is not None:
            key = id(scope.lookup(node.id)) if scope.lookup(node.id) else node.id
        if key not in self._cache:
            self._cache[key] = self._settled(lambda: self._evaluate(node))
        return self._cache[key]

    def bound(self, bindings: Iterable[Binding]) -> Values:
        """Everything a set of bindings can stand for."""
        found = list(bindings)
        return self._settled(lambda: self._bound(found))

    def _settled(self, evaluate: Callable[[], Values]) -> Values:
        """Evaluate until no variable that was read changes any more."""
        found = evaluate()
        while self._queue:
            self._settle()
            found = evaluate()
        return found

    def _settle(self) -> None:
        while self._queue:
            key = self._queue.pop()
            self._current = key
            found = self._rules[key]()
            self._current = None
            if found == self._state[key]:
                continue
            changes = self._changes[key] = self._changes.get(key, 0) + 1
            if changes > _CHANGES:
                found = UNKNOWN
                if self._state[key] == UNKNOWN:
                    continue
            self._state[key] = found
            self._queue += [r for r in self._readers.get(key, ()) if r not in self._queue]

    def _variable(self, key: Hashable, rule: Callable[[], Values]) -> Values:
        """What is known of a variable so far; it is queued when it is met for the first time."""
        if key not in self._state:
            self._state[key] = NOTHING
            self._rules[key] = rule
            self._queue.append(key)
        if self._current is not None:
            self._readers.setdefault(key, set()).add(self._current)
        return self._state[key]

    def _evaluate(self, node: ast.expr) -> Values:
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Constant):
            return NONE if node.value is None else UNKNOWN
        if isinstance(node, ast.IfExp):
            return self._evaluate(node.body) | self._evaluate(node.orelse)
        if isinstance(node, ast.BoolOp):
            return self._union(node.values)
        if isinstance(node, ast.NamedExpr):
            return self._evaluate(node.value)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return container(self._union(node.elts))
        if isinstance(node, ast.Dict):
            return container(self._union(node.values))
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return container(self._evaluate(node.elt))
        if isinstance(node, ast.DictComp):
            return container(self._evaluate(node.value))
        if isinstance(node, ast.Subscript):
            return elements(self._evaluate(node.value))
        if isinstance(node, ast.Lambda):
            return frozenset({Local(node)})
        return UNKNOWN

    def _union(self, nodes: Iterable[ast.expr]) -> Values:
        found: Values = NOTHING
        for node in nodes:
            found |= self._evaluate(node)
        return found

    def _name(self, node: ast.Name) -> Values:
        scope = self.tree.scopes.get(node)
        bindings = scope.lookup(node.id) if scope is not None else []
        if bindings:
            return self._bound(bindings)
        if node.id in self._roots:
            return frozenset({Qualified(node.id)})
        if node.id in self.bare:
            return frozenset(Qualified(name) for name in self.bare[node.id])
        return UNKNOWN

    def _bound(self, bindings: Iterable[Binding]) -> Values:
        found: Values = NOTHING
        for binding in bindings:
            found |= self._binding(binding)
        return found

    def _binding(self, binding: Binding) -> Values:
        if binding.qualified is not None:
            return frozenset({Qualified(binding.qualified)})
        if binding.kind in ("def", "class"):
            return frozenset({Local(binding.node)})
        if binding.kind == "delete":
            return NOTHING
        return self._variable(binding, lambda: self._bound_value(binding))

    def _bound_value(self, binding: Binding) -> Values:
        annotated = self._annotated(binding.annotation, binding.scope) if binding.annotation is not None else NOTHING
        if binding.kind == "parameter":
            return annotated or self._parameter(binding)
        if binding.kind == "assign":
            if binding.value is None:
                return annotated or (NOTHING if binding.annotation is not None else UNKNOWN)
            return self._evaluate(binding.value) | annotated
        if binding.kind == "iterate" and binding.value is not None:
            return elements(self._evaluate(binding.value))
        if binding.kind == "enter" and binding.value is not None:
            return UNKNOWN
        return UNKNOWN

    # attributes ----------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute) -> Values:
        found: Values = NOTHING
        for base in self._evaluate(node.value):
            if isinstance(base, Qualified):
                found |= {Qualified(f"{base.name}.{node.attr}")}
            elif isinstance(base, Local) and isinstance(base.node, ast.ClassDef):
                found |= self._class_attribute(base.node, node.attr)
            else:
                found |= UNKNOWN
        if found - UNKNOWN:
            return found
        stored = self._variable(("attribute", self._owner(node), node.attr), lambda: self._stored(node))
        return stored or found or UNKNOWN

    def _class_attribute(self, node: ast.ClassDef, name: str) -> Values:
        bindings = self.tree.own[node].bindings.get(name)
        return self._bound(bindings) if bindings else UNKNOWN

    def stores(self, name: str) -> list[AttributeStore]:
        """All stores to an attribute called ``name`` in the file."""
        if self._stores_by_name is None:
            self._stores_by_name = {}
            for store in self.tree.stores:
                self._stores_by_name.setdefault(store.target.attr, []).append(store)
        return self._stores_by_name.get(name, [])

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
        return found

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

    # calls ---------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Values:
        found: Values = NOTHING
        for callee in self._evaluate(node.func):
            found |= self._called(callee, node)
        if isinstance(node.func, ast.Attribute) and not found - UNKNOWN:
            held = self._elements_method(node)
            if held:
                return held
        return found or UNKNOWN

    def _called(self, callee: Value, node: ast.Call) -> Values:
        if isinstance(callee, Qualified):
            if callee.name in ("functools.partial", "partial") and node.args:
                return frozenset(
                    Partial(v.name) if isinstance(v, Qualified) else Unknown() for v in self._evaluate(node.args[0])
                )
            made = self._makes(callee.name)
            return frozenset({Instance(made, callee.name)}) if made else UNKNOWN
        if isinstance(callee, Partial):
            made = self._makes(callee.name)
            return frozenset({Instance(made, callee.name)}) if made else UNKNOWN
        if isinstance(callee, Local):
            return self._local_call(callee.node)
        return UNKNOWN

    def _local_call(self, node: ast.AST) -> Values:
        if isinstance(node, ast.ClassDef):
            return self._local_instance(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.decorator_list:
            return UNKNOWN
        scope = self.tree.own.get(node)
        if scope is None or not scope.returns:
            return UNKNOWN
        return self._variable(node, lambda: self._returned(scope))

    def _returned(self, scope: Scope) -> Values:
        found: Values = NOTHING
        for value in scope.returns:
            found |= UNKNOWN if value is None else self._evaluate(value)
        return found

    def _local_instance(self, node: ast.ClassDef) -> Values:
        own = frozenset(s.name for s in node.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef))
        for base in node.bases:
            for value in self._evaluate(base):
                made = self._makes(value.name) if isinstance(value, Qualified) else None
                if made and isinstance(value, Qualified):
                    return frozenset({Instance(made, value.name, own)})
                if isinstance(value, Local) and isinstance(value.node, ast.ClassDef) and value.node is not node:
                    inherited = self._local_instance(value.node)
                    if inherited - UNKNOWN:
                        return frozenset(
                            replace(v, overrides=v.overrides | own) if isinstance(v, Instance) else v for v in inherited
                        )
        plain = all(isinstance(v, Local) for base in node.bases for v in self._evaluate(base))
        return frozenset({Instance("", node.name, own)}) if plain or not node.bases else UNKNOWN

    def _elements_method(self, node: ast.Call) -> Values:
        """``d.values()``, ``d.get(k)`` and the like over a container that is known."""
        assert isinstance(node.func, ast.Attribute)
        containers = [v for v in self._evaluate(node.func.value) if isinstance(v, Container)]
        held: Values = NOTHING
        for found in containers:
            held |= found.elements
        if not containers:
            return NOTHING
        if node.func.attr in ("get", "pop"):
            return held
        return container(held) if node.func.attr in ("values", "copy") else NOTHING

    # parameters ----------------------------------------------------------------------------------

    def _parameter(self, binding: Binding) -> Values:
        found: Values = NOTHING
        function = binding.scope.node
        if binding.value is not None:
            found |= self._evaluate(binding.value) - UNKNOWN
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for call in self.calls.of(function):
                argument = argument_of(call, function, binding.name, is_method(binding.scope))
                if argument is not None:
                    found |= self._evaluate(argument)
        return found or UNKNOWN

    # annotations ---------------------------------------------------------------------------------

    def _annotated(self, annotation: ast.expr | None, scope: Scope) -> Values:
        """Instances that an annotation promises; nothing if it names no tracked type."""
        if annotation is None:
            return NOTHING
        if isinstance(annotation, ast.Constant) and annotation in self.tree.quoted:
            return self._annotated(self.tree.quoted[annotation], scope)
        if isinstance(annotation, ast.BinOp):
            return self._annotated(annotation.left, scope) | self._annotated(annotation.right, scope)
        if isinstance(annotation, ast.Constant) and annotation.value is None:
            return NOTHING
        if isinstance(annotation, ast.Subscript):
            return self._generic(annotation, scope)
        found: Values = NOTHING
        if isinstance(annotation, ast.Name | ast.Attribute):
            for value in self._evaluate(annotation):
                made = self._makes(value.name) if isinstance(value, Qualified) else None
                if made and isinstance(value, Qualified):
                    found |= {Instance(made, value.name)}
                elif isinstance(value, Local) and isinstance(value.node, ast.ClassDef):
                    found |= self._local_instance(value.node) - UNKNOWN
        return found

    def _generic(self, annotation: ast.Subscript, scope: Scope) -> Values:
        base = annotation.value
        name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
        inner = annotation.slice
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        found: Values = NOTHING
        for part in parts:
            found |= self._annotated(part, scope)
        if not found or name not in _WRAPPERS | _CONTAINERS:
            return NOTHING
        return found if name in _WRAPPERS else container(found)
