"""Finds what expressions of one module can be: a light, demand-driven data-flow analysis.

It follows imports, aliases, conditional expressions, containers, results of local functions, parameters by the
calls in the module, annotations and attributes. What it cannot follow is Unknown, never a guess.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from paddletorch.model import NO_EVIDENCE, Evidence, Framework
from paddletorch.model.time_limit import TimeLimit
from paddletorch.resolve.evaluator.attributes import Attributes
from paddletorch.resolve.evaluator.call_index import CallIndex
from paddletorch.resolve.evaluator.call_results import CallResults
from paddletorch.resolve.evaluator.classes import Classes
from paddletorch.resolve.evaluator.environment import Environment
from paddletorch.resolve.evaluator.narrowing import TypeChecks
from paddletorch.resolve.evaluator.operations import (
    STRING,
    arithmetic,
    comparison,
    element,
    joined_path,
    literal_index,
    named_element,
    names_device,
    of_kind,
    sliced,
)
from paddletorch.resolve.evaluator.protocols import Aspect, ExternalModules, NoModules, Types
from paddletorch.resolve.evaluator.recorded_values import RecordedValues
from paddletorch.resolve.evaluator.solver import Solver
from paddletorch.resolve.evaluator.tensor_calls import TensorUses
from paddletorch.resolve.evaluator.type_expressions import TypeExpressions
from paddletorch.resolve.evaluator.variables import Arguments, Variables
from paddletorch.resolve.scopes.bindings import AttributeStore, Binding
from paddletorch.resolve.scopes.class_families import Family
from paddletorch.resolve.scopes.public_modules import is_public
from paddletorch.resolve.scopes.reaching import ReachingDefinitions
from paddletorch.resolve.scopes.scopes import ScopeTree
from paddletorch.resolve.values import (
    NONE,
    NOTHING,
    UNKNOWN,
    Instance,
    Local,
    Qualified,
    Value,
    Values,
    container,
    foreign,
    qualified,
    tuple_of,
)


class Evaluator:
    """Answers what expressions and bindings of one module can be; every answer is computed once."""

    def __init__(
        self,
        tree: ScopeTree,
        frameworks: Sequence[Framework],
        types: Types,
        bare: Mapping[str, frozenset[str]],
        external: ExternalModules | None = None,
        *,
        closed_world: bool = True,
        limit: TimeLimit | None = None,
        evidence: Evidence = NO_EVIDENCE,
    ) -> None:
        """``frameworks``: the one that the module is written for, and the other one.

        ``bare``: APIs by names that no import of the module binds. ``closed_world``: see ``Environment``.
        ``limit``: the time that may be taken; a question that comes after it raises OutOfTime.
        ``evidence``: what was seen of this module as it ran.
        """
        self.tree = tree
        self.bare = bare
        self.calls = CallIndex(tree)
        self._external = external if external is not None else NoModules()
        self._frameworks = frozenset[str](frameworks)
        environment = Environment(tree, frameworks[0], self._frameworks, types, self._external, closed_world)
        self._imported: dict[int, frozenset[str]] = {}
        """Names that are imported, by the identity of a list of bindings."""
        self.limit = limit if limit is not None else TimeLimit()
        self._is_recorded = bool(evidence.seen)
        if self._is_recorded:
            self._solver = Solver[Value]({}, UNKNOWN, self._recorded, self.limit)
        else:
            rules = {kind: rule.__get__(self) for kind, rule in _RULES.items()}
            self._solver = Solver(rules, UNKNOWN, limit=self.limit)
        self._evaluate = self._solver.evaluate
        self._known = self._solver.final_expressions
        stars = ("." * star.level + (star.module or "") for star in tree.stars)
        self._starred = tuple(dict.fromkeys(stars)) if external is not None else ()
        """Other modules of which this one imports all names."""
        self._reaching = ReachingDefinitions(tree)
        self._checks = TypeChecks(tree)
        self._classes = Classes(environment, self._solver)
        self._types = TypeExpressions(environment, self._solver, self._classes)
        uses = TensorUses(tree, frameworks[0], self._reaching)
        self._variables = Variables(environment, self._solver, self._classes, self._types, self.calls, uses)
        self._attributes = Attributes(environment, self._solver, self._classes, self._types, self._variables)
        self.families = self._attributes.families
        self._results = CallResults(environment, self._solver, self._classes, self._types)
        self._seen = RecordedValues(environment, self._classes, self._reaching, evidence)

    def release(self) -> None:
        """Break the reference cycles, so that memory is freed at once; nothing can be evaluated afterwards."""
        self._solver.release()
        self.__dict__.clear()

    # questions about this module ---------------------------------------------------------------------

    def values(self, node: ast.expr) -> Values:
        """Everything ``node`` can be."""
        found = self._known.get(node)
        if found:
            return found
        self.limit.check()
        found = self._solver.solved(node)
        return self._seen.refined(node, found) if found == UNKNOWN and self._is_recorded else found

    def bound(self, bindings: Sequence[Binding]) -> Values:
        """Everything that any of ``bindings`` binds."""
        return self._solver.solve(lambda: self._variables.bound(bindings))

    def objects(self, node: ast.expr) -> Values:
        """As ``values``, with names from other modules of the project replaced by the objects that they name."""
        found = self.values(node)
        for value in found:
            if isinstance(value, Qualified):
                return self._solver.solve(lambda: self._objects(found))
        return found

    def reaching(self, node: ast.Name) -> Collection[Binding]:
        """The bindings that can reach the name; none if this module does not bind it."""
        scope = self.tree.scopes.get(node)
        bindings: Sequence[Binding] = scope.lookup(node.id) if scope is not None else ()
        return self._reaching.of(node, bindings) if len(bindings) > 1 else bindings

    def arguments(self, parameter: Binding) -> Arguments:
        """What the calls in this module pass to a parameter of a function or lambda."""
        function = parameter.scope.node
        assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        return self._variables.arguments(parameter, function)

    def method(self, instance: Instance, name: str) -> Values:
        """A method that a class of the project defines; nothing if none does."""
        return self._solver.solve(lambda: self._classes.method(instance, name)) - UNKNOWN

    def class_of_self(self, node: ast.Attribute) -> ast.ClassDef | None:
        """The class around ``self.x`` in one of its methods; None for attributes of other objects."""
        scope = self._attributes.class_of_self(node)
        return scope.node if scope is not None and isinstance(scope.node, ast.ClassDef) else None

    def stores(self, name: str) -> list[AttributeStore]:
        """All stores to an attribute called ``name`` in the module."""
        return self.tree.stores_by_name.get(name, [])

    def stores_of(self, node: ast.Attribute) -> list[AttributeStore]:
        """The stores that give this attribute its value; of objects of any class, where that of this one is unknown."""
        return self._attributes.stores_of(node.attr, self._owners(node))

    def same_attribute(self, node: ast.Attribute) -> list[ast.Attribute]:
        """Where the module reads or sets what may be the same attribute, in the methods of a class and elsewhere."""
        own = self._owners(node)
        found = self.tree.members.get(node.attr, [])
        if own is None:
            return found
        owners = ((one, self._owners(one)) for one in found)
        return [one for one, others in owners if others is None or not others.isdisjoint(own)]

    def _owners(self, node: ast.Attribute) -> Family | None:
        self.values(node.value)
        return self._attributes.owners(node)

    def imported_names(self, node: ast.expr) -> frozenset[str]:
        """Qualified names that imports alone give a name or attribute chain, as QualifiedNameProvider does."""
        if isinstance(node, ast.Attribute):
            return frozenset(f"{base}.{node.attr}" for base in self.imported_names(node.value))
        if isinstance(node, ast.Name):
            scope = self.tree.scopes.get(node)
            bindings = scope.lookup(node.id) if scope is not None else []
            found = self._imported.get(id(bindings)) if bindings else frozenset()
            if found is None:
                found = frozenset(b.qualified for b in bindings if b.qualified is not None)
                self._imported[id(bindings)] = found
            return found
        return frozenset()

    def holds(self, package: str) -> bool:
        """Whether a top-level package or module of this name is the project's own."""
        return self._external.holds(package)

    def ancestors(self, name: str) -> frozenset[str] | None:
        """The frameworks' names of what an imported class may inherit its constructor from; None: of anything."""
        return None if self._is_recorded else self._external.ancestors(name)

    def reexported(self, names: Iterable[str]) -> frozenset[str]:
        """The framework's names behind ``names`` that other modules of the project import and export again."""
        found = (v for name in names for v in self._external.apis(name))
        return frozenset(v.name for v in found if isinstance(v, Qualified))

    # questions of other modules about this one -------------------------------------------------------

    def exported(self, bindings: Sequence[Binding], members: Sequence[str], aspect: Aspect) -> Values:
        """``aspect`` of a top-level name, or of a member of it."""
        return self._solver.solve(lambda: self._exported(bindings, members, aspect))

    def method_result(self, class_name: str, name: str) -> Values:
        """What calling the method of a top-level class gives; nothing if the class does not define it."""
        node = self._top_class(class_name)
        return NOTHING if node is None else self._solver.solve(lambda: self._method_result(node, name))

    def attribute_result(self, class_name: str, name: str) -> Values:
        """What objects of a top-level class keep under the name; nothing if the module does not show it."""
        node = self._top_class(class_name)
        return NOTHING if node is None else self._solver.solve(lambda: self._attributes.of_class(node, name))

    def _top_class(self, name: str) -> ast.ClassDef | None:
        nodes = [b.node for b in self.tree.scope.bindings.get(name, ()) if isinstance(b.node, ast.ClassDef)]
        return nodes[-1] if nodes else None

    def _exported(self, bindings: Sequence[Binding], members: Sequence[str], aspect: Aspect) -> Values:
        values = self._variables.bound(bindings)
        for member in members:
            values = self._attributes.member(values, member)
        if aspect == "object":
            return self._objects(values)
        if aspect == "apis":
            names = [v.name for v in values if isinstance(v, Qualified)]
            own = frozenset(n for n in names if n.partition(".")[0] in self._frameworks)
            return frozenset(map(Qualified, own | self.reexported(n for n in names if n not in own)))
        found: Values = NOTHING
        for value in values:
            found |= self._results.called(value, None) if aspect == "call" else self._classes.instance_of(value)
        return found

    def _method_result(self, node: ast.ClassDef, name: str) -> Values:
        for instance in self._classes.local_instance(node):
            if isinstance(instance, Instance) and (methods := self._classes.method(instance, name)):
                return frozenset(v for method in methods for v in self._results.called(method, None))
        return NOTHING

    def _objects(self, values: Iterable[Value]) -> Values:
        found: Values = NOTHING
        for value in values:
            external = self._external.object(value.name) if isinstance(value, Qualified) else NOTHING
            found |= external or {value}
        return found

    # expressions -------------------------------------------------------------------------------------

    def _compute(self, node: ast.expr) -> Values:
        rule = _RULES.get(node.__class__)
        return rule(self, node) if rule is not None else UNKNOWN

    def _recorded(self, node: ast.expr) -> Values:
        return self._seen.refined(node, self._compute(node))

    def _name(self, node: ast.Name) -> Values:
        scope = self.tree.scopes.get(node)
        bindings: Sequence[Binding] = scope.lookup(node.id) if scope is not None else ()
        if bindings:
            reaching = self._reaching.of(node, bindings).parts() if len(bindings) > 1 else bindings
            found = self._variables.bound(reaching)
            types = self._checks.types_of_name(node, bindings) if id(bindings) in self._checks.checked_names else None
            return found if types is None else self._types.narrowed(found, types)
        if node.id in self._frameworks:
            return qualified(node.id)
        if node.id in self.bare:
            return frozenset(Qualified(name) for name in self.bare[node.id])
        return self._star_imported(node.id) or UNKNOWN

    def star_may_bind(self, name: str) -> bool:
        """Whether an ``import *`` of another module than the frameworks' and Python's own may bind the name."""
        modules = ("." * star.level + (star.module or "") for star in self.tree.stars)
        return any(not is_public(module) and self._external.star_may_bind(module, name) for module in modules)

    def _star_imported(self, name: str) -> Values:
        """The name as ``from ... import *`` of another module of the project binds it."""
        for prefix in self._starred:
            full_name = prefix + name if prefix.endswith(".") else f"{prefix}.{name}"
            if self._external.defines(full_name):
                return qualified(full_name)
        return NOTHING

    def _attribute(self, node: ast.Attribute) -> Values:
        found = self._attributes.attribute(node)
        types = self._checks.types_of_attribute(node) if node.attr in self._checks.checked_members else None
        return found if types is None else self._types.narrowed(found, types)

    def _call(self, node: ast.Call) -> Values:
        return self._results.call(node)

    def _constant(self, node: ast.Constant) -> Values:
        return NONE if node.value is None else foreign(type(node.value).__name__)

    def _string(self, _node: ast.JoinedStr) -> Values:
        return foreign("str")

    def _lambda(self, node: ast.Lambda) -> Values:
        return frozenset({Local(node)})

    def _either(self, node: ast.IfExp) -> Values:
        return self._evaluate(node.body) | self._evaluate(node.orelse)

    def _any(self, node: ast.BoolOp) -> Values:
        return self._solver.union(node.values)

    def _binary(self, node: ast.BinOp) -> Values:
        operands = [self._evaluate(node.left), self._evaluate(node.right)]
        return joined_path(operands) if isinstance(node.op, ast.Div) and STRING in operands else arithmetic(operands)

    def _unary(self, node: ast.UnaryOp) -> Values:
        return foreign("bool") if isinstance(node.op, ast.Not) else arithmetic([self._evaluate(node.operand)])

    def _compare(self, node: ast.Compare) -> Values:
        return comparison(node, [self._evaluate(n) for n in (node.left, *node.comparators)])

    def _subscript(self, node: ast.Subscript) -> Values:
        values = self._evaluate(node.value)
        if isinstance(node.slice, ast.Slice):
            return of_kind("device", "paddle.Tensor.place") if names_device(node) else sliced(values)
        if any(isinstance(v, Instance) and v.api.endswith("state_dict") and v.type == "foreign" for v in values):
            return UNKNOWN
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return named_element(values, node.slice.value)
        return element(values, literal_index(node.slice))

    def _display(self, node: ast.List | ast.Tuple | ast.Set) -> Values:
        if isinstance(node, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in node.elts):
            return tuple_of([self._evaluate(e) for e in node.elts])
        return container(self._solver.union(node.elts))

    def _dict(self, node: ast.Dict) -> Values:
        return container(self._solver.union(node.values))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Values:
        return container(self._evaluate(node.elt))

    def _value(self, node: ast.NamedExpr) -> Values:
        return self._evaluate(node.value)

    def _dict_comprehension(self, node: ast.DictComp) -> Values:
        return container(self._evaluate(node.value))


_RULES: dict[type[ast.expr], Callable[[Evaluator, Any], Values]] = {
    ast.Name: Evaluator._name,
    ast.Attribute: Evaluator._attribute,
    ast.Call: Evaluator._call,
    ast.Constant: Evaluator._constant,
    ast.JoinedStr: Evaluator._string,
    ast.Lambda: Evaluator._lambda,
    ast.IfExp: Evaluator._either,
    ast.BoolOp: Evaluator._any,
    ast.BinOp: Evaluator._binary,
    ast.UnaryOp: Evaluator._unary,
    ast.Compare: Evaluator._compare,
    ast.Subscript: Evaluator._subscript,
    ast.List: Evaluator._display,
    ast.Tuple: Evaluator._display,
    ast.Set: Evaluator._display,
    ast.Dict: Evaluator._dict,
    ast.ListComp: Evaluator._comprehension,
    ast.SetComp: Evaluator._comprehension,
    ast.GeneratorExp: Evaluator._comprehension,
    ast.DictComp: Evaluator._dict_comprehension,
    ast.NamedExpr: Evaluator._value,
}
