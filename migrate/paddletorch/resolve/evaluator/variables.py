"""Variables: what assignments, loops, parameters and imports bind names to."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch.resolve.evaluator.call_index import CallIndex, argument_of, is_method
from paddletorch.resolve.evaluator.classes import Classes
from paddletorch.resolve.evaluator.environment import Environment
from paddletorch.resolve.evaluator.operations import element, elements, has_type
from paddletorch.resolve.evaluator.solver import Solver
from paddletorch.resolve.evaluator.tensor_calls import TensorUses
from paddletorch.resolve.evaluator.type_expressions import TypeExpressions
from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.values import NONE, NOTHING, TENSOR, UNKNOWN, Instance, Local, Values, qualified

_PLAIN = frozenset({"assign", "unpack", "iterate", "parameter"})

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Variables:
    """What names can be, by what binds them."""

    def __init__(
        self,
        environment: Environment,
        solver: Solver,
        classes: Classes,
        types: TypeExpressions,
        calls: CallIndex,
        uses: TensorUses,
    ) -> None:
        self._environment = environment
        self._solver = solver
        self._evaluate = solver.evaluate
        self._classes = classes
        self._types = types
        self._calls = calls
        self._uses = uses

    def bound(self, bindings: Iterable[Binding]) -> Values:
        """What any of the bindings binds, as far as it is known now."""
        found: Values = NOTHING
        for binding in bindings:
            found |= self._binding(binding)
        return found

    def _binding(self, binding: Binding) -> Values:
        if binding.qualified is not None:
            return qualified(binding.qualified)
        if binding.kind in ("def", "class"):
            return frozenset({Local(binding.node)})
        if binding.kind == "delete":
            return NOTHING
        return self._solver.variable(binding, lambda: self._by_definition_or_use(binding))

    def _by_definition_or_use(self, binding: Binding) -> Values:
        """By the value that is bound; a tensor where that is not known but a method of tensors is called."""
        found = self._bound_value(binding)
        if found - UNKNOWN - NONE or binding.kind not in _PLAIN or not self._environment.closed_world:
            return found
        return (found - UNKNOWN) | {Instance(TENSOR, "use")} if self._uses.show_tensor(binding) else found

    def _bound_value(self, binding: Binding) -> Values:
        annotated = self._types.annotated(binding.annotation, binding.scope) if binding.annotation else NOTHING
        if binding.kind == "parameter":
            return annotated or self._parameter(binding)
        if binding.kind == "assign":
            if binding.value is None:
                return annotated or (NOTHING if binding.annotation is not None else UNKNOWN)
            return self._evaluate(binding.value) | annotated
        if binding.kind == "augment" and binding.value is not None:
            found = self._evaluate(binding.value)
            return found if has_type(found, TENSOR) else NOTHING  # an operator leaves the type as it is
        if binding.kind in ("iterate", "unpack") and binding.value is not None:
            found = iterable(self._environment, self._solver, binding.value)
            for position in binding.path or (None,):
                found = element(found, position)
            return found
        return UNKNOWN

    def _parameter(self, binding: Binding) -> Values:
        found: Values = NOTHING
        function = binding.scope.node
        if binding.value is not None:
            found |= self._evaluate(binding.value) - UNKNOWN
        if isinstance(function, _Function):
            owner = _class_of_self(binding, function)
            if owner is not None:
                return self._classes.local_instance(owner)
            if self._is_forward_input(binding, function):
                found |= {Instance(TENSOR, "forward")}
            elif not self._environment.closed_world or binding.name == "ctx":  # ``x.backward(y)`` has another receiver
                return found | UNKNOWN
        if isinstance(function, _Function | ast.Lambda):
            arguments, iterables = self._arguments(binding, function)
            if arguments or iterables:  # found may be empty: the argument may be a variable that is not known yet
                iterated = (iterable(self._environment, self._solver, node) for node in iterables)
                return found | self._solver.union(arguments) | frozenset(v for i in iterated for v in elements(i))
        return found if found - NONE else found | UNKNOWN

    def _arguments(self, binding: Binding, function: _Function | ast.Lambda) -> tuple[list[ast.expr], list[ast.expr]]:
        """What calls in this module pass to the parameter, and the iterables whose elements ``map`` passes to it."""
        method = is_method(binding.scope)
        calls = self._calls.of_lambda(function) if isinstance(function, ast.Lambda) else self._calls.of(function)
        arguments = [argument_of(call, function, binding.name, method) for call in calls]
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        position = names.index(binding.name) + 1 if binding.name in names else 0
        mapped = self._calls.mapped(function) if position and not method else []
        iterables = [c.args[position] for c in mapped if position < len(c.args)]
        return [a for a in arguments if a is not None], [i for i in iterables if not isinstance(i, ast.Starred)]

    def _is_forward_input(self, binding: Binding, function: _Function) -> bool:
        """Whether this is an input of a module's forward, which nothing says to be anything but a tensor."""
        parent = binding.scope.parent
        if function.name != "forward" or parent is None or not isinstance(parent.node, ast.ClassDef):
            return False
        if binding.annotation is not None or (binding.value is not None and self._evaluate(binding.value) != NONE):
            return False
        return has_type(self._classes.local_instance(parent.node), "module")


def iterable(environment: Environment, solver: Solver, node: ast.expr) -> Values:
    """What is iterated over: a loader where only a name such as ``train_loader`` says so."""
    found = solver.evaluate(node)
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    if found == UNKNOWN and environment.closed_world and environment.types.suggests("loader", name):
        return frozenset({Instance("loader", name)})
    return found


def _class_of_self(binding: Binding, function: _Function) -> ast.ClassDef | None:
    """The class whose instance the parameter is: ``self`` of a plain method."""
    first = next(iter([*function.args.posonlyargs, *function.args.args]), None)
    parent = binding.scope.parent
    if first is not binding.node or parent is None or not isinstance(parent.node, ast.ClassDef):
        return None
    return None if function.decorator_list or binding.name == "cls" else parent.node
