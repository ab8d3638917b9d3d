"""How many axes tensors have, by the expressions that make them or by what recorded runs saw."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules.facts import facts

from paddletorch.model import Ask
from paddletorch.plan.inference.called_values import CalledValues
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant
from paddletorch.resolve import Instance

_DEPTH = 16
"""How many expressions an answer may rest on."""

_SHAPED = frozenset({"view", "reshape"})
_SAME_AXES = frozenset({"abs", "clone", "contiguous", "detach", "double", "exp", "float", "half", "log", "long"})
_SAME_AXES |= {"cpu", "cuda", "permute", "relu", "sigmoid", "t", "tanh", "to", "transpose"}
"""Methods whose result has the axes of their tensor."""

_OF_SIZES = ("empty", "full", "ones", "rand", "randn", "zeros")
_OF_DATA = ("tensor", "to_tensor")
_OF_NUMBERS = frozenset({"torch.arange", "paddle.arange", "torch.randperm", "paddle.randperm"})
_POSITIONS = frozenset({"torch.nonzero", "paddle.nonzero"})
_CREATED = {f"{framework}.{name}" for framework in ("torch", "paddle") for name in (*_OF_SIZES, *_OF_DATA)}
"""Functions that make a tensor of the sizes or of the numbers that stand in the call."""


class Ranks:
    """The numbers of axes of one file's tensors."""

    def __init__(self, view: FileView) -> None:
        self._view = view

    def of(self, node: ast.expr) -> frozenset[int]:
        """The numbers of axes that the tensor ``node`` can have; empty if they are not known, or it is no tensor."""
        return self._of(node, _DEPTH)

    def _of(self, node: ast.expr, depth: int) -> frozenset[int]:
        shown = self._shown(node, depth) if depth else None
        return self._seen(node) if shown is None else frozenset({shown})

    def _seen(self, node: ast.expr) -> frozenset[int]:
        seen = self._view.seen(Ask.RANK, node)
        return frozenset(map(int, seen)) if all(answer.isdigit() for answer in seen) else frozenset()

    def _shown(self, node: ast.expr, depth: int) -> int | None:
        """The number of axes by the expression itself; None where it does not tell."""
        if isinstance(node, ast.Name):
            return self._name(node, depth)
        if isinstance(node, ast.UnaryOp):
            return self._one(node.operand, depth)
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
            sides = [self._one(side, depth) for side in (node.left, node.right) if not isinstance(side, ast.Constant)]
            known = [side for side in sides if side is not None]
            return max(known) if known and len(known) == len(sides) else None
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value is ...:
            return self._one(node.value, depth)
        return self._method(node, depth) if isinstance(node, ast.Call) else None

    def _one(self, node: ast.expr, depth: int) -> int | None:
        found = self._of(node, depth - 1)
        return next(iter(found)) if len(found) == 1 else None

    def _name(self, node: ast.Name, depth: int) -> int | None:
        if node not in self._view.tree.scopes:
            return None
        reached = tuple(self._view.evaluator.reaching(node))
        if len(reached) != 1 or reached[0].kind != "assign" or reached[0].value is None:
            return None
        return self._one(reached[0].value, depth)

    def _method(self, call: ast.Call, depth: int) -> int | None:
        called = self._view.qualified(call.func) or ""
        if called in _CREATED:
            return _created(call)
        if called in _OF_NUMBERS:
            return 1
        if called in _POSITIONS:
            return 2 if len(call.args) == 1 and not call.keywords else None
        name = called.partition(".")[2]
        if (name in facts().batched_ranks or name in _SAME_AXES) and call.args:
            return self._one(call.args[0], depth)
        if not isinstance(call.func, ast.Attribute):
            return None
        name, tensor = call.func.attr, call.func.value
        if name in _SHAPED and not call.keywords:
            return _sizes(call.args)
        if not self._is_tensor(tensor):
            return None
        if name in ("flatten", "ravel") and not call.keywords and len(call.args) < 2:
            start = constant(call.args[0]) if call.args else 0
            return start + 1 if type(start) is int and start >= 0 else None
        if name in ("unsqueeze", *_SAME_AXES):
            inner = self._one(tensor, depth)
            return None if inner is None else inner + (name == "unsqueeze")
        return None

    def _is_tensor(self, node: ast.expr) -> bool:
        values = self._view.evaluator.values(node)
        return any(isinstance(v, Instance) and v.type == "tensor" for v in values)


def _created(call: ast.Call) -> int | None:
    """The number of axes of what is made of sizes, or of the lists of numbers that stand there."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    if name in _OF_DATA:
        return _nesting(call.args[0]) if call.args else None
    given = next((k.value for k in call.keywords if k.arg in ("size", "shape")), None)
    if given is not None:
        return _sizes([given]) if isinstance(given, ast.Tuple | ast.List) else None
    sizes = call.args[:1] if name == "full" else call.args
    return _sizes(sizes) if sizes else None


def _nesting(data: ast.expr) -> int | None:
    """How deep lists of numbers are nested; None for anything but such lists and numbers."""
    depth = 0
    while isinstance(data, ast.List | ast.Tuple) and data.elts and not isinstance(data.elts[0], ast.Starred):
        data, depth = data.elts[0], depth + 1
    return depth if isinstance(constant(data), bool | int | float) else None


def _sizes(arguments: list[ast.expr]) -> int | None:
    """How many sizes are given, one by one or as one tuple or list; None if one of them may hold several."""
    alone = arguments[0] if len(arguments) == 1 else None
    if isinstance(alone, ast.Tuple | ast.List):
        arguments = alone.elts
    elif alone is not None and type(constant(alone)) is not int:
        return None
    return None if any(isinstance(a, ast.Starred) for a in arguments) else len(arguments)


def inputs_of_calls(view: FileView, api: str) -> Iterator[ast.expr]:
    """What the file's calls of objects that ``api`` makes pass first: ``x`` of ``self.loss(x, y)``."""
    for call in view.provide(CalledValues).of(Instance):
        if any(isinstance(v, Instance) and v.api == api for v in view.evaluator.values(call.func)):
            first = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in _FIRST), None)
            if first is not None and not isinstance(first, ast.Starred):
                yield first


_FIRST = frozenset({"input", "x"})
"""What both frameworks call the first parameter of a layer's call."""
