"""Infers dtypes of torch's tensors from constructors, casts, comparisons and arithmetic.

A dtype is ``float32``, ``int64``...; ``FLOATING`` is a floating-point dtype of unknown width. An unknown dtype is
None, never a guess.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch_rules.facts import facts

from paddletorch.model import Ask
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.inference.torch_functions import function_name
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding, Instance
from paddletorch.resolve.values import Local

FLOATING = "floating"
_DEFAULT = "float32"
"""The dtype that torch gives Python's floats, unless ``set_default_dtype`` changes it."""

SMALL_INTEGERS = frozenset({"uint8", "int8", "int16"})
"""Integers for which many of Paddle's functions and operators have no kernel on a CPU."""

_NUMBERS = {"bool": 0, "int": 1, "float": 2, "complex": 3}
_LAYERS = frozenset({"linear", "conv", "norm", "embedding", "activation", "pooling", "dropout", "layer"})
_DEPTH = 40
_DEFINITIONS = 64
"""A name that more definitions reach than any code has that a person writes has no known dtype."""


def category(dtype: str) -> int:
    """0 for bool, 1 for integers, 2 for floating-point, 3 for complex numbers; torch promotes to the higher one."""
    return facts().dtype_categories.get(dtype, 2)


def promoted(first: str | None, second: str | None) -> str | None:
    """The dtype of torch's result for two tensors of these dtypes."""
    if first is None or second is None or first == second:
        return first if first == second else None
    if category(first) != category(second):
        return max(first, second, key=category)
    widths = facts().dtype_widths
    if first in widths and second in widths:
        return max(first, second, key=widths.__getitem__)
    return FLOATING if category(first) == 2 else None


