"""Finds what expressions of one file can be: a light, demand-driven data-flow analysis.

It follows imports, value aliases, conditional expressions, containers, returns of local functions,
parameters from calls in the file, annotations and attributes. What it cannot follow is Unknown, never a
guess. Each variable (a binding, a function's result, an attribute) holds what is known of it so far;
whoever read it is looked at again when it changes, until nothing does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from paddletorch.resolve.evaluator.expressions import arithmetic, comparison, element, plain, sliced
from paddletorch.resolve.evaluator.facts import imported
from paddletorch.resolve.evaluator.variables import Variables
from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.values import NONE, NOTHING, UNKNOWN, Instance, Local, Qualified, Values, container, tuple_of


class Evaluator(Variables):
    """Evaluates expressions of one module. Results are cached; recursion yields nothing, not Unknown."""

    def release(self) -> None:
        """Forget everything, so that memory is freed at once; what has been evaluated stays true."""
        self.__dict__.clear()

    def imported_names(self, node: ast.expr) -> frozenset[str]:
        """Qualified names that imports alone give a name or attribute chain, as QualifiedNameProvider does."""
        if isinstance(node, ast.Attribute):
            return frozenset(f"{base}.{node.attr}" for base in self.imported_names(node.value))
        if isinstance(node, ast.Name):
            scope = self.tree.scopes.get(node)
            if scope is not None:
                return frozenset(b.qualified for b in scope.lookup(node.id) if b.qualified is not None)
        return frozenset()

    def values(self, node: ast.expr) -> Values:
        """Everything ``node`` can be."""
        found = self._known.get(node) or self._evaluate(node)
        while self._queue:
            self._settle()
            found = self._evaluate(node)
        return found or UNKNOWN

    def bound(self, bindings: Sequence[Binding]) -> Values:
        """Everything a set of bindings can stand for."""
        return self._settled(lambda: self._bound(bindings))

    def objects(self, node: ast.expr) -> Values:
        """As ``values``, with the names of objects that other files hold replaced by those objects."""
        found = self.values(node)
        if self._outside is None or not any(isinstance(v, Qualified) for v in found):
            return found
        return self._settled(lambda: self._objects(found))

    def _objects(self, values: Values) -> Values:
        found: Values = NOTHING
        for value in values:
            held = self._outside.held(value.name) if self._outside and isinstance(value, Qualified) else NOTHING
            found |= held or {value}
        return found

    def passed_on(self, names: Iterable[str]) -> frozenset[str]:
        """The framework's names behind names that other files of the source tree import and pass on."""
        if self._outside is None:
            return frozenset()
        given = (v for name in names for v in self._outside.apis(name))
        return frozenset(v.name for v in given if isinstance(v, Qualified))

    def exported(self, bindings: Sequence[Binding], members: Sequence[str], asked: str) -> Values:
        """What a top-level name, or a member of it, gives another file.

        ``asked`` says of what: of a call (``called``), an ``instance``, the object (``held``), or its ``apis``.
        """
        return self._settled(lambda: self._exported(bindings, members, asked))

    def _exported(self, bindings: Sequence[Binding], members: Sequence[str], asked: str) -> Values:
        values = self._bound(bindings)
        for member in members:
            values = self._member_of(values, member)
        if asked == "held":
            return self._objects(values)
        if asked == "apis":
            names = [v.name for v in values if isinstance(v, Qualified)]
            own = frozenset(n for n in names if n.partition(".")[0] in self._roots)
            return frozenset(map(Qualified, own | self.passed_on(n for n in names if n not in own)))
        found: Values = NOTHING
        for value in values:
            found |= self._called(value, None) if asked == "called" else self._instance_of(value)
        return found

    def method(self, class_name: str, name: str) -> Values:
        """What calling the method of a top-level class gives; nothing if the class does not define it."""
        bindings = [b for b in self.tree.scope.bindings.get(class_name, ()) if isinstance(b.node, ast.ClassDef)]
        if not bindings:
            return NOTHING
        node = bindings[-1].node
        assert isinstance(node, ast.ClassDef)
        return self._settled(lambda: self._method(node, name))

    def _method(self, node: ast.ClassDef, name: str) -> Values:
        for made in self._local_instance(node):
            if isinstance(made, Instance) and (found := self._own_member(made, name)):
                return frozenset(v for callee in found for v in self._called(callee, None))
        return NOTHING

    def _evaluate(self, node: ast.expr) -> Values:
        found = self._known.get(node)
        if found is not None:
            return found
        found = self._so_far.get(node)
        if found is not None:
            self._reads += 1  # it depends on what may still change
            return found
        rule = _EXPRESSIONS.get(node.__class__)
        reads = self._reads
        found = rule(self, node) if rule is not None else UNKNOWN
        if self._reads == reads:  # it depends on nothing that may still change
            self._known[node] = found
        else:
            self._so_far[node] = found
        return found

    # expressions ---------------------------------------------------------------------------------

    def _negation(self, node: ast.UnaryOp) -> Values:
        return plain("bool") if isinstance(node.op, ast.Not) else arithmetic([self._evaluate(node.operand)])

    def _subscript(self, node: ast.Subscript) -> Values:
        held = self._evaluate(node.value)
        if isinstance(node.slice, ast.Slice):
            return sliced(held)
        if any(isinstance(v, Instance) and v.api.endswith("state_dict") and v.type == "foreign" for v in held):
            return UNKNOWN
        at = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return element(held, at if type(at) is int else None)

    def _several(self, node: ast.List | ast.Tuple | ast.Set) -> Values:
        if isinstance(node, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in node.elts):
            return tuple_of([self._evaluate(e) for e in node.elts])
        return container(self._union(node.elts))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Values:
        return container(self._evaluate(node.elt))

    def _name(self, node: ast.Name) -> Values:
        scope = self.tree.scopes.get(node)
        bindings = scope.lookup(node.id) if scope is not None else []
        if bindings:
            found = self._bound(self._reached(node, bindings) if len(bindings) > 1 else bindings)
            types = self._guards.types(node)
            return found if types is None else self._narrowed(found, types)
        if node.id in self._roots:
            return frozenset({Qualified(node.id)})
        if node.id in self.bare:
            return frozenset(Qualified(name) for name in self.bare[node.id])
        if self.tree.stars and self._outside is not None:
            return self._starred(node.id) or UNKNOWN
        return UNKNOWN

    def _starred(self, name: str) -> Values:
        """The name as ``from ... import *`` of another file of the source tree binds it."""
        assert self._outside is not None
        for star in self.tree.stars:
            prefix = "." * star.level + (star.module or "")
            qualified = prefix + name if prefix.endswith(".") else f"{prefix}.{name}"
            if self._outside.defines(qualified):
                return imported(qualified)
        return NOTHING


