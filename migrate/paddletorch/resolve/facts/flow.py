"""How a fact of a value flows through a module: by names, attributes, functions, containers, branches and loops.

What makes and changes a fact, such as a dtype, is plugged in as a ``Transfer``; all else is the same for every fact.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from paddletorch.resolve.evaluator.call_index import ArgumentGroup, Passed
from paddletorch.resolve.evaluator.evaluator import Evaluator
from paddletorch.resolve.evaluator.keeping_decorators import is_kept
from paddletorch.resolve.evaluator.operations import COLLECTING, literal_index
from paddletorch.resolve.evaluator.solver import Solver
from paddletorch.resolve.scopes.bindings import AttributeStore, Binding
from paddletorch.resolve.scopes.reaching import BindingGroup, Reached
from paddletorch.resolve.values import Instance, Local, NoneValue, Qualified, Unknown, Value

Fact = TypeVar("Fact")

_NESTING = 3


@dataclass(frozen=True, slots=True)
class Held(Generic[Fact]):
    """A list, tuple, dict or iterator, by the facts of what it holds."""

    elements: frozenset[Fact | Held[Fact]]
    parts: tuple[frozenset[Fact | Held[Fact]], ...] = ()
    """The facts at each position, where their number is known."""
    is_mutable: bool = False
    """Whether more may be put into it where it has a name."""


class Transfer(Protocol[Fact]):
    """The rules of one fact. They read other expressions by :meth:`Flow.evaluate`, and are monotonic.

    An operand without any fact is not known yet, and so is what is made of it.
    """

    @property
    def unknown(self) -> Fact:
        """What stands for anything at all."""
        ...

    @property
    def integer(self) -> Fact:
        """The fact of Python's integers."""
        ...

    def constant(self, node: ast.Constant) -> frozenset[Fact]:
        """Of a literal; nothing for what is no value, such as None."""
        ...

    def call(self, node: ast.Call) -> frozenset[Fact | Held[Fact]] | None:
        """Of a call of a framework's function or method; None for another, which the flow follows."""
        ...

    def attribute(self, node: ast.Attribute) -> frozenset[Fact | Held[Fact]] | None:
        """Of an attribute of a tensor or module; None for what the module itself stores somewhere."""
        ...

    def operator(self, node: ast.BinOp | ast.UnaryOp | ast.Compare) -> frozenset[Fact]:
        """Of what an operator gives."""
        ...

    def augmented(self, before: frozenset[Fact | Held[Fact]], node: ast.AugAssign) -> frozenset[Fact]:
        """Of what a variable holds after ``x += value``, by the facts before it."""
        ...

    def subscript(self, node: ast.Subscript, fact: Fact) -> frozenset[Fact]:
        """Of ``x[...]``, where ``fact`` is one of ``x``, which is no container."""
        ...

    def element(self, fact: Fact) -> frozenset[Fact]:
        """Of what iterating or unpacking gives, where ``fact`` is one of what is iterated."""
        ...

    def annotated(self, annotation: ast.expr) -> frozenset[Fact]:
        """Of what an annotation declares; nothing if it does not tell."""
        ...

    def seen(self, node: ast.expr, found: frozenset[Fact | Held[Fact]]) -> frozenset[Fact | Held[Fact]]:
        """``found``, or what recorded runs saw where that is not known."""
        ...


