"""Variables: what assignments, loops, parameters and imports bind names to."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from paddletorch_rules.facts import facts

from paddletorch.resolve.evaluator.call_index import argument_of, is_method
from paddletorch.resolve.evaluator.call_results import Calls
from paddletorch.resolve.evaluator.expressions import TENSOR, element, elements, has_type
from paddletorch.resolve.evaluator.facts import imported
from paddletorch.resolve.evaluator.tensor_calls import shows_tensor
from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.scopes.reaching import reaching
from paddletorch.resolve.values import NONE, NOTHING, UNKNOWN, Instance, Local, Values

_PLAIN = frozenset({"assign", "unpack", "iterate", "parameter"})
_TESTS = frozenset({"isinstance", "hasattr", "getattr", "type", "is_tensor", "callable", "issubclass"})


def _copied(value: ast.expr | None) -> ast.expr | None:
    """``x`` of ``x.to(device)``."""
    function = value.func if isinstance(value, ast.Call) else None
    return function.value if isinstance(function, ast.Attribute) and function.attr in facts().conversions else None


class Variables(Calls):
    """What names can be, by what binds them."""

    def _reached(self, node: ast.Name, bindings: Sequence[Binding]) -> Sequence[Binding]:
        found = self._reaching.get(node)
        if found is None:
            found = self._reaching[node] = reaching(self.tree, node, bindings)
        return found

    def _bound(self, bindings: Iterable[Binding]) -> Values:
        found: Values = NOTHING
        for binding in bindings:
            found |= self._binding(binding)
        return found

    def _binding(self, binding: Binding) -> Values:
        if binding.qualified is not None:
            return imported(binding.qualified)
        if binding.kind in ("def", "class"):
            return frozenset({Local(binding.node)})
        if binding.kind == "delete":
            return NOTHING
        return self._variable(binding, lambda: self._or_by_use(binding, self._bound_value(binding)))

    def _or_by_use(self, binding: Binding, found: Values) -> Values:
        """``found``, or a tensor where nothing is known but that a method is called on it that only tensors have."""
        if found - UNKNOWN - NONE or binding.kind not in _PLAIN or not self._closed:
            return found
        loads = [n for n in self.tree.names.get(binding.name, ()) if self.tree.scopes[n] is binding.scope]
        if binding.scope.kind != "function" or any(self._is_tested(n) for n in loads):
            return found
        return (found - UNKNOWN) | {Instance(TENSOR, "use")} if self._used_as_tensor(binding, loads) else found

    def _used_as_tensor(self, binding: Binding, loads: Sequence[ast.Name]) -> bool:
        """Whether what this binding holds, or its copy of the same name (``x = x.to(device)``), is used as a tensor."""
        bindings = binding.scope.bindings.get(binding.name, ())
        own = [n for n in loads if [b for b in self._reached(n, bindings) if b.kind != "augment"] == [binding]]
        if any(self._is_tensors_use(n) for n in own):
            return True
        copies = [b for b in bindings if b is not binding and b.kind == "assign" and _copied(b.value) in own]
        return any(self._used_as_tensor(b, loads) for b in copies)

    def _is_tested(self, load: ast.Name) -> bool:
        """Whether the program itself asks what the variable holds."""
        call = self.tree.parents.get(load)
        function = call.func if isinstance(call, ast.Call) else None
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        return name in _TESTS

    def _is_tensors_use(self, load: ast.Name) -> bool:
        member = self.tree.parents.get(load)
        if not isinstance(member, ast.Attribute) or member.attr in self._own_methods:
            return False
        call = self.tree.parents.get(member)
        if not isinstance(call, ast.Call) or call.func is not member:
            return False
        return member.attr in facts().distinctive or shows_tensor(call, self._home)

    def _bound_value(self, binding: Binding) -> Values:
        annotated = self._annotated(binding.annotation, binding.scope) if binding.annotation is not None else NOTHING
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
            held = self._iterable(binding.value)
            for position in binding.path or (None,):
                held = element(held, position)
            return held
        return UNKNOWN

    def _parameter(self, binding: Binding) -> Values:
        found: Values = NOTHING
        function = binding.scope.node
        if binding.value is not None:
            found |= self._evaluate(binding.value) - UNKNOWN
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            owner = self._receiver(binding, function)
            if owner is not None:
                return self._local_instance(owner)
            if self._is_forward(binding, function):
                found |= {Instance(TENSOR, "forward")}
            elif not self._closed or binding.name == "ctx":  # the calls ``x.backward(y)`` are of other objects
                return found | UNKNOWN
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            given, mapped = self._passed(binding, function)
            if given or mapped:  # nothing is known yet where nothing is found: the parameter may be what is passed on
                return found | self._union(given) | frozenset(v for m in mapped for v in elements(self._iterable(m)))
        return found if found - NONE else found | UNKNOWN

    def _passed(
        self, binding: Binding, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    ) -> tuple[list[ast.expr], list[ast.expr]]:
        """What calls in this file pass to the parameter, and what ``map`` takes its values from."""
        method = is_method(binding.scope)
        calls = self.calls.of_lambda(function) if isinstance(function, ast.Lambda) else self.calls.of(function)
        passed = [argument_of(call, function, binding.name, method) for call in calls]
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        place = names.index(binding.name) + 1 if binding.name in names else 0
        mapped = self.calls.mapped(function) if place and not method else []
        iterated = [c.args[place] for c in mapped if place < len(c.args)]
        return [a for a in passed if a is not None], [a for a in iterated if not isinstance(a, ast.Starred)]

    @staticmethod
    def _receiver(binding: Binding, function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.ClassDef | None:
        """The class whose instance the parameter is: ``self`` of a plain method."""
        first = next(iter([*function.args.posonlyargs, *function.args.args]), None)
        parent = binding.scope.parent
        if first is not binding.node or parent is None or not isinstance(parent.node, ast.ClassDef):
            return None
        return None if function.decorator_list or binding.name == "cls" else parent.node

    def _is_forward(self, binding: Binding, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether this is an input of a module's forward, which nothing says to be anything but a tensor."""
        parent = binding.scope.parent
        if function.name != "forward" or parent is None or not isinstance(parent.node, ast.ClassDef):
            return False
        if binding.annotation is not None or (binding.value is not None and self._evaluate(binding.value) != NONE):
            return False
        return has_type(self._local_instance(parent.node), "module")
