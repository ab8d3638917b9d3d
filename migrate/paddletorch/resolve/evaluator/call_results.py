"""What calls give: of APIs, functions and classes of the file, methods, modules and builtins."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from paddletorch_rules.facts import facts

from paddletorch.resolve.evaluator.attributes import Attributes
from paddletorch.resolve.evaluator.expressions import (
    COPIES,
    HOLDERS,
    TENSOR,
    arithmetic,
    elements,
    is_foreign,
    is_foreign_builtin,
    plain,
)
from paddletorch.resolve.evaluator.facts import result_of
from paddletorch.resolve.evaluator.per_call_results import Given, Handing, given
from paddletorch.resolve.evaluator.tensor_calls import shows_tensor
from paddletorch.resolve.scopes.bindings import Scope
from paddletorch.resolve.values import (
    NOTHING,
    UNKNOWN,
    Container,
    Instance,
    Local,
    Method,
    Partial,
    Qualified,
    Returning,
    Unknown,
    Value,
    Values,
    container,
    tuple_of,
)

_VERB = re.compile(
    "_*(add|build|check|compile|convert|create|enable|export|find|fit|freeze|from|get|import|infer|init|load|make|parse"
    "|prepare|process|read|register|remap|replace|run|save|search|set|setup|test|to|trace|train|unwrap|update|wrap)_"
)
"""How the name of a function over modules begins, whose result is no forward's."""


