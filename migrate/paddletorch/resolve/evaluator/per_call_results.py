"""Functions that hand on what they are given, as ``default(value, otherwise)`` does: what one call of them gives.

Read as one variable for all calls, such a function would give everything that any of its callers passes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from paddletorch.resolve.evaluator.call_index import argument_of, is_method
from paddletorch.resolve.evaluator.expressions import arithmetic
from paddletorch.resolve.scopes.bindings import Scope
from paddletorch.resolve.values import NOTHING, UNKNOWN, Value, Values, container, tuple_of

Given = Mapping[str, ast.expr]
"""The argument that stands for each parameter."""


def given(call: ast.Call, function: ast.AST, scope: Scope) -> Given | None:
    """What ``call`` passes to a function that hands parameters on; None if it hands on none, or nothing can be read."""
    if not isinstance(function, ast.FunctionDef) or is_method(scope) or None in scope.returns:
        return None
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    names = {name for value in scope.returns if value is not None for name in _handed_on(value)}
    found: dict[str, ast.expr] = {}
    for name in names:
        bindings = scope.bindings.get(name, ())
        if len(bindings) != 1 or bindings[0].kind != "parameter":
            continue  # rebound, or no parameter
        binding = bindings[0]
        if (
            binding.annotation is not None
            or function.args.vararg is binding.node
            or function.args.kwarg is binding.node
        ):
            continue
        argument = argument_of(call, function, name, False) or binding.value
        if argument is not None:
            found[name] = argument
    return found or None


def _handed_on(value: ast.expr) -> Sequence[str]:
    """Names that the value may be, hold or be called from."""
    if isinstance(value, ast.Name):
        return [value.id]
    return [name for part in _parts(value) for name in _handed_on(part)]


def _parts(value: ast.expr) -> Sequence[ast.expr]:
    """What the value is one of, or is made of."""
    if isinstance(value, ast.IfExp):
        return [value.body, value.orelse]
    if isinstance(value, ast.BoolOp):
        return value.values
    if isinstance(value, ast.Tuple | ast.List):
        return [e.value if isinstance(e, ast.Starred) else e for e in value.elts]
    if isinstance(value, ast.BinOp):
        return [value.left, value.right]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and not value.args and not value.keywords:
        return [value.func]
    return []


class Handing:
    """Evaluates a function's results with the arguments of one call in the place of its parameters."""

    def __init__(self, evaluate: Callable[[ast.expr], Values], called: Callable[[Value], Values], given: Given) -> None:
        self._evaluate = evaluate
        self._called = called
        self._given = given

    def result(self, value: ast.expr) -> Values:
        """What the value is."""
        if isinstance(value, ast.Name):
            return self._evaluate(self._given.get(value.id, value))
        if isinstance(value, ast.IfExp | ast.BoolOp):
            return self._union(_parts(value))
        if isinstance(value, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in value.elts):
            return tuple_of([self.result(e) for e in value.elts])
        if isinstance(value, ast.Tuple | ast.List):
            return container(self._union(_parts(value)) if value.elts else NOTHING)
        if isinstance(value, ast.BinOp):
            return arithmetic([self.result(value.left), self.result(value.right)])
        if isinstance(value, ast.Call) and _parts(value):
            found: Values = NOTHING
            for callee in self.result(value.func):
                found |= self._called(callee)
            return found if found or not self.result(value.func) else UNKNOWN
        return self._evaluate(value)

    def _union(self, values: Sequence[ast.expr]) -> Values:
        found: Values = NOTHING
        for value in values:
            found |= self.result(value)
        return found