class Dtypes:
    """The dtypes of one file's expressions."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self.default = _default(view)
        """The dtype of Python's floats in tensors."""
        self._known: dict[ast.expr, str | None] = {}
        self._stored: dict[str, str | None] = {}
        """The dtypes of attributes of ``self``, by their names."""
        self._depth = 0

    def of(self, node: ast.expr) -> str | None:
        """The dtype of the tensor ``node``; None if it is unknown, or ``node`` is no tensor."""
        if node in self._known:
            return self._known[node]
        if self._depth > _DEPTH:
            return None
        self._known[node] = None  # a dtype that depends on itself is unknown
        self._depth += 1
        try:
            found = self._known[node] = self._recorded(node, self._of(node))
        finally:
            self._depth -= 1
        return found

    def _recorded(self, node: ast.expr, found: str | None) -> str | None:
        """``found``, or the dtype that every recorded run saw where that is not, or not exactly, known."""
        if found not in (None, FLOATING):
            return found
        seen = self._view.seen(Ask.DTYPE, node)
        if not seen or not seen <= facts().dtype_categories.keys():
            return found
        if len(seen) == 1:
            (only,) = seen
            return only if found is None or category(only) == 2 else found
        return FLOATING if all(category(one) == 2 for one in seen) else found

    def source(self, node: ast.expr) -> ast.expr:
        """The innermost tensor with the same floating-point dtype as ``node``: ``x`` of ``(x * 2).sum(1)``."""
        while True:
            inner = self._inner(node)
            if inner is None:
                return node
            node = inner

    def _inner(self, node: ast.expr) -> ast.expr | None:
        if isinstance(node, ast.Call):
            name, operands = self._function(node)
            name = name.removesuffix("_")
            known = name in facts().floating_only or name in facts().same_dtype or name in facts().sums
            known = known or name.endswith("_like")
            if operands and name in facts().floating_results:
                known = known or self.of(operands[0]) == FLOATING
            return operands[0] if known and operands and all(k.arg != "dtype" for k in node.keywords) else None
        if isinstance(node, ast.Subscript) and self.is_tensor(node.value):
            return node.value
        if isinstance(node, ast.BinOp):
            if self.of(node.left) == self.of(node.right) == FLOATING:
                return node.left  # two widths are most likely one
            for one, other in ((node.left, node.right), (node.right, node.left)):
                lower = self.of(other) if self.number(other) is None else "int64"
                if lower is not None and category(lower) < 2 and self.is_tensor(one) and self._keeps_dtype(node, one):
                    return one
        return None

    def _keeps_dtype(self, node: ast.BinOp, one: ast.expr) -> bool:
        """Whether the result has the dtype of this operand, as far as is known: a quotient of integers has not."""
        found = self.of(one)
        return self.of(node) is None if found is None else category(found) == category(FLOATING)

    def number(self, node: ast.expr) -> int | None:
        """The category of a Python number; None for anything else."""
        found = kinds(self._view, node) - {"number"}
        found = found if found and found <= _NUMBERS.keys() else self._view.seen(Ask.DTYPE, node)
        return max(map(_NUMBERS.__getitem__, found)) if found and found <= _NUMBERS.keys() else None

    def _of(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.UnaryOp):
            return None if isinstance(node.op, ast.Not) else self.of(node.operand)
        if isinstance(node, ast.Compare):
            plain = any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops)
            sides = (node.left, *node.comparators)
            return "bool" if not plain and (self.is_tensor(node) or any(map(self._is_shown, sides))) else None
        if isinstance(node, ast.IfExp):
            return self._either(node)
        return None

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether ``node`` can be a tensor, as far as its values are known."""
        values = self._view.evaluator.values(node)
        return any(isinstance(v, Instance) and v.type == "tensor" for v in values)

    def _is_shown(self, node: ast.expr) -> bool:
        """Whether a parameter is a tensor because another is made like it: ``torch.ones_like(x)``."""
        if not isinstance(node, ast.Name):
            return False
        bindings = self._view.tree.scopes[node].lookup(node.id)
        return len(bindings) == 1 and bindings[0].kind == "parameter" and id(bindings) in self._view.provide(_copied)

    def _either(self, node: ast.IfExp) -> str | None:
        """The dtype of both branches; a number in one of them takes part in operations as a floating tensor would."""
        branches = (node.body, node.orelse)
        tensors = [n for n in branches if self.number(n) is None]
        found = self._same(tensors)
        is_floating = found is not None and category(found) == category(FLOATING)
        return found if len(tensors) == len(branches) or is_floating else None

    def _same(self, nodes: Iterable[ast.expr]) -> str | None:
        found = {self.of(n) for n in nodes}
        return found.pop() if len(found) == 1 else None

    # names ---------------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> str | None:
        reached = self._view.evaluator.reaching(node)
        if len(reached) > _DEFINITIONS:
            return None
        found = {self._binding(b) for b in reached if b.kind != "augment"}  # an operation in place keeps the dtype
        return found.pop() if len(found) == 1 else None

    def _binding(self, binding: Binding) -> str | None:
        if binding.kind == "assign" and binding.value is not None:
            return self.of(binding.value)
        if binding.kind == "unpack" and binding.value is not None and len(binding.path) == 1:
            return self._part(binding.value, binding.path[0])
        if binding.kind == "parameter" and binding.annotation is not None:
            return facts().tensor_classes.get(ast.unparse(binding.annotation).rpartition(".")[2])
        return None

    def _part(self, node: ast.expr, position: int | None) -> str | None:
        """The dtype of the element at a position of a tuple."""
        if isinstance(node, ast.Tuple) and position is not None and position < len(node.elts):
            return self.of(node.elts[position])
        if not isinstance(node, ast.Call):
            return self.of(node)  # rows of a tensor
        name, operands = self._function(node)
        if name in facts().with_indices and operands:
            return "int64" if position == 1 else self.of(operands[0]) if position == 0 else None
        if name == "where" and len(operands) == 1:
            return "int64"
        return self.of(node) if name not in facts().tuple_results else None

    def _attribute(self, node: ast.Attribute) -> str | None:
        if node.attr in facts().same_dtype_attributes:
            return self.of(node.value)
        if node.attr in ("values", "indices") and isinstance(node.value, ast.Call):
            return self._part(node.value, int(node.attr == "indices"))
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return self._stored_to(node.attr) if own else None

    def _stored_to(self, attribute: str) -> str | None:
        """The dtype of all that is stored to an attribute."""
        if attribute not in self._stored:
            self._stored[attribute] = None  # a dtype that depends on itself is unknown
            stores = self._view.evaluator.stores(attribute)
            stored = [store.value for store in stores if not self._keeps(store.target)]
            values = [v for v in stored if v is not None]
            self._stored[attribute] = self._same(values) if values and len(values) == len(stored) else None
        return self._stored[attribute]

    def _keeps(self, target: ast.AST) -> bool:
        """Whether this is written to in place, which keeps its dtype."""
        return isinstance(self._view.parent(target), ast.AugAssign)

    def _subscript(self, node: ast.Subscript) -> str | None:
        position = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(node.value, ast.Call) and type(position) is int:
            return self._part(node.value, position)
        return self.of(node.value)

    # operations ----------------------------------------------------------------------------------

    def _operation(self, node: ast.BinOp) -> str | None:
        found = self.combined(node.left, node.right)
        if not isinstance(node.op, ast.Div):
            return found
        if found is None:  # whatever the other operand is, a quotient is no integer
            sides = (node.left, node.right)
            return FLOATING if any(self.of(one) is not None or self.is_certain(one) for one in sides) else None
        return self.default if category(found) < 2 else found

    def combined(self, left: ast.expr, right: ast.expr) -> str | None:
        """The dtype of an operation of two tensors, or of a tensor and a Python number."""
        first, second = self.of(left), self.of(right)
        if first is not None and second is None:
            return _with_number(first, self.number(right), self.default)
        if second is not None and first is None:
            return _with_number(second, self.number(left), self.default)
        if first is None and self._has_float(left, right):
            return FLOATING
        return promoted(first, second)

    def _has_float(self, left: ast.expr, right: ast.expr) -> bool:
        """Whether one is a Python float, and the other a tensor of whatever dtype: the result holds no integers."""
        pairs = ((left, right), (right, left))
        return any(self.number(one) == _NUMBERS["float"] and self.is_certain(other) for one, other in pairs)

    def is_certain(self, node: ast.expr) -> bool:
        """Whether the expression is nothing but a tensor."""
        values = self._view.evaluator.values(node)
        return bool(values) and all(isinstance(v, Instance) and v.type == "tensor" for v in values)

    def _function(self, call: ast.Call) -> tuple[str, list[ast.expr]]:
        """The last segment of the name of torch's function or method, and its tensors in order; empty for others."""
        qualified = self._view.qualified(call.func)
        given = [a for a in call.args if not isinstance(a, ast.Starred)]
        if qualified is not None and qualified.startswith("torch."):
            first = [k.value for k in call.keywords if k.arg in ("input", "self")]
            return function_name(qualified), [*first, *given]
        if qualified == "paddle.to_tensor" and self._view.target == "paddle":
            return "tensor", given  # an earlier run wrote it
        if qualified in ("einops.rearrange", "einops.repeat"):
            return "clone", given[:1]  # of the same dtype
        if qualified is None and isinstance(call.func, ast.Attribute) and self.is_tensor(call.func.value):
            return call.func.attr, [call.func.value, *given]
        if qualified is None and isinstance(call.func, ast.Attribute) and call.func.attr in facts().distinctive:
            return call.func.attr, [call.func.value, *given]  # nothing but tensors has such a method
        return "", []

    def _call(self, call: ast.Call) -> str | None:
        name, operands = self._function(call)
        plain = name.removesuffix("_") if name.endswith("_") else name
        if not name:
            return _cast_of_tensors(call) or self._module(call) or self._returned(call)
        keywords = {k.arg: k.value for k in call.keywords if k.arg is not None}
        if "dtype" in keywords and plain not in ("to", "type"):
            return self.named(keywords["dtype"])
        if name in facts().casts and len(operands) == 1:
            return facts().casts[name]
        if plain in ("to", "type", "type_as"):
            return self._cast(operands, keywords)
        if name in facts().tensor_classes:
            return facts().tensor_classes[name]
        if plain in facts().created:
            return self._created(plain, operands, keywords)
        if plain in facts().int64_results["torch"]:
            return "int64"
        if plain in facts().bool_results["torch"]:
            return "bool"
        if name.endswith("_") and operands:
            return self.of(operands[0])
        return self._computed(plain, operands)

    def _computed(self, name: str, operands: list[ast.expr]) -> str | None:
        if name in facts().floating_results:
            found = self.of(operands[0]) if operands else None
            return FLOATING if found is None else found if category(found) > 1 else self.default
        if not operands:
            return None
        if name == "where":
            return self.combined(*operands[1:3]) if len(operands) == 3 else None
        if name in facts().joining:
            tensors = operands[0].elts if isinstance(operands[0], ast.List | ast.Tuple) else []
            found = self.of(tensors[0]) if tensors else None
            for other in tensors[1:]:
                found = promoted(found, self.of(other))
            return found
        if name in facts().promoting and len(operands) > 1:
            found = self.combined(operands[0], operands[1])
            return self.default if found is not None and category(found) < 2 and name in facts().quotients else found
        if name in facts().with_indices and len(operands) == 1:
            return self.of(operands[0])
        if name in facts().sums:
            found = self.of(operands[0])
            return "int64" if found is not None and category(found) < 2 else found
        return self.of(operands[0]) if name in facts().same_dtype else None

    def _cast(self, operands: list[ast.expr], keywords: dict[str, ast.expr]) -> str | None:
        """``x.to(dtype)``, ``x.to(device)``, ``x.to(other)``, ``x.type_as(other)``."""
        for given in [*operands[1:], *(keywords[k] for k in ("dtype", "other") if k in keywords)]:
            found = self.named(given) or self.of(given)
            if found is not None:
                return found
            if not kinds(self._view, given) & {"device", "str", "None", "bool"} and not _is_device(given):
                return None
        return self.of(operands[0]) if operands else None

    def named(self, node: ast.expr) -> str | None:
        """The dtype that an expression denotes: ``torch.float32``, ``x.dtype``."""
        if isinstance(node, ast.Attribute) and node.attr == "dtype" and self._view.qualified(node) is None:
            return self.of(node.value)
        text = node.value if isinstance(node, ast.Constant) else None  # of a target that takes dtypes as strings
        name = text if isinstance(text, str) else (self._view.qualified(node) or "").removeprefix("torch.")
        name = facts().dtype_aliases.get(name, name)
        return name if name in facts().dtype_categories else None

    def _created(self, name: str, operands: list[ast.expr], keywords: dict[str, ast.expr]) -> str | None:
        if name in facts().from_data:
            return _of_data(operands[0], self.default) if operands else None
        if name == "arange":
            given = [*operands, *(keywords[k] for k in ("start", "end", "step") if k in keywords)]
            numbers = [self.number(n) for n in given]
            if any(n == 2 for n in numbers) or any(isinstance(n, ast.BinOp) and _divides(n) for n in given):
                return self.default
            return "int64"  # a value of unknown type is most likely an integer count
        if name in ("full", "full_like"):
            fill = keywords.get("fill_value", operands[1] if len(operands) > 1 else None)
            kind = self.number(fill) if fill is not None else None
            if name == "full":
                return None if kind is None else ("bool", "int64", self.default, "complex64")[kind]
        if name.endswith("_like") or name.startswith("new_"):
            return self.of(operands[0]) if operands else None
        return self.default

    def _module(self, call: ast.Call) -> str | None:
        """The dtype of a layer's result: floating-point."""
        values = self._view.evaluator.values(call.func)
        layers = all(isinstance(v, Instance) and v.type in _LAYERS and v.node is None for v in values)
        return FLOATING if values and layers else None

    def _returned(self, call: ast.Call) -> str | None:
        """The dtype of all that a function of this file returns, whatever it is given."""
        values = self._view.evaluator.values(call.func) if isinstance(call.func, ast.Name) else frozenset()
        functions = [v.node for v in values if isinstance(v, Local)]
        if len(functions) != 1 or len(values) > 1 or not isinstance(functions[0], ast.FunctionDef):
            return None
        returned = [value for value in self._view.tree.own[functions[0]].returns if value is not None]
        return self._same(returned) if returned else None


