"""Which calls of a module may call one of its functions, and what they pass."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeGuard

from paddletorch.resolve.evaluator.super_calls import SuperCalls
from paddletorch.resolve.scopes.bindings import Scope
from paddletorch.resolve.scopes.scopes import ScopeTree


class CallIndex:
    """The calls of one module by the name they call."""

    def __init__(self, tree: ScopeTree) -> None:
        self._tree = tree
        self._by_bindings: dict[str, dict[int, list[ast.Call]]] = {}
        """Calls of plain names, by name and by the identity of the list of bindings that it means."""
        self._called_there: dict[ast.Lambda, list[ast.Call]] = {}
        self._of_methods: dict[tuple[str, str], list[ast.Call]] = {}
        """Calls of methods, by the method's name and, of ``__init__``, the name of the class."""
        self._not_handed_on: dict[ast.AST, list[ast.Call]] = {}
        """The calls that may call a method, without those by which it hands on to another object's."""

    def of(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.Call]:
        """Calls in the module that may call ``function``: by its name, or by its method name.

        Functions that are called alike have one list.
        """
        scope = self._tree.own[function]
        if not is_method(scope):
            return self._of_name(function.name, function)
        assert scope.parent is not None and isinstance(scope.parent.node, ast.ClassDef)
        made = scope.parent.node.name if function.name == "__init__" else ""
        found = self._of_methods.get((function.name, made))
        if found is None:
            found = [c for c in self._tree.calls_of(made) if isinstance(c.func, ast.Name)] if made else []
            found += self._super.reaching(made) if made else self._of_method(function.name)
            self._of_methods[function.name, made] = found
        if handed_on := self._handing_on.get(function):
            if function not in self._not_handed_on:
                self._not_handed_on[function] = [c for c in found if c not in handed_on]
            return self._not_handed_on[function]
        return found

    def _of_method(self, name: str) -> list[ast.Call]:
        """Calls of methods of this name, also by the name that a bound one is assigned to: ``step = runner.step``."""
        found = self._tree.method_calls(name)
        assigned = (self._tree.parents.get(read) for read in self._tree.members.get(name, ()))
        targets = (one.targets[0] for one in assigned if isinstance(one, ast.Assign) and len(one.targets) == 1)
        names = [target for target in targets if isinstance(target, ast.Name)]
        by_name = (self._calls_of(n.id).get(id(self._tree.scopes[n].lookup(n.id)), ()) for n in names)
        return [*found, *(call for calls in by_name for call in calls)] if names else found

    def are_known(self, function: ast.AST) -> bool:
        """Whether nothing but the calls in the module can call it: it is local or private, and only called."""
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return False
        name, scope = function.name, self._tree.own[function].parent
        is_private = name.startswith("_") and not name.endswith("__")
        if scope is None or not (is_private or scope.kind == "function"):
            return False
        if scope.kind == "class":
            reads: Sequence[ast.expr] = self._tree.members.get(name, ())
        else:
            reads = self._tree.reads(scope.lookup(name))
        calls = [call for read in reads if isinstance(call := self._tree.parents.get(read), ast.Call)]
        return len(calls) == len(reads) and all(
            call.func is read and all(keyword.arg is not None for keyword in call.keywords)
            for call, read in zip(calls, reads, strict=True)
        )

    @cached_property
    def _handing_on(self) -> dict[ast.AST, set[ast.Call]]:
        """Calls in a method of a method of the same name, but of an attribute: ``self.net.learn(x)`` in ``learn``."""
        found: dict[ast.AST, set[ast.Call]] = {}
        methods = {node.name for node, scope in self._tree.own.items() if _is_function(node) and is_method(scope)}
        for name in (methods & self._tree.calls_by_name.keys()) - {"__init__"}:  # whose calls SuperCalls knows
            for call in self._tree.calls_of(name):
                if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Attribute):
                    continue
                around = self._tree.parents.get(call)
                while around is not None and not _is_function(around):
                    around = self._tree.parents.get(around)
                if _is_function(around) and around.name == name:
                    found.setdefault(around, set()).add(call)
        return found

    @cached_property
    def _super(self) -> SuperCalls:
        return SuperCalls(self._tree, self._tree.method_calls("__init__"))

    def of_lambda(self, function: ast.Lambda) -> list[ast.Call]:
        """The call of a lambda where it stands, or those by the name that it is assigned to."""
        parent = self._tree.parents.get(function)
        if isinstance(parent, ast.Call) and parent.func is function:
            return self._called_there.setdefault(function, [parent])
        target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
        return self._of_name(target.id, function) if isinstance(target, ast.Name) else []

    def _of_name(self, name: str, function: ast.AST) -> list[ast.Call]:
        """Calls of ``name`` where the name may be bound to the function."""
        return self._calls_of(name).get(self._homes.get((name, function), 0), [])

    def _calls_of(self, name: str) -> dict[int, list[ast.Call]]:
        """Calls of a plain name, by the identity of the list of bindings that it means."""
        by_bindings = self._by_bindings.get(name)
        if by_bindings is None:
            by_bindings = self._by_bindings[name] = {}
            for call in self._tree.calls_of(name):
                scope = self._tree.scopes.get(call.func) if isinstance(call.func, ast.Name) else None
                if scope is not None:
                    by_bindings.setdefault(id(scope.lookup(name)), []).append(call)
        return by_bindings

    @cached_property
    def _homes(self) -> dict[tuple[str, ast.AST], int]:
        """The identity of the list of bindings that a function or lambda is in, by its name."""
        found: dict[tuple[str, ast.AST], int] = {}
        for scope in self._tree.own.values():
            for name, bindings in scope.bindings.items():
                for binding in bindings:
                    node = binding.value if isinstance(binding.value, ast.Lambda) else binding.node
                    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                        found[name, node] = id(bindings)
        return found

    def mapped(self, function: ast.AST) -> list[ast.Call]:
        """Calls of ``map`` that pass elements to the function."""
        calls = [c for c in self._tree.calls_of("map") if isinstance(c.func, ast.Name) and len(c.args) > 1]
        return [c for c in calls if c.args[0] is function or self._is_bound_to(c.args[0], function)]

    def _is_bound_to(self, name: ast.expr, function: ast.AST) -> bool:
        scope = self._tree.scopes.get(name) if isinstance(name, ast.Name) else None
        bindings = scope.lookup(name.id) if scope is not None and isinstance(name, ast.Name) else []
        return any(function in (b.node, b.value) for b in bindings)