_EXPRESSIONS: dict[type, Callable[[Evaluator, Any], Values]] = {
    ast.Name: Evaluator._name,
    ast.Attribute: Evaluator._attribute,
    ast.Call: Evaluator._call,
    ast.Constant: lambda _, node: NONE if node.value is None else plain(type(node.value).__name__),
    ast.IfExp: lambda self, node: self._evaluate(node.body) | self._evaluate(node.orelse),
    ast.BoolOp: lambda self, node: self._union(node.values),
    ast.NamedExpr: lambda self, node: self._evaluate(node.value),
    **dict.fromkeys((ast.List, ast.Tuple, ast.Set), Evaluator._several),
    ast.Dict: lambda self, node: container(self._union(node.values)),
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.GeneratorExp), Evaluator._comprehension),
    ast.DictComp: lambda self, node: container(self._evaluate(node.value)),
    ast.Subscript: Evaluator._subscript,
    ast.Lambda: lambda _, node: frozenset({Local(node)}),
    ast.BinOp: lambda self, node: arithmetic([self._evaluate(node.left), self._evaluate(node.right)]),
    ast.UnaryOp: Evaluator._negation,
    ast.Compare: lambda self, node: comparison(node, [self._evaluate(n) for n in (node.left, *node.comparators)]),
    ast.JoinedStr: lambda _, node: plain("str"),
}
