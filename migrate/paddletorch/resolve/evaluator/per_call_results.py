"""What one call gives of a function that returns its parameters, as ``default(value, otherwise)`` does.

Read as one variable for all calls, such a function would give everything that any of its callers passes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from paddletorch.resolve.evaluator.call_index import argument_of, is_method
from paddletorch.resolve.evaluator.operations import arithmetic
from paddletorch.resolve.scopes.bindings import Binding, Scope
from paddletorch.resolve.values import NOTHING, UNKNOWN, Value, Values, container, tuple_of

Arguments = Mapping[str, ast.expr]
"""The argument that is passed for each parameter."""


def returned_parameters(function: ast.AST, scope: Scope) -> Sequence[Binding]:
    """The parameters that the function may return, as far as its calls say what they are."""
    if not isinstance(function, ast.FunctionDef) or is_method(scope) or None in scope.returns:
        return ()
    found: list[Binding] = []
    for name in {name for value in scope.returns if value is not None for name in _names(value)}:
        bindings = scope.bindings.get(name, ())
        if len(bindings) != 1 or bindings[0].kind != "parameter":
            continue  # rebound, or no parameter
        variadic = bindings[0].node in (function.args.vararg, function.args.kwarg)
        if bindings[0].annotation is None and not variadic:
            found.append(bindings[0])
    return found


def returned_arguments(call: ast.Call, function: ast.FunctionDef, parameters: Sequence[Binding]) -> Arguments | None:
    """The arguments of ``call`` for parameters that the function returns; None if there are none, or none is known."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    found = {p.name: argument_of(call, function, p.name, False) or p.value for p in parameters}
    return {name: argument for name, argument in found.items() if argument is not None} or None


def _names(value: ast.expr) -> Sequence[str]:
    """Names that the value may be, may contain or may be called from."""
    if isinstance(value, ast.Name):
        return [value.id]
    return [name for part in _parts(value) for name in _names(part)]


def _parts(value: ast.expr) -> Sequence[ast.expr]:
    """Operands, branches or elements of the expression; the function of a call without arguments."""
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


class Substitution:
    """Evaluates a function's results with the arguments of one call in the place of its parameters."""

    def __init__(
        self, evaluate: Callable[[ast.expr], Values], called: Callable[[Value], Values], arguments: Arguments
    ) -> None:
        self._evaluate = evaluate
        self._called = called
        self._arguments = arguments

    def result(self, value: ast.expr) -> Values:
        """What the returned expression ``value`` gives."""
        if isinstance(value, ast.Name):
            return self._evaluate(self._arguments.get(value.id, value))
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
            callees = self.result(value.func)
            for callee in callees:
                found |= self._called(callee)
            return found if found or not callees else UNKNOWN
        return self._evaluate(value)

    def _union(self, values: Sequence[ast.expr]) -> Values:
        found: Values = NOTHING
        for value in values:
            found |= self.result(value)
        return found