class Flow(Generic[Fact]):
    """One fact of all expressions of a module; nothing is computed before it is asked for."""

    def __init__(self, evaluator: Evaluator, transfer: Transfer[Fact], *, recorded: bool = False) -> None:
        """``recorded``: whether there are recorded runs, so that ``transfer.seen`` has something to say."""
        self._evaluator = evaluator
        self._tree = evaluator.tree
        self._transfer = transfer
        self.unknown: frozenset[Fact | Held[Fact]] = frozenset({transfer.unknown})
        rules: dict[type[ast.expr], Callable[[Any], frozenset[Fact | Held[Fact]]]] = {
            kind: rule.__get__(self) for kind, rule in _RULES.items()
        }
        self._rules = rules
        self._solver: Solver[Fact | Held[Fact]]
        if recorded:
            self._solver = Solver({}, self.unknown, self._recorded, evaluator.limit)
        else:
            self._solver = Solver(rules, self.unknown, limit=evaluator.limit)

    # questions ---------------------------------------------------------------------------------------

    def of(self, node: ast.expr) -> frozenset[Fact | Held[Fact]]:
        """All facts that ``node`` can have; never empty."""
        return self._solver.final_expressions.get(node) or self._solver.solved(node)

    def evaluate(self, node: ast.expr) -> frozenset[Fact | Held[Fact]]:
        """The facts of ``node`` as far as they are known now: for rules, which run again when that changes."""
        return self._solver.evaluate(node)

    def plain(self, node: ast.expr) -> frozenset[Fact]:
        """As ``evaluate``; of a container it is unknown."""
        found = self._solver.evaluate(node)
        return frozenset(self._transfer.unknown if isinstance(v, Held) else v for v in found)

    def elements(self, facts: Iterable[Fact | Held[Fact]]) -> frozenset[Fact | Held[Fact]]:
        """What iterating gives."""
        found: frozenset[Fact | Held[Fact]] = frozenset()
        for one in facts:
            found |= one.elements if isinstance(one, Held) else self._transfer.element(one)
        return found

    def part(self, facts: Iterable[Fact | Held[Fact]], position: int | None) -> frozenset[Fact | Held[Fact]]:
        """What unpacking gives at a position; None for any."""
        found: frozenset[Fact | Held[Fact]] = frozenset()
        for one in facts:
            if isinstance(one, Held) and position is not None and -len(one.parts) <= position < len(one.parts):
                found |= one.parts[position]
            else:
                found |= self.elements((one,))
        return found

    def pair(self, *parts: frozenset[Fact | Held[Fact]]) -> frozenset[Fact | Held[Fact]]:
        """A tuple by its parts."""
        elements = frozenset(v for part in parts for v in part)
        return self._nested(Held(elements, parts))

    def _nested(self, held: Held[Fact]) -> frozenset[Fact | Held[Fact]]:
        return frozenset({held if _depth(held.elements) < _NESTING else Held(self.unknown)})

    # expressions -------------------------------------------------------------------------------------

    def _recorded(self, node: ast.expr) -> frozenset[Fact | Held[Fact]]:
        rule = self._rules.get(node.__class__)
        return self._transfer.seen(node, rule(node) if rule is not None else self.unknown)

    def _name(self, node: ast.Name) -> frozenset[Fact | Held[Fact]]:
        if node.id in self._tree.imported and self._names_api(node):
            return self.unknown
        reached = self._evaluator.reaching(node)
        if not reached:
            return self.unknown
        return self._bound(reached.parts() if isinstance(reached, Reached) else reached)

    def _names_api(self, node: ast.Name) -> bool:
        """Whether the name is one of an API or module, or None where an import fails."""
        return all(isinstance(v, NoneValue | Qualified) for v in self._evaluator.values(node))

    def _constant(self, node: ast.Constant) -> frozenset[Fact | Held[Fact]]:
        found: frozenset[Fact | Held[Fact]] = self._transfer.constant(node)
        return found

    def _operator(self, node: ast.BinOp | ast.UnaryOp | ast.Compare) -> frozenset[Fact | Held[Fact]]:
        found: frozenset[Fact | Held[Fact]] = self._transfer.operator(node)
        return found

    def _either(self, node: ast.IfExp) -> frozenset[Fact | Held[Fact]]:
        return self.evaluate(node.body) | self.evaluate(node.orelse)

    def _any(self, node: ast.BoolOp) -> frozenset[Fact | Held[Fact]]:
        return self._solver.union(node.values)

    def _value(self, node: ast.NamedExpr) -> frozenset[Fact | Held[Fact]]:
        return self.evaluate(node.value)

    def _display(self, node: ast.Tuple | ast.List | ast.Set) -> frozenset[Fact | Held[Fact]]:
        is_mutable = not isinstance(node, ast.Tuple)
        if any(isinstance(one, ast.Starred) for one in node.elts):
            found = frozenset(v for one in node.elts for v in self._spread(one))
            return self._nested(Held(found, (), is_mutable))
        parts = tuple(self.evaluate(one) for one in node.elts)
        return self._nested(Held(frozenset(v for part in parts for v in part), parts, is_mutable))

    def _spread(self, node: ast.expr) -> frozenset[Fact | Held[Fact]]:
        return self.elements(self.evaluate(node.value)) if isinstance(node, ast.Starred) else self.evaluate(node)

    def _dict(self, node: ast.Dict) -> frozenset[Fact | Held[Fact]]:
        return self._nested(Held(self._solver.union(node.values), (), True))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> frozenset[Fact | Held[Fact]]:
        return self._nested(Held(self.evaluate(node.elt), (), not isinstance(node, ast.GeneratorExp)))

    def _dict_comprehension(self, node: ast.DictComp) -> frozenset[Fact | Held[Fact]]:
        return self._nested(Held(self.evaluate(node.value), (), True))

    def _subscript(self, node: ast.Subscript) -> frozenset[Fact | Held[Fact]]:
        found: frozenset[Fact | Held[Fact]] = frozenset()
        for one in self.evaluate(node.value):
            if not isinstance(one, Held):
                found |= self._transfer.subscript(node, one)
            elif isinstance(node.slice, ast.Slice):
                found |= self._nested(Held(one.elements, (), one.is_mutable))
            else:
                found |= self.part((one,), literal_index(node.slice))
        return found

    def _attribute(self, node: ast.Attribute) -> frozenset[Fact | Held[Fact]]:
        found = self._transfer.attribute(node)
        return self._member(node) if found is None else found

    def _call(self, node: ast.Call) -> frozenset[Fact | Held[Fact]]:
        found = self._transfer.call(node)
        return self._result(node) if found is None else found

    # variables ---------------------------------------------------------------------------------------

    def _bound(self, bindings: Iterable[Binding | BindingGroup]) -> frozenset[Fact | Held[Fact]]:
        found: frozenset[Fact | Held[Fact]] = frozenset()
        for one in bindings:
            found |= self._variable(one) if isinstance(one, Binding) else self._group(one)
        return found

    def _group(self, group: BindingGroup) -> frozenset[Fact | Held[Fact]]:
        return self._solver.variable(group, lambda: self._bound(group.parts))

    def _variable(self, binding: Binding) -> frozenset[Fact | Held[Fact]]:
        if binding.kind == "delete":
            return frozenset()
        if binding.kind not in _FOLLOWED:
            return self.unknown
        return self._solver.variable(binding, lambda: self._binding(binding))

    def _binding(self, binding: Binding) -> frozenset[Fact | Held[Fact]]:
        annotated = self._annotated(binding.annotation)
        if binding.kind == "parameter":
            return annotated or self._parameter(binding)
        if binding.value is None:  # ``x: Tensor`` alone gives nothing
            return annotated if binding.annotation is not None else self.unknown
        if binding.kind == "augment":
            statement = self._tree.parents.get(binding.node)
            assert isinstance(statement, ast.AugAssign) and isinstance(binding.node, ast.Name)
            return frozenset(self._transfer.augmented(self._name(binding.node), statement))
        found = self.evaluate(binding.value)
        if binding.kind != "assign":
            for position in binding.path or (None,):
                found = self.part(found, position)
        found = self._kept(found)
        return annotated if annotated and found <= self.unknown else found

    def _annotated(self, annotation: ast.expr | None) -> frozenset[Fact | Held[Fact]]:
        return frozenset(self._transfer.annotated(annotation)) if annotation is not None else frozenset()

    def _kept(self, facts: frozenset[Fact | Held[Fact]]) -> frozenset[Fact | Held[Fact]]:
        """The facts of what has a name or is stored, so that more may be put into it."""
        if not any(isinstance(one, Held) and one.is_mutable for one in facts):
            return facts
        mutable = (isinstance(one, Held) and one.is_mutable for one in facts)
        return frozenset(
            Held(one.elements | self.unknown) if is_mutable and isinstance(one, Held) else one
            for one, is_mutable in zip(facts, mutable, strict=True)
        )

    # parameters --------------------------------------------------------------------------------------

    def _parameter(self, binding: Binding) -> frozenset[Fact | Held[Fact]]:
        """By the default and what the calls of the module pass; also unknown, unless these are all calls there are."""
        found = self.evaluate(binding.value) if binding.value is not None else frozenset()
        arguments, iterables, spread = self._evaluator.arguments(binding)
        found |= self._passed(arguments)
        for node in iterables:
            found |= self.elements(self.evaluate(node))
        for node, position in spread:
            found |= self.part(self.evaluate(node), position)
        is_known = bool(arguments or iterables or spread) and self._evaluator.calls.are_known(binding.scope.node)
        return found if is_known else found | self.unknown

    def _passed(self, arguments: Passed) -> frozenset[Fact | Held[Fact]]:
        found: frozenset[Fact | Held[Fact]] = frozenset()
        for one in arguments:
            found |= self._passed_group(one) if isinstance(one, ArgumentGroup) else self.evaluate(one)
        return found

    def _passed_group(self, group: ArgumentGroup) -> frozenset[Fact | Held[Fact]]:
        return self._solver.variable(group, lambda: self._passed(group.parts))

    # attributes --------------------------------------------------------------------------------------

    def _member(self, node: ast.Attribute) -> frozenset[Fact | Held[Fact]]:
        """What the classes of the object, and those related to them, store to the attribute."""
        found: frozenset[Fact | Held[Fact]] = frozenset()
        owners = self._owners(node)
        if not owners:
            return self.unknown
        for owner in owners:
            found |= self._solver.variable((owner, node.attr), lambda owner=owner: self._stored(owner, node.attr))  # type: ignore[misc]
        return found

    def _owners(self, node: ast.Attribute) -> Sequence[ast.ClassDef]:
        """The classes of the module that ``x`` of ``x.name`` can be of; none if it may be of another one."""
        around = self._evaluator.class_of_self(node)
        if around is not None:
            return (around,)
        found: list[ast.ClassDef] = []
        for value in self._evaluator.values(node.value):
            owner = value.node if isinstance(value, Instance | Local) else None
            if not isinstance(owner, ast.ClassDef):
                return ()
            found.append(owner)
        return found

    def _stored(self, owner: ast.ClassDef, name: str) -> frozenset[Fact | Held[Fact]]:
        family = self.family(owner)
        stores = [store for store in self._evaluator.stores(name) if self._may_be_of(store.target, family)]
        bindings = [b for one in family for b in self._tree.own[one].bindings.get(name, ())]
        found: frozenset[Fact | Held[Fact]] = frozenset()
        for binding in bindings:
            found |= self._class_member(binding)
        for store in stores:
            found |= self._store(store)
        return found if stores or bindings else self.unknown

    def _class_member(self, binding: Binding) -> frozenset[Fact | Held[Fact]]:
        """What a class itself binds: a value, or a property."""
        if binding.kind == "assign" and binding.value is None:
            return self._annotated(binding.annotation) or self.unknown  # of a dataclass: the constructor gives it
        if isinstance(binding.node, ast.FunctionDef) and _is_property(binding.node):
            return self._returned(binding.node)
        return self._variable(binding)

    def _store(self, store: AttributeStore) -> frozenset[Fact | Held[Fact]]:
        annotated = self._annotated(store.annotation)
        if store.value is not None:
            found = self._kept(self.evaluate(store.value))
            return annotated if annotated and found <= self.unknown else found
        statement = self._tree.parents.get(store.target)
        if isinstance(statement, ast.AugAssign):
            return frozenset(self._transfer.augmented(self._member(store.target), statement))
        return annotated or self.unknown

    def _may_be_of(self, target: ast.Attribute, family: frozenset[ast.ClassDef]) -> bool:
        """Whether an attribute is stored to an object of one of the classes, as far as it is known."""
        around = self._evaluator.class_of_self(target)
        if around is not None:
            return around in family
        values = self._evaluator.values(target.value)
        return any(isinstance(v, Unknown) or getattr(v, "node", None) in family for v in values)

    def family(self, owner: ast.ClassDef) -> frozenset[ast.ClassDef]:
        """The class with those of the module that it inherits from, and those that inherit from it."""
        return self._above[owner] | self._below(owner)

    def _below(self, owner: ast.ClassDef) -> frozenset[ast.ClassDef]:
        """The class with those of the module that inherit from it."""
        return frozenset(one for one, its in self._above.items() if owner in its)

    @cached_property
    def _above(self) -> dict[ast.ClassDef, frozenset[ast.ClassDef]]:
        """Each class with those of the module that it inherits from."""
        bases = {one: self._bases(one) for one in self._tree.of_kind(ast.ClassDef)}
        found: dict[ast.ClassDef, frozenset[ast.ClassDef]] = {}
        for one in bases:
            its, queue = {one}, [one]
            while queue:
                more = bases[queue.pop()] - its
                its |= more
                queue += more
            found[one] = frozenset(its)
        return found

    def _bases(self, owner: ast.ClassDef) -> set[ast.ClassDef]:
        nodes = (v.node for base in owner.bases for v in self._evaluator.values(base) if isinstance(v, Local))
        return {node for node in nodes if isinstance(node, ast.ClassDef)}

    # results -----------------------------------------------------------------------------------------

    def _result(self, node: ast.Call) -> frozenset[Fact | Held[Fact]]:
        """What the module's own function, method or module returns, or what a builtin or container gives."""
        function = node.func
        if isinstance(function, ast.Name) and not self._tree.scopes[function].lookup(function.id):
            return self._builtin(function.id, node)
        if isinstance(function, ast.Attribute) and function.attr in _CONTAINER_METHODS:
            held = [one for one in self.evaluate(function.value) if isinstance(one, Held)]
            if held:
                return self._of_container(held, function.attr)
        callees = self._evaluator.values(function)
        found: frozenset[Fact | Held[Fact]] = frozenset()
        for callee in callees:
            found |= self._called(callee)
        return found if callees else self.unknown

    def _called(self, callee: Value) -> frozenset[Fact | Held[Fact]]:
        if isinstance(callee, Local) and not isinstance(callee.node, ast.ClassDef):
            functions = [callee.node, *self._overriding(callee.node)]
        elif isinstance(callee, Instance) and callee.node is not None:
            methods = self._evaluator.method(callee, "forward") or self._evaluator.method(callee, "__call__")
            functions = [one for m in methods if isinstance(m, Local) for one in (m.node, *self._overriding(m.node))]
        else:
            return self.unknown
        found: frozenset[Fact | Held[Fact]] = frozenset()
        for function in functions:
            found |= self._returned(function) if is_kept(function, self._evaluator.values) else self.unknown
        return found if functions else self.unknown

    def _overriding(self, method: ast.AST) -> Iterable[ast.AST]:
        """The methods of the same name in the classes that inherit from that of a method."""
        around = self._tree.parents.get(method)
        if not isinstance(method, ast.FunctionDef) or not isinstance(around, ast.ClassDef):
            return ()
        bodies = (one.body for one in self._below(around) if one is not around)
        return (s for body in bodies for s in body if isinstance(s, ast.FunctionDef) and s.name == method.name)

    def _returned(self, function: ast.AST) -> frozenset[Fact | Held[Fact]]:
        """What all calls of the function give together."""
        return self._solver.variable(function, lambda: self._returns(function))

    def _returns(self, function: ast.AST) -> frozenset[Fact | Held[Fact]]:
        annotated = self._annotated(getattr(function, "returns", None))
        scope = self._tree.own.get(function)
        if scope is None or (None in scope.returns and _is_generator(function)):
            return annotated or self.unknown
        found = self._solver.union(value for value in scope.returns if value is not None)
        return annotated if annotated and found <= self.unknown else found

    def _of_container(self, held: Iterable[Held[Fact]], method: str) -> frozenset[Fact | Held[Fact]]:
        inner = frozenset(v for one in held for v in one.elements)
        if method in ("get", "pop"):
            return inner
        if method == "items":
            return self._nested(Held(self.pair(self.unknown, inner)))
        return self._nested(Held(inner))

    def _builtin(self, name: str, node: ast.Call) -> frozenset[Fact | Held[Fact]]:
        if name in ("len", "int"):
            return frozenset({self._transfer.integer})
        if name == "range":
            return frozenset({Held(frozenset({self._transfer.integer}))})
        if name not in COLLECTING or not node.args:
            return self.unknown
        parts = [self.elements(self._spread(argument)) for argument in node.args]
        if name == "zip" and not any(isinstance(one, ast.Starred) for one in node.args):
            return self._nested(Held(self.pair(*parts)))
        if name == "enumerate":
            return self._nested(Held(self.pair(frozenset({self._transfer.integer}), parts[0])))
        found = frozenset(v for part in parts for v in part)
        return found if name == "next" else self._nested(Held(found, (), name in ("list", "set", "sorted")))