class Calls(Attributes):
    """What ``f(...)`` can be."""

    def _call(self, node: ast.Call) -> Values:
        found: Values = NOTHING
        for callee in self._evaluate(node.func):
            found |= self._called(callee, node)
        if isinstance(node.func, ast.Attribute) and not found - UNKNOWN:
            held = self._elements_method(node)
            if held:
                return held
        if found == UNKNOWN or not found:
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if isinstance(node.func, ast.Name) and not self.tree.scopes[node.func].lookup(name):
                return self._builtin(name, node)
            if not self._closed:
                return found  # what is only guessed here is no news elsewhere
            if isinstance(node.func, ast.Attribute) and name not in self._own_methods:
                made = self._types.distinctive(name, self._home)
                if made is None and shows_tensor(node, self._home):
                    made = (self._types.member(TENSOR, name) or ("", None))[1]
                if made is not None:
                    return result_of(_of_size(made, name, node), name)
            if self._is_forward_call(node, name):
                return frozenset({Instance(TENSOR, name), Unknown()})
        return found

    def _is_forward_call(self, node: ast.Call, name: str) -> bool:
        """Whether a call such as ``self.encoder(x)`` runs a module, as far as its name says."""
        if not (node.args or node.keywords) or name[:1].isupper() or name.endswith("s") or _VERB.match(name):
            return False
        callees = self._evaluate(node.func)
        if any(isinstance(v, Qualified | Local | Method | Returning) for v in callees):
            return False  # a function, whose result its name does not say
        return self._types.suggests("module", name)

    @cached_property
    def _own_methods(self) -> frozenset[str]:
        """Methods that classes of this file define."""
        classes = (s for s in self.tree.own.values() if s.kind == "class")
        return frozenset(name for scope in classes for name in scope.bindings)

    def _builtin(self, name: str, node: ast.Call) -> Values:
        if is_foreign_builtin(name):
            return plain(name if name in ("int", "float", "str", "bool") else "int" if name == "len" else "object")
        if name in HOLDERS and node.args:
            parts = [elements(self._iterable(argument)) for argument in node.args]
            if name in ("zip", "enumerate") and not any(isinstance(a, ast.Starred) for a in node.args):
                return container(tuple_of(parts if name == "zip" else [plain("int"), parts[0]]))
            held: Values = frozenset(v for part in parts for v in part)
            return held if name == "next" else container(held)
        if name in ("sum", "abs") and node.args:
            given = self._evaluate(node.args[0])
            return arithmetic([elements(given) if name == "sum" else given])
        return UNKNOWN

    def _called(self, callee: Value, node: ast.Call | None) -> Values:
        """What calling ``callee`` gives; ``node`` is the call if it stands in this file."""
        if isinstance(callee, Qualified):
            if node is not None and node.args and callee.name in ("functools.partial", "partial"):
                return frozenset(
                    Partial(v.name, len(node.args) - 1) if isinstance(v, Qualified) else Unknown()
                    for v in self._evaluate(node.args[0])
                )
            if node is not None and node.args and callee.name in COPIES:
                return self._evaluate(node.args[0])
            if callee.name.startswith("einops.") and node is not None and node.args:
                return self._rearranged(callee.name.rpartition(".")[2], node)
            if is_foreign(callee.name):
                return frozenset({Instance("foreign", callee.name)})
            made = self._makes(callee.name)
            if made is None and self._outside is not None and (found := self._outside.called(callee.name)):
                return found
            return result_of(made, callee.name)
        if isinstance(callee, Partial):
            return result_of(self._makes(callee.name), callee.name)
        if isinstance(callee, Local):
            return self._local_call(callee.node, node)
        if isinstance(callee, Method):
            makes = _of_size(callee.makes, callee.name, node)
            return result_of(makes, f"{callee.root}.{callee.name}" if callee.root else callee.name)
        if isinstance(callee, Instance):
            return self._instance_call(callee)
        return callee.gives if isinstance(callee, Returning) else UNKNOWN

    def _rearranged(self, function: str, node: ast.Call) -> Values:
        """What a function of einops gives: of the library that its first argument is of, if it can be told."""
        if function not in facts().einops:
            return UNKNOWN
        given = self._evaluate(node.args[0])
        held = frozenset(v for v in given | elements(given) if isinstance(v, Instance))
        library: Values = frozenset(v for v in held if v.type in (TENSOR, "foreign"))
        if not library and given and self._closed:
            library = frozenset({Instance(TENSOR, function), Unknown()})
        if function == "pack" and library:
            return tuple_of([library, container(plain("object"))])
        return (container(library) if function == "unpack" and library else library) or (given and UNKNOWN)

    def _instance_call(self, callee: Instance) -> Values:
        """Calling a module runs its forward: what that returns, or a tensor where the framework made it."""
        if callee.type == "foreign":
            return NOTHING if callee.api in ("int", "float", "str", "bool") else frozenset({callee})
        if "module" not in self._types.bases(callee.type):
            return UNKNOWN
        if callee.node is not None or callee.outside:
            found: Values = NOTHING
            for forward in self._own_member(callee, "forward"):
                found |= self._called(forward, None)
            return found or UNKNOWN
        tensor: Values = frozenset({Instance(TENSOR, callee.api)})
        side, _, name = callee.api.partition(".")
        several = name.rpartition(".")[2] in facts().tuple_modules.get(side, ())
        return frozenset({Container(tensor | container(tensor))}) if several else tensor

    def _local_call(self, node: ast.AST, call: ast.Call | None) -> Values:
        if isinstance(node, ast.ClassDef):
            return self._local_instance(node)
        scope = self.tree.own.get(node)
        if scope is None:
            return UNKNOWN
        promised = self._annotated(node.returns, scope) if isinstance(node, ast.FunctionDef) else NOTHING
        if not scope.returns or getattr(node, "decorator_list", None):
            return promised or UNKNOWN
        passed = given(call, node, scope) if call is not None and not promised else None
        if passed is not None and node not in self._handing:
            return self._handed_on(node, scope, passed)
        found = self._variable(node, lambda: self._returned(scope))
        return (found - UNKNOWN) | promised if promised and not found.isdisjoint(UNKNOWN) else found

    def _handed_on(self, node: ast.AST, scope: Scope, passed: Given) -> Values:
        self._handing.add(node)  # one that calls itself is read for all its calls at once
        handing = Handing(self._evaluate, lambda callee: self._called(callee, None), passed)
        found: Values = NOTHING
        for value in scope.returns:
            assert value is not None
            found |= handing.result(value)
        self._handing.discard(node)
        return found

    def _returned(self, scope: Scope) -> Values:
        found: Values = NOTHING
        for value in scope.returns:
            found |= UNKNOWN if value is None else self._evaluate(value)
        return found

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
        if node.func.attr == "items":
            return container(tuple_of([plain("str"), held or UNKNOWN]))
        return container(held) if node.func.attr in ("values", "copy") else NOTHING


def _of_size(made: str, name: str, call: ast.Call | None) -> str:
    """``x.size()`` gives a size, ``x.size(0)`` a number."""
    if name != "size" or made not in ("int", "shape") or call is None:
        return made
    return "int" if call.args or call.keywords else "shape"
