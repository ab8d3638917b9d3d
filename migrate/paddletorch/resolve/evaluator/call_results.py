"""What calls give: of APIs, functions and classes of the module, methods, modules and builtins."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from paddletorch_rules.facts import facts
from paddletorch_rules.guesses import suggests

from paddletorch.resolve.evaluator.classes import Classes
from paddletorch.resolve.evaluator.environment import Environment
from paddletorch.resolve.evaluator.held_modules import held_modules
from paddletorch.resolve.evaluator.keeping_decorators import is_kept
from paddletorch.resolve.evaluator.operations import (
    COLLECTING,
    COPIES,
    arithmetic,
    container_method,
    einops_function,
    element,
    elements,
    foreign_builtin,
    has_type,
    is_foreign,
    of_kind,
)
from paddletorch.resolve.evaluator.per_call_results import (
    Arguments,
    Substitution,
    returned_arguments,
    returned_parameters,
)
from paddletorch.resolve.evaluator.solver import Solver
from paddletorch.resolve.evaluator.tensor_calls import layer_called_by_super, shows_tensor
from paddletorch.resolve.evaluator.type_expressions import TypeExpressions
from paddletorch.resolve.evaluator.variables import iterable
from paddletorch.resolve.scopes.bindings import Binding, Scope
from paddletorch.resolve.values import (
    NOTHING,
    TENSOR,
    UNKNOWN,
    Container,
    Instance,
    Local,
    Method,
    OpaqueFunction,
    Partial,
    Qualified,
    Unknown,
    Value,
    Values,
    container,
    foreign,
    tuple_of,
)

_OF_PATHS = frozenset({"joinpath", "with_name", "with_stem", "with_suffix"})
"""Methods that only path objects have, and that give one."""

_MANY = 16
"""With so many functions of one name, what their calls share is found once."""


class CallResults:
    """What ``f(...)`` can be."""

    def __init__(
        self, environment: Environment, solver: Solver[Value], classes: Classes, types: TypeExpressions
    ) -> None:
        self._environment = environment
        self._solver = solver
        self._evaluate = solver.evaluate
        self._tree = environment.tree
        self._tables = environment.types
        self._closed_world = environment.closed_world
        self._classes = classes
        self._types = types
        self._substituting: set[ast.AST] = set()
        """Functions whose results are being evaluated for one call."""
        self._returned_parameters: dict[ast.AST, Sequence[Binding]] = {}
        self._by_call: dict[Values, Values] = {}
        """Of many callees of one name those of which the result depends on the call."""

    def call(self, node: ast.Call) -> Values:
        """What the call gives: by what is called, else by the name of the function and its arguments."""
        function = node.func
        callees = self._evaluate(function)
        found = self._any_called(callees, node) if len(callees) < _MANY else self._many_called(callees, node)
        if found - UNKNOWN:
            return found
        if isinstance(function, ast.Attribute) and (
            element_values := container_method(self._evaluate(function.value), function.attr)
        ):
            return element_values
        if isinstance(function, ast.Name) and not self._tree.scopes[function].lookup(function.id):
            return self._builtin(function.id, node)
        return self._by_name(node) or found if self._closed_world else found

    def _any_called(self, callees: Iterable[Value], node: ast.Call | None) -> Values:
        """What calling one of ``callees`` gives."""
        found: Values = NOTHING
        for callee in callees:
            found |= self.called(callee, node)
        return found

    def _many_called(self, callees: Values, node: ast.Call) -> Values:
        """As ``_any_called``; what is the same for all calls of these is found once."""
        if callees not in self._by_call:
            self._by_call[callees] = frozenset(c for c in callees if self._depends_on_call(c))
        by_call = self._by_call[callees]
        alike = self._solver.shared(("called", callees), lambda: self._any_called(callees - by_call, None))
        return alike | self._any_called(by_call, node)

    def _depends_on_call(self, callee: Value) -> bool:
        """Whether what a call gives may depend on what it passes."""
        if isinstance(callee, Local):
            return bool(self._parameters(callee.node))
        return isinstance(callee, Qualified | Method)

    def _parameters(self, function: ast.AST) -> Sequence[Binding]:
        """The parameters that the function may return."""
        found = self._returned_parameters.get(function)
        if found is None:
            scope = self._tree.own.get(function)
            found = returned_parameters(function, scope) if scope is not None else ()
            self._returned_parameters[function] = found
        return found

    def called(self, callee: Value, node: ast.Call | None) -> Values:
        """What calling ``callee`` gives; ``node`` is the call if it is one of this module."""
        if isinstance(callee, Qualified):
            return self._api_call(callee.name, node)
        if isinstance(callee, Partial):
            return of_kind(self._tables.makes(callee.name), callee.name)
        if isinstance(callee, Local):
            return self._local_call(callee.node, node)
        if isinstance(callee, Method):
            makes = _size_or_dimension(callee.makes, callee.name, node)
            return of_kind(makes, f"{callee.root}.{callee.name}" if callee.root else callee.name)
        if isinstance(callee, Instance):
            return self._instance_call(callee)
        return callee.result if isinstance(callee, OpaqueFunction) else UNKNOWN

    def _by_name(self, node: ast.Call) -> Values:
        """What a call of something unknown gives, if the name of what is called tells; else nothing."""
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        layer = layer_called_by_super(self._tree, node, self._environment.source)
        if layer is not None:
            return of_kind(TENSOR, layer)
        if isinstance(function, ast.Attribute) and name not in self._tree.class_members:
            made = self._tables.distinctive(name, self._environment.source)
            if made is None and shows_tensor(node, self._environment.source):
                made = (self._tables.member(TENSOR, name) or ("", None))[1]
            if made is not None:
                return of_kind(_size_or_dimension(made, name, node), name)
            if name in _OF_PATHS:
                return foreign("pathlib.Path")
            if name == "saved_tensor" and self._environment.source == "paddle" and not node.args:
                return of_kind("tensors", name)  # of an autograd function's context
        return frozenset({Instance(TENSOR, name), Unknown()}) if self._is_forward_call(node, name) else NOTHING

    def _is_forward_call(self, node: ast.Call, name: str) -> bool:
        """Whether a call such as ``self.encoder(x)`` runs a module, as far as its name says."""
        if not (node.args or node.keywords) or name[:1].isupper() or name.endswith("s") or suggests("verb", name):
            return False
        callees = self._evaluate(node.func)
        if any(isinstance(v, Qualified | Local | Method | OpaqueFunction) for v in callees):
            return False  # a function, whose result its name does not say
        return self._tables.suggests("module", name)

    def _builtin(self, name: str, node: ast.Call) -> Values:
        if found := foreign_builtin(name):
            return found
        if name in COLLECTING and node.args:
            parts = [elements(iterable(self._environment, self._solver, argument)) for argument in node.args]
            if name in ("zip", "enumerate") and not any(isinstance(a, ast.Starred) for a in node.args):
                return container(tuple_of(parts if name == "zip" else [foreign("int"), parts[0]]))
            found = frozenset(v for part in parts for v in part)
            return found if name == "next" else container(found)
        if name == "dict" and len(node.args) == 1 and not node.keywords:
            pairs = elements(iterable(self._environment, self._solver, node.args[0]))
            if pairs and all(isinstance(v, Container) and len(v.parts) == 2 for v in pairs):
                return container(element(pairs, 1))
            return UNKNOWN
        if name in ("max", "min") and len(node.args) > 1:
            found = self._solver.union(node.args)
            return UNKNOWN if has_type(found, TENSOR) else found
        if name in ("sum", "abs") and node.args:
            argument = self._evaluate(node.args[0])
            return arithmetic([elements(argument) if name == "sum" else argument])
        return UNKNOWN

    def _api_call(self, name: str, node: ast.Call | None) -> Values:
        if node is not None and node.args:
            if name in ("functools.partial", "partial"):
                added = len(node.args) - 1
                return frozenset(_partial(v, added) for v in self._evaluate(node.args[0]))
            if name in COPIES:
                return self._evaluate(node.args[0])
            if name.startswith("einops."):
                first = self._evaluate(node.args[0])
                return einops_function(name.rpartition(".")[2], first, closed_world=self._closed_world)
            if name in facts().picture_functions[self._environment.source]:
                return self._evaluate(node.args[0])
        if is_foreign(name):
            return foreign(name)
        made = self._tables.makes(name)
        if made is None and (found := self._environment.external.call(name)):
            return found
        if name in facts().module_containers.get(name.partition(".")[0], ()) and node is not None and made is not None:
            return frozenset({Instance(made, name, holds=held_modules(self._tree, node, self._evaluate))})
        return frozenset({Instance(made, name, call=node)}) if made in facts().made_one_by_one else of_kind(made, name)

    def _instance_call(self, callee: Instance) -> Values:
        """Calling a module runs its forward: what that returns, or a tensor where the framework made it."""
        if callee.type == "foreign":
            return NOTHING if callee.api in ("int", "float", "str", "bool") else frozenset({callee})
        if "module" not in self._tables.bases(callee.type):
            return UNKNOWN
        if callee.node is not None or callee.external_class:
            found: Values = NOTHING
            for forward in self._classes.method(callee, "forward"):
                found |= self.called(forward, None)
            return found or UNKNOWN
        tensor: Values = frozenset({Instance(TENSOR, callee.api)})
        side, _, name = callee.api.partition(".")
        if name.rpartition(".")[2] in facts().tuple_modules.get(side, ()):
            return frozenset({Container(tensor | container(tensor))})
        return tensor

    def _local_call(self, function: ast.AST, call: ast.Call | None) -> Values:
        if isinstance(function, ast.ClassDef):
            return self._classes.local_instance(function)
        scope = self._tree.own.get(function)
        if scope is None:
            return UNKNOWN
        annotated = self._types.annotated(function.returns, scope) if isinstance(function, ast.FunctionDef) else NOTHING
        if not scope.returns or not is_kept(function, self._evaluate):
            return annotated or UNKNOWN
        parameters = self._parameters(function) if call is not None and not annotated else ()
        if call is not None and parameters and function not in self._substituting:
            assert isinstance(function, ast.FunctionDef)
            arguments = returned_arguments(call, function, parameters)
            if arguments is not None:
                return self._substituted(function, scope, arguments)
        found = self._solver.variable(function, lambda: self._returned(scope))
        return (found - UNKNOWN) | annotated if annotated and not found.isdisjoint(UNKNOWN) else found

    def _substituted(self, function: ast.AST, scope: Scope, arguments: Arguments) -> Values:
        """What one call gives; recursive calls of the function are evaluated together, as one variable."""
        self._substituting.add(function)
        substitution = Substitution(self._evaluate, lambda callee: self.called(callee, None), arguments)
        found: Values = NOTHING
        for value in scope.returns:
            assert value is not None
            found |= substitution.result(value)
        self._substituting.discard(function)
        return found

    def _returned(self, scope: Scope) -> Values:
        found: Values = NOTHING
        for value in scope.returns:
            found |= UNKNOWN if value is None else self._evaluate(value)
        return found


def _size_or_dimension(made: str, name: str, call: ast.Call | None) -> str:
    """``x.size()`` gives a size, ``x.size(0)`` a number."""
    if name != "size" or made not in ("int", "shape") or call is None:
        return made
    return "int" if call.args or call.keywords else "shape"


def _partial(callee: Value, added: int) -> Value:
    """What ``functools.partial`` makes of ``callee`` and so many positional arguments."""
    if isinstance(callee, Partial):
        return Partial(callee.name, callee.positional + added)
    return Partial(callee.name, added) if isinstance(callee, Qualified) else Unknown()
