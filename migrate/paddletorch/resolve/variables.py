"""Variables: what assignments, loops, parameters and imports bind names to."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from paddletorch.resolve.bindings import Binding
from paddletorch.resolve.called import Calls
from paddletorch.resolve.calls import argument_of, is_method
from paddletorch.resolve.expressions import TENSOR, element, elements, has_type
from paddletorch.resolve.facts import imported
from paddletorch.resolve.reaching import reaching
from paddletorch.resolve.values import NONE, NOTHING, UNKNOWN, Instance, Local, Values


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
        return self._variable(binding, lambda: self._bound_value(binding))

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
