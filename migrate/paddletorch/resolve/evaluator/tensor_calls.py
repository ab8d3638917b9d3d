"""Calls of methods whose arguments only a tensor's method takes: no array has ``view(2, -1)`` or ``mean(dim=1)``."""

from __future__ import annotations

import ast

_KEYWORDS = {
    "torch": frozenset({"dim", "keepdim", "unbiased", "memory_format", "non_blocking"}),
    "paddle": frozenset({"keepdim", "stop_gradient"}),
}
"""Keywords of tensors' methods in general."""

_KEYWORDS_OF = {
    "flatten": frozenset({"start_dim", "end_dim", "start_axis", "stop_axis"}),
    "repeat": frozenset({"repeat_times"}),
    "split": frozenset({"num_or_sections", "split_size"}),
    "tile": frozenset({"repeat_times"}),
    "transpose": frozenset({"dim0", "dim1", "perm"}),
}

_MOST_OF_ARRAYS = {"repeat": 2}
"""How many arguments the method of an array takes."""

ONLY_TENSORS = frozenset(
    "bmm cumulative_trapezoid data_ptr detach expand_as gather_nd index_add index_select is_contiguous"
    " masked_fill masked_fill_ masked_select narrow new_empty new_full new_ones new_tensor new_zeros"
    " permute retain_grad retain_grads scatter_ scatter_add scatter_add_ scatter_nd_add topk"
    " type_as unbind unsqueeze unsqueeze_ view_as".split()
)
"""Methods of tensors that strings, arrays, data frames, modules and other objects of such programs do not have."""


_OF_MODULES_TOO = frozenset("to cuda cpu float half double bfloat16 type".split())


def shows_tensor(call: ast.Call, side: str) -> bool:
    """As ``is_tensor_call``, and no module has the method: what it gives is a tensor, and what it is called on."""
    return getattr(call.func, "attr", "") not in _OF_MODULES_TOO and is_tensor_call(call, side)


def is_tensor_call(call: ast.Call, side: str) -> bool:
    """Whether the arguments show that the method called is a tensor's, whatever it is called on."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    named = {k.arg for k in call.keywords}
    if named & _KEYWORDS[side] or named & _KEYWORDS_OF.get(name, frozenset()):
        return True
    if len(call.args) > _MOST_OF_ARRAYS.get(name, len(call.args)):
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
