"""Whether a tensor certainly has several elements, for ``backward`` without a gradient."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance

_LAYERS = frozenset({"linear", "conv", "embedding"})
"""Types of layers whose result has several elements, unless they are very small."""

_DEPTH = 8


def has_several_elements(view: FileView, node: ast.expr, depth: int = 0) -> bool:
    """Whether ``node`` certainly has more than one element; False if that is unknown."""
    if depth > _DEPTH:
        return False
    if isinstance(node, ast.Name):
        scope = view.tree.scopes.get(node)
        bindings = scope.lookup(node.id) if scope is not None else []
        values = [b.value if b.kind == "assign" and not b.path else None for b in bindings]
        return bool(values) and all(v is not None and has_several_elements(view, v, depth + 1) for v in values)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        return has_several_elements(view, node.left, depth + 1) or has_several_elements(view, node.right, depth + 1)
    if isinstance(node, ast.UnaryOp):
        return has_several_elements(view, node.operand, depth + 1)
    return isinstance(node, ast.Call) and _call(view, node, depth)


def _call(view: FileView, call: ast.Call, depth: int) -> bool:
    name = view.qualified(call.func)
    last = name.rpartition(".")[2] if name is not None else ""
    arguments = [*call.args, *(k.value for k in call.keywords if k.arg in ("x", "input", "data", "shape"))]
    first = arguments[0] if arguments else None
    if name is not None and name.startswith(view.settings.source + "."):
        if last in facts().shaped["paddle"]:
            shape = next((k.value for k in call.keywords if k.arg in ("shape", "size")), first)
            return isinstance(shape, ast.List | ast.Tuple) and any(_above_one(e) for e in shape.elts)
        if last in facts().from_data:
            return first is not None and _is_long_display(first)
        return (
            last in facts().keeps_elements["paddle"]
            and first is not None
            and has_several_elements(view, first, depth + 1)
        )
    if isinstance(call.func, ast.Attribute) and call.func.attr in facts().keeps_elements["paddle"]:
        return has_several_elements(view, call.func.value, depth + 1)
    values = view.evaluator.values(call.func)
    layers = [v for v in values if isinstance(v, Instance)]
    if not layers or len(layers) < len(values):
        return False
    return all(_layer(view, layer, depth) for layer in layers)


def _layer(view: FileView, layer: Instance, depth: int) -> bool:
    """Whether a framework's layer, or a class of this file, returns several elements."""
    if layer.node is None:
        return layer.type in _LAYERS
    forward = next((s for s in layer.node.body if isinstance(s, ast.FunctionDef) and s.name == "forward"), None)
    returned = [s.value for s in ast.walk(forward) if isinstance(s, ast.Return)] if forward is not None else []
    return bool(returned) and all(v is not None and has_several_elements(view, v, depth + 1) for v in returned)


def _above_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value > 1


def _is_long_display(node: ast.expr) -> bool:
    """Whether a literal list of numbers has more than one element."""
    if not isinstance(node, ast.List | ast.Tuple):
        return False
    return len(node.elts) > 1 or any(_is_long_display(e) for e in node.elts)