class ArgumentGroup:
    """Arguments of neighbouring calls, for what is the same wherever all of them are meant."""

    __slots__ = ("_given", "_groups", "parts")

    def __init__(self, groups: Sequence[ArgumentGroup], given: Mapping[ast.Call, ast.expr]) -> None:
        """``given``: the arguments of all calls; ``groups`` of them, unless they are few."""
        self._groups = groups
        self._given = given
        self.parts: Passed = groups or list(given.values())

    def without(self, calls: Collection[ast.Call]) -> Iterator[ast.expr | ArgumentGroup]:
        """The arguments except those of ``calls``, as many of them in groups as can be."""
        for group in self._groups:
            if group._given.keys().isdisjoint(calls):
                yield group
            else:
                yield from group.without(calls)
        if not self._groups:
            yield from (argument for call, argument in self._given.items() if call not in calls)


Passed = Sequence[ast.expr | ArgumentGroup]

NONE_PASSED = ArgumentGroup((), {})

_GROUP = 16
"""How many parts a group has at the most."""


def grouped(given: Sequence[tuple[ast.Call, ast.expr]]) -> ArgumentGroup:
    """The arguments of many calls in groups of groups."""
    size = 1
    while size * _GROUP < len(given):
        size *= _GROUP
    parts = [grouped(given[n : n + size]) for n in range(0, len(given), size)] if size > 1 else ()
    return ArgumentGroup(parts, dict(given))


class PassedArguments:
    """What the calls of one list pass, by keyword, by position and spread from an iterable."""

    def __init__(self, calls: Sequence[ast.Call]) -> None:
        self._spread: list[tuple[int, ast.Starred, ast.Call]] = []
        self._by_keyword: dict[str, dict[ast.Call, ast.expr]] = {}
        self._by_position: dict[int, dict[ast.Call, ast.expr]] = {}
        for call in calls:
            for keyword in call.keywords:
                if keyword.arg is not None:
                    self._by_keyword.setdefault(keyword.arg, {}).setdefault(call, keyword.value)
            for position, argument in enumerate(call.args):
                if isinstance(argument, ast.Starred):
                    self._spread.append((position, argument, call))
                    break
                self._by_position.setdefault(position, {})[call] = argument
        self._values = {position: grouped(list(given.items())) for position, given in self._by_position.items()}

    def of(self, name: str, position: int) -> Passed:
        """As ``argument_of``, of all calls; -1: no position. Without keywords, one list for all names."""
        named = self._by_keyword.get(name)
        given = self._values.get(position, NONE_PASSED)
        return given.parts if named is None else [*named.values(), *given.without(named)]

    def spread(self, name: str, position: int) -> list[tuple[ast.expr, int]]:
        """Iterables that calls spread over the parameter, ``f(*batch)``, each with the place of its element."""
        named = self._by_keyword.get(name, {})
        return [(one.value, position - at) for at, one, call in self._spread if at <= position and call not in named]


def is_method(scope: Scope) -> bool:
    """Whether a function's scope is directly in a class."""
    return scope.parent is not None and scope.parent.kind == "class"


def _is_function(node: ast.AST | None) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def is_static(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Whether a method is decorated as static."""
    decorators = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in decorators)


def argument_of(
    call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str, method: bool
) -> ast.expr | None:
    """The expression that a call passes for the parameter ``name``; None if it passes none, or that is not certain."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if name not in names:
        return None
    index = names.index(name) - (1 if method and not is_static(function) else 0)
    given = call.args
    if not 0 <= index < len(given) or any(isinstance(a, ast.Starred) for a in given[: index + 1]):
        return None
    return given[index]
