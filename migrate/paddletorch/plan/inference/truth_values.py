"""Which tensors of Paddle's code are seen to hold truth values."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts

from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant
from paddletorch.resolve import Instance

_DEPTH = 20


class TruthValues:
    """Tensors of truth values among one file's expressions."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._known: dict[ast.expr, bool] = {}

    def holds(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether ``node`` is seen to be a tensor of truth values; False where that is not known."""
        if node not in self._known and depth < _DEPTH:
            self._known[node] = False  # what depends on itself is unknown
            self._known[node] = self._holds(node, depth + 1)
        return self._known.get(node, False)

    def _holds(self, node: ast.expr, depth: int) -> bool:
        if isinstance(node, ast.Compare):
            plain = any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops)
            return not plain and self._is_tensor(node)
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Invert) and self.holds(node.operand, depth)
        if isinstance(node, ast.BinOp):
            bits = isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor)
            return bits and self.holds(node.left, depth) and self.holds(node.right, depth)
        if isinstance(node, ast.Subscript):
            return self.holds(node.value, depth)
        if isinstance(node, ast.Name):
            reached = self._view.evaluator.reaching(node)
            kinds = {b.kind for b in reached}
            return kinds == {"assign"} and all(b.value is not None and self.holds(b.value, depth) for b in reached)
        return isinstance(node, ast.Call) and self._is_result(node, depth)

    def _is_result(self, call: ast.Call, depth: int) -> bool:
        qualified = self._view.qualified(call.func)
        operands = [a for a in call.args if not isinstance(a, ast.Starred)]
        if qualified is not None and qualified.startswith("paddle."):
            name = qualified.rpartition(".")[2]
        elif qualified is None and isinstance(call.func, ast.Attribute) and self._is_tensor(call.func.value):
            name, operands = call.func.attr, [call.func.value, *operands]
        else:
            return False
        dtype = next((k.value for k in call.keywords if k.arg == "dtype"), None)
        if name in ("astype", "cast"):
            dtype = operands[1] if len(operands) > 1 else dtype
        if dtype is not None:
            return constant(dtype) == "bool" or self._view.qualified(dtype) == "paddle.bool"
        if name in facts().bool_results["paddle"]:
            return True
        return name in facts().same_dtype and bool(operands) and self.holds(operands[0], depth)

    def _is_tensor(self, node: ast.expr) -> bool:
        values = self._view.evaluator.values(node)
        return any(isinstance(v, Instance) and v.type == "tensor" for v in values)