_RULES: dict[type[ast.expr], Callable[..., Any]] = {
    ast.Name: Flow._name,
    ast.Attribute: Flow._attribute,
    ast.Call: Flow._call,
    ast.Constant: Flow._constant,
    ast.IfExp: Flow._either,
    ast.BoolOp: Flow._any,
    ast.BinOp: Flow._operator,
    ast.UnaryOp: Flow._operator,
    ast.Compare: Flow._operator,
    ast.Subscript: Flow._subscript,
    ast.List: Flow._display,
    ast.Tuple: Flow._display,
    ast.Set: Flow._display,
    ast.Dict: Flow._dict,
    ast.ListComp: Flow._comprehension,
    ast.SetComp: Flow._comprehension,
    ast.GeneratorExp: Flow._comprehension,
    ast.DictComp: Flow._dict_comprehension,
    ast.NamedExpr: Flow._value,
}

_FOLLOWED = frozenset({"assign", "unpack", "iterate", "parameter", "augment"})
"""Bindings whose value says what is bound; what ``with`` and imports give, nothing here says."""

_CONTAINER_METHODS = frozenset({"copy", "get", "items", "pop", "values"})


def _depth(facts: Iterable[object]) -> int:
    return max((1 + _depth(one.elements) for one in facts if isinstance(one, Held)), default=0)


def _is_property(function: ast.FunctionDef) -> bool:
    return [getattr(d, "id", getattr(d, "attr", "")) for d in function.decorator_list] in (
        ["property"],
        ["cached_property"],
    )


def _is_generator(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))
