"""Tensors told by the methods that are called on them: no array has ``view(2, -1)`` or ``mean(dim=1)``."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts

from paddletorch.resolve.scopes.bindings import Binding, Scope
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
    if name == "type" and len(call.args) == 1:
        return _is_type_of_another(call.args[0])
    if name == "gather":  # of a communicator: no number first, and a number last
        return len(call.args) == 2 and _integer(call.args[0]) is not None and _integer(call.args[1]) is None
    if name != "transpose":
        return False
    if side == "paddle" and len(call.args) == 1 and _is_list_of_axes(call.args[0]):
        return True
    beyond = [n for n in numbers if not -2 <= n < 2]  # an array that takes two numbers has two axes
    return len(call.args) == 2 and bool(beyond)


def layer_called_by_super(tree: ScopeTree, call: ast.Call, side: str) -> str | None:
    """The framework's layer that ``super().forward(x)`` runs: the only base of the class around; it takes a tensor."""
    function = call.func
    owner = function.value if isinstance(function, ast.Attribute) and function.attr == "forward" else None
    if not (isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super"):
        return None
    around = tree.scopes[owner.func].enclosing_class()
    bases = around.node.bases if around is not None and isinstance(around.node, ast.ClassDef) else []
    name = _imported_name(tree, bases[0]) if len(bases) == 1 else None
    if name is None:
        return None
    last = name.rpartition(".")[2]
    others = {"Module", "Layer", *facts().tuple_modules[side], *(c.rpartition(".")[2] for c in _containers(side))}
    return name if name.startswith(f"{side}.nn.") and last not in others else None


def _imported_name(tree: ScopeTree, node: ast.expr) -> str | None:
    """The qualified name of a dotted expression that begins with a name which one import binds."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    imports = tree.scopes[node].lookup(node.id) if isinstance(node, ast.Name) and node in tree.scopes else []
    if len(imports) != 1 or imports[0].qualified is None:
        return None
    return ".".join([imports[0].qualified, *parts])


def _containers(side: str) -> frozenset[str]:
    return frozenset(facts().module_containers.get(side, ()))


def _is_type_of_another(node: ast.expr) -> bool:
    """Whether an argument is the dtype of another object: ``x.dtype``, ``x.type()``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "type" and not node.args
    return isinstance(node, ast.Attribute) and node.attr == "dtype"


def _is_list_of_axes(node: ast.expr) -> bool:
    """Whether this is a list of axes, as Paddle's ``transpose`` takes it; ``[2, 0, 1]`` is often an image's array."""
    axes = [_integer(element) for element in node.elts] if isinstance(node, ast.List) else []
    return bool(axes) and None not in axes and axes not in _AXES_OF_IMAGES


_AXES_OF_IMAGES: tuple[list[int | None], ...] = ([2, 0, 1], [1, 2, 0])


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
        self._variables: dict[tuple[Scope, str], frozenset[Binding]] = {}
        self._loads: dict[str, dict[Scope, list[ast.Name]]] = {}
        """Where names are read, by name and scope."""

    def show_tensor(self, binding: Binding) -> bool:
        """Whether what a local binding binds is used as a tensor, and the program never tests what it is."""
        if binding.scope.kind != "function":
            return False
        variable = binding.scope, binding.name
        if variable not in self._variables:
            self._variables[variable] = self._used_as_tensors(*variable)
        return binding in self._variables[variable]

    def _loads_in(self, scope: Scope, name: str) -> list[ast.Name]:
        """Where a local variable is read, outside of comprehensions."""
        found = self._loads.get(name)
        if found is None:
            found = self._loads[name] = {}
            for load in self._tree.names.get(name, ()):
                found.setdefault(self._tree.scopes[load], []).append(load)
        return found.get(scope, [])

    def _used_as_tensors(self, scope: Scope, name: str) -> frozenset[Binding]:
        """The bindings of a variable whose value, or its copy (``x = x.to(device)``), is used as a tensor."""
        loads, bindings = self._loads_in(scope, name), scope.bindings.get(name, [])
        if not bindings or any(self._is_tested(n) for n in loads):
            return frozenset()
        origins = {n: self._reaching.of(n, bindings).only() for n in loads}
        copied: dict[Binding, list[Binding]] = {}
        """What each binding copies."""
        for binding in bindings:
            source = _copied(binding.value) if binding.kind == "assign" else None
            original = origins.get(source) if isinstance(source, ast.Name) else None
            if original is not None and original is not binding:
                copied.setdefault(binding, []).append(original)
        queue = [origin for n, origin in origins.items() if origin is not None and self._is_receiver(n)]
        found: set[Binding] = set()
        while queue:
            if (binding := queue.pop()) not in found:
                found.add(binding)
                queue += copied.get(binding, ())
        return frozenset(found)

    def _is_tested(self, load: ast.Name) -> bool:
        """Whether the program itself asks what type of object the variable holds."""
        call = self._tree.parents.get(load)
        function = call.func if isinstance(call, ast.Call) else None
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        return name in _TESTS

    def _is_input(self, load: ast.Name) -> bool:
        """Whether the variable, or its copy, is given to the layer that the class derives from."""
        node: ast.AST = load
        parent = self._tree.parents.get(node)
        while isinstance(parent, ast.Attribute) and parent.attr in facts().conversions:
            node = self._tree.parents[parent]
            parent = self._tree.parents.get(node)
        if not isinstance(parent, ast.Call) or node not in parent.args[:1]:
            return False
        return layer_called_by_super(self._tree, parent, self._side) is not None

    def _is_operand(self, load: ast.Name) -> bool:
        """Whether a function that takes tensors alone is given it, maybe in another shape: ``mm(q, k.t())``."""
        node: ast.expr = load
        parent = self._tree.parents.get(node)
        if isinstance(parent, ast.Subscript) and parent.value is node and _is_of_axes(parent.slice):
            node, parent = parent, self._tree.parents.get(parent)
        while isinstance(parent, ast.Attribute) and parent.attr in facts().rearranging:
            call = self._tree.parents.get(parent)
            if not isinstance(call, ast.Call) or call.func is not parent:
                return False
            node, parent = call, self._tree.parents.get(call)
        if not isinstance(parent, ast.Call) or node not in parent.args:
            return False
        operands = facts().tensor_operands[self._side].get(_imported_name(self._tree, parent.func) or "", 0)
        before = parent.args[: parent.args.index(node)]
        return len(before) < operands and not any(isinstance(one, ast.Starred) for one in before)

    def _is_saved(self, load: ast.Name) -> bool:
        """Whether an autograd function keeps it for its backward pass, as tensors are: ``ctx.save_for_backward(x)``."""
        call = self._tree.parents.get(load)
        return isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "save_for_backward"

    def _is_receiver(self, load: ast.Name) -> bool:
        """Whether a method is called on the variable that only tensors have, or a layer takes it."""
        if self._is_input(load) or self._is_operand(load) or self._is_saved(load):
            return True
        member = self._tree.parents.get(load)
        if not isinstance(member, ast.Attribute) or member.attr in self._tree.class_members:
            return False
        call = self._tree.parents.get(member)
        if member.attr == "dtype" and getattr(call, "attr", "") == "is_floating_point":
            return True  # torch's dtypes alone have it
        if not isinstance(call, ast.Call) or call.func is not member:
            return False
        return member.attr in facts().distinctive or shows_tensor(call, self._side)


_TESTS = frozenset({"isinstance", "hasattr", "getattr", "type", "is_tensor", "callable", "issubclass"})


def _is_of_axes(index: ast.expr) -> bool:
    """Whether only a tensor or an array has such an index: ``[:, 1:]``."""
    return isinstance(index, ast.Tuple) and any(isinstance(one, ast.Slice) for one in index.elts)


def _copied(value: ast.expr | None) -> ast.expr | None:
    """``x`` of ``x.to(device)``."""
    function = value.func if isinstance(value, ast.Call) else None
    return function.value if isinstance(function, ast.Attribute) and function.attr in facts().conversions else None
