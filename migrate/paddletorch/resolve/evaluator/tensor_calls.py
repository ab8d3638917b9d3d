"""Tensors told by the methods that are called on them: no array has ``view(2, -1)`` or ``mean(dim=1)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch_rules.facts import facts

from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.scopes.reaching import ReachingDefinitions
from paddletorch.resolve.scopes.scopes import ScopeTree


def shows_tensor(call: ast.Call, side: str) -> bool:
    """As ``is_tensor_call``, and modules do not have the method: its receiver is a tensor, and so is its result."""
    return getattr(call.func, "attr", "") not in facts().of_modules_too and is_tensor_call(call, side)


def is_tensor_call(call: ast.Call, side: str) -> bool:
    """Whether the arguments show that the method called is a tensor's, whatever it is called on."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    named = {k.arg for k in call.keywords}
    if named & facts().tensor_keywords[side] or named & facts().keywords_of_method.get(name, frozenset()):
        return True
    if len(call.args) > facts().array_arguments.get(name, len(call.args)):
        return True
    numbers = [n for n in map(_integer, call.args) if n is not None]
    if name == "view":
        return len(call.args) > 1 or bool(numbers)
    if name == "flatten":
        return bool(numbers)  # of an array: "C"
    beyond = [n for n in numbers if not -2 <= n < 2]  # an array that takes two numbers has two axes
    return name == "transpose" and len(call.args) == 2 and bool(beyond)


def _integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _integer(node.operand)
        return None if number is None else -number
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class TensorUses:
    """Variables that must be tensors, because a method is called on them that only tensors have."""

    def __init__(self, tree: ScopeTree, side: str, reaching: ReachingDefinitions) -> None:
        self._tree = tree
        self._side = side
        self._reaching = reaching

    def show_tensor(self, binding: Binding) -> bool:
        """Whether what a local binding binds is used as a tensor, and the program never tests what it is."""
        if binding.scope.kind != "function":
            return False
        loads = [n for n in self._tree.names.get(binding.name, ()) if self._tree.scopes[n] is binding.scope]
        return not any(self._is_tested(n) for n in loads) and self._used_as_tensor(binding, loads)

    def _used_as_tensor(self, binding: Binding, loads: Sequence[ast.Name]) -> bool:
        """Whether the value, or its copy of the same name (``x = x.to(device)``), is used as a tensor."""
        bindings = binding.scope.bindings.get(binding.name, ())
        own = [n for n in loads if [b for b in self._reaching.of(n, bindings) if b.kind != "augment"] == [binding]]
        if any(self._is_receiver(n) for n in own):
            return True
        copies = [b for b in bindings if b is not binding and b.kind == "assign" and _copied(b.value) in own]
        return any(self._used_as_tensor(b, loads) for b in copies)

    def _is_tested(self, load: ast.Name) -> bool:
        """Whether the program itself asks what type of object the variable holds."""
        call = self._tree.parents.get(load)
        function = call.func if isinstance(call, ast.Call) else None
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        return name in _TESTS

    def _is_receiver(self, load: ast.Name) -> bool:
        """Whether a method is called on the variable that only tensors have."""
        member = self._tree.parents.get(load)
        if not isinstance(member, ast.Attribute) or member.attr in self._tree.class_members:
            return False
        call = self._tree.parents.get(member)
        if not isinstance(call, ast.Call) or call.func is not member:
            return False
        return member.attr in facts().distinctive or shows_tensor(call, self._side)


_TESTS = frozenset({"isinstance", "hasattr", "getattr", "type", "is_tensor", "callable", "issubclass"})


def _copied(value: ast.expr | None) -> ast.expr | None:
    """``x`` of ``x.to(device)``."""
    function = value.func if isinstance(value, ast.Call) else None
    return function.value if isinstance(function, ast.Attribute) and function.attr in facts().conversions else None