def _cast_of_tensors(call: ast.Call) -> str | None:
    """The dtype of ``x.int()``, a method that nothing but tensors has."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) and not call.args and not call.keywords else ""
    return facts().casts[method] if method in ("int", "long", "short") else None


def _default(view: FileView) -> str:
    """The dtype that the file sets as torch's default; of unknown width if it sets several, or a computed one."""
    if b"set_default_dtype" not in view.source.body:
        return _DEFAULT
    calls = [c for c in view.tree.calls if (view.qualified(c.func) or "") == "torch.set_default_dtype"]
    given = [(view.qualified(a) or "").removeprefix("torch.") for call in calls for a in call.args[:1]]
    names = {facts().dtype_aliases.get(name, name) for name in given}
    if len(calls) > len(given) or not names <= facts().dtype_categories.keys() or len(names) > 1:
        return FLOATING
    return names.pop() if names else _DEFAULT


def _is_device(node: ast.expr) -> bool:
    """Whether its name says so: ``x.device``, ``self.device``."""
    return (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) == "device"


def _copied(view: FileView) -> frozenset[int]:
    """Variables, by the identity of their bindings, of whose shape and dtype other tensors are made."""
    calls = [call for call in view.tree.calls if call.args and isinstance(call.args[0], ast.Name)]
    made = [
        c for c in calls if (name := view.qualified(c.func)) and name.startswith("torch.") and name.endswith("_like")
    ]
    given = [call.args[0] for call in made]
    return frozenset(id(view.tree.scopes[n].lookup(n.id)) for n in given if isinstance(n, ast.Name))


def _with_number(dtype: str, number: int | None, default: str) -> str | None:
    if number is None:  # a number or a tensor of unknown dtype: floating-point remains floating-point
        return FLOATING if category(dtype) == 2 else None
    return dtype if category(dtype) >= number else ("int64" if number == 1 else default if number == 2 else None)


def _divides(node: ast.BinOp) -> bool:
    return any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div) for n in ast.walk(node))


def _of_data(node: ast.expr, default: str) -> str | None:
    """The dtype of a tensor made of nested lists of literal numbers."""
    leaves: list[ast.expr] = [node]
    kinds_found: set[type] = set()
    while leaves:
        leaf = leaves.pop()
        if isinstance(leaf, ast.List | ast.Tuple):
            leaves += leaf.elts
            continue
        if isinstance(leaf, ast.UnaryOp):
            leaf = leaf.operand
        if not isinstance(leaf, ast.Constant):
            return None
        kinds_found.add(type(leaf.value))
    if kinds_found == {bool}:
        return "bool"
    if kinds_found and kinds_found <= {bool, int}:
        return "int64"
    return default if kinds_found and kinds_found <= {bool, int, float} else None
