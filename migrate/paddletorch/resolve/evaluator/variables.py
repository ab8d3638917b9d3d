"""Variables: what assignments, loops, parameters and imports bind names to."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch.resolve.evaluator.call_index import (
    ArgumentGroup,
    CallIndex,
    Passed,
    PassedArguments,
    is_method,
    is_static,
)
from paddletorch.resolve.evaluator.classes import Classes
from paddletorch.resolve.evaluator.environment import Environment
from paddletorch.resolve.evaluator.keeping_decorators import is_kept
from paddletorch.resolve.evaluator.operations import element, elements, has_type, tensors
from paddletorch.resolve.evaluator.solver import Solver
from paddletorch.resolve.evaluator.tensor_calls import TensorUses
from paddletorch.resolve.evaluator.type_expressions import TypeExpressions
from paddletorch.resolve.evaluator.written_defaults import defaults
from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.scopes.reaching import BindingGroup
from paddletorch.resolve.values import (
    NONE,
    NOTHING,
    TENSOR,
    UNKNOWN,
    Instance,
    Local,
    Partial,
    Qualified,
    Value,
    Values,
    qualified,
)

_MANY = 16
"""Arguments of more calls than this are one variable of the solver for all functions that may be called."""

_Given = tuple[Passed, list[tuple[ast.expr, int]]]
"""What calls pass to a parameter, and what they spread over it."""

_NONE_GIVEN: _Given = ((), [])

Arguments = tuple[Passed, list[ast.expr], list[tuple[ast.expr, int]]]
"""What calls pass to a parameter, iterables whose elements they pass, and those that they spread over it."""

_PLAIN = frozenset({"assign", "unpack", "iterate", "parameter"})

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Variables:
    """What names can be, by what binds them."""

    def __init__(
        self,
        environment: Environment,
        solver: Solver[Value],
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
        self._given: dict[tuple[int, str, int, bool], _Given] = {}
        self._positions: dict[ast.arguments, dict[str, int]] = {}
        """The positions of the parameters that can be given by position, from 1."""
        self._passed_to: dict[int, PassedArguments] = {}
        """By the identity of a list of calls."""

    def bound(self, bindings: Iterable[Binding | BindingGroup]) -> Values:
        """What any of the bindings binds, as far as it is known now."""
        found: Values = NOTHING
        for one in bindings:
            found |= self._binding(one) if isinstance(one, Binding) else self._group(one)
        return found

    def _group(self, group: BindingGroup) -> Values:
        return self._solver.variable(group, lambda: self.bound(group.parts))

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
            return tensors(self._evaluate(binding.value))  # another operand leaves the type as it is
        if binding.kind in ("iterate", "unpack") and binding.value is not None:
            found = iterable(self._environment, self._solver, binding.value)
            for position in binding.path or (None,):
                found = element(found, position)
            return found
        return UNKNOWN

    def _parameter(self, binding: Binding) -> Values:
        found = self._default(binding)
        function = binding.scope.node
        if isinstance(function, _Function):
            owner = _class_of_self(binding, function)
            if owner is not None and is_kept(function, self._evaluate):
                return self._classes.local_instance(owner)
            if self._is_forward_input(binding, function):
                found |= {Instance(TENSOR, "forward")}
            elif of_function := self._of_autograd_function(binding, function):
                return found | of_function
            elif not self._environment.closed_world or binding.name == "ctx":  # ``x.backward(y)`` has another receiver
                return found | UNKNOWN
        if isinstance(function, _Function | ast.Lambda):
            arguments, iterables, spread = self.arguments(binding, function)
            if arguments or iterables or spread:  # found may be empty: an argument may be a variable not known yet
                iterated = (iterable(self._environment, self._solver, node) for node in iterables)
                found |= self._passed(arguments) | frozenset(v for i in iterated for v in elements(i))
                return found.union(*(element(self._evaluate(node), place) for node, place in spread))
        return found if found - NONE else found | UNKNOWN

    def _default(self, binding: Binding) -> Values:
        """The default, and the APIs that the body assigns where no argument is given."""
        found: Values = NOTHING
        for default in defaults(self._environment.tree, binding):
            values = self._evaluate(default) - UNKNOWN
            if default is not binding.value:
                values = frozenset(v for v in values if isinstance(v, Qualified | Partial))
            found |= values
        return found

    def _passed(self, arguments: Passed) -> Values:
        if len(arguments) < _MANY:
            return self._any_of(arguments)
        return self._solver.variable(("arguments", id(arguments)), lambda: self._any_of(arguments))

    def _any_of(self, arguments: Passed) -> Values:
        found: Values = NOTHING
        for one in arguments:
            found |= self._group_passed(one) if isinstance(one, ArgumentGroup) else self._evaluate(one)
        return found

    def _group_passed(self, group: ArgumentGroup) -> Values:
        return self._solver.variable(group, lambda: self._any_of(group.parts))

    def arguments(self, binding: Binding, function: _Function | ast.Lambda) -> Arguments:
        """What calls in this module pass to the parameter.

        Also the iterables whose elements ``map`` passes to it, and those that calls spread over it.
        """
        method = is_method(binding.scope)
        calls = self._calls.of_lambda(function) if isinstance(function, ast.Lambda) else self._calls.of(function)
        position = self._position(binding.name, function.args)
        if method and calls and self._environment.types.member(TENSOR, getattr(function, "name", "")) is not None:
            calls = self._on_own_objects(calls, function)
            index = position - (1 if is_static(function) else 2) if position else -1
            own = PassedArguments(calls)
            return own.of(binding.name, index), [], own.spread(binding.name, index)
        # functions of one name that are called alike share what is passed, as the methods ``forward`` of many classes
        key = id(calls), binding.name, position, method and not is_static(function)
        given = self._given.get(key) if calls else _NONE_GIVEN
        if given is None:
            passed = self._passed_to.get(id(calls))
            if passed is None:
                passed = self._passed_to[id(calls)] = PassedArguments(calls)
            index = position - 1 - (1 if method and not is_static(function) else 0) if position else -1
            given = self._given[key] = passed.of(binding.name, index), passed.spread(binding.name, index)
        mapped = self._calls.mapped(function) if position and not method else []
        iterables = [c.args[position] for c in mapped if position < len(c.args)]
        return given[0], [i for i in iterables if not isinstance(i, ast.Starred)], given[1]

    def _on_own_objects(self, calls: Iterable[ast.Call], method: _Function | ast.Lambda) -> list[ast.Call]:
        """Those of the calls of a method that tensors have too, ``m.to(torch.bool)``, on objects of its class."""
        receivers = ((c, c.func.value, c.func.attr) for c in calls if isinstance(c.func, ast.Attribute))
        return [
            call
            for call, receiver, name in receivers
            if any(
                isinstance(value, Instance) and Local(method) in self._classes.method(value, name)
                for value in self._evaluate(receiver)
            )
        ]

    def _position(self, name: str, arguments: ast.arguments) -> int:
        """The position of a parameter, from 1; 0 for one that is only given by name."""
        positions = self._positions.get(arguments)
        if positions is None:
            names = (a.arg for a in (*arguments.posonlyargs, *arguments.args))
            positions = self._positions[arguments] = {name: number for number, name in enumerate(names, 1)}
        return positions.get(name, 0)

    def _is_forward_input(self, binding: Binding, function: _Function) -> bool:
        """Whether this is an input of a module's forward, which nothing says to be anything but a tensor."""
        parent = binding.scope.parent
        if function.name != "forward" or parent is None or not isinstance(parent.node, ast.ClassDef):
            return False
        if binding.annotation is not None or (binding.value is not None and self._evaluate(binding.value) != NONE):
            return False
        return has_type(self._classes.local_instance(parent.node), "module")

    def _of_autograd_function(self, binding: Binding, function: _Function) -> Values:
        """The context of an autograd function, a gradient that ``backward`` gets, or what ``forward`` saves."""
        parent = binding.scope.parent
        if function.name not in ("forward", "backward") or parent is None or not isinstance(parent.node, ast.ClassDef):
            return NOTHING
        parameters = [*function.args.posonlyargs, *function.args.args]
        if binding.node not in parameters or binding.value is not None:
            return NOTHING
        if not has_type(self._classes.local_instance(parent.node), "autograd_function"):
            return NOTHING
        if binding.node is parameters[0]:
            return frozenset({Instance("function_context", binding.name)})
        is_tensor = function.name == "backward" or _saves(function, parameters[0], binding.name)
        return frozenset({Instance(TENSOR, function.name)}) if is_tensor else NOTHING


def _saves(function: _Function, context: ast.arg, name: str) -> bool:
    """Whether the function saves the parameter in its context, which takes tensors only."""
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
    return any(
        ast.unparse(call.func) == f"{context.arg}.save_for_backward"
        and any(isinstance(one, ast.Name) and one.id == name for one in call.args)
        for call in calls
    )


def iterable(environment: Environment, solver: Solver[Value], node: ast.expr) -> Values:
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
    return None if binding.name == "cls" else parent.node
