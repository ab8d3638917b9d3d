"""A tensor's size: a tuple in torch, a list in Paddle. Where the type matters, ``tuple`` or ``list`` is written.

torch.Size is a tuple; Paddle's shape is a list, from 3.3 on a Size that joins and compares like both, but is not
hashable. So ``x.shape + [1]`` breaks in torch, ``x.shape + (1,)`` and ``{x.shape: 1}`` break in Paddle.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from paddletorch.plan.model.view import FileView

Kind = Literal["list", "tuple"]

_LIST_METHODS = frozenset("append extend insert pop remove reverse sort copy clear".split())
_DEPTH = 3
"""How many assignments are followed to find an operand's type."""


def shape(view: FileView, node: ast.Attribute) -> str | None:
    """The template for a read of ``x.shape``; empty where no change is needed."""
    kind: Kind = "list" if view.target == "torch" else "tuple"
    return f"{kind}({{self}}.shape)" if used_as(view, node, kind) else ""


def used_as(view: FileView, node: ast.expr, kind: Kind) -> bool:
    """Whether the size ``node`` is used as that type of sequence, here or by the name it is assigned to."""
    value = _past_slices(view, node)
    if _here(view, value, kind):
        return True
    statement = view.parent(value)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return _named(view, statement.targets[0], kind)
    return False


def _past_slices(view: FileView, node: ast.expr) -> ast.expr:
    """The outermost slice of the size: ``x.shape[1:]`` for ``x.shape``."""
    parent = view.parent(node)
    while isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.slice, ast.Slice):
        node, parent = parent, view.parent(parent)
    return node


def _named(view: FileView, name: ast.Name, kind: Kind) -> bool:
    """Whether some use of a name that holds a size needs that type of sequence."""
    for use in _uses(view, name):
        parent = view.parent(use)
        if isinstance(parent, ast.Subscript) and parent.value is use and not isinstance(parent.ctx, ast.Load):
            if kind == "list":
                return True
        elif isinstance(parent, ast.AugAssign) and parent.target is use:
            if _kind(view, parent.value, _DEPTH) == kind:
                return True
        elif _here(view, _past_slices(view, use), kind):
            return True
    return False


def _uses(view: FileView, name: ast.Name) -> Iterator[ast.Name]:
    bindings = view.tree.scopes[name].lookup(name.id) if name in view.tree.scopes else ()
    for node, scope in view.tree.scopes.items():
        if isinstance(node, ast.Name) and node.id == name.id and node is not name and scope.lookup(name.id) is bindings:
            yield node


def _here(view: FileView, value: ast.expr, kind: Kind) -> bool:
    parent = view.parent(value)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
        return any(_kind(view, o, _DEPTH) == kind for o in _operands(view, parent) if o is not value)
    if isinstance(parent, ast.Compare):
        return _compared(view, parent, value, kind)
    if isinstance(parent, ast.Attribute) and isinstance(view.parent(parent), ast.Call):
        return kind == "list" and parent.attr in _LIST_METHODS
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.args[:1] == [value]:
        if parent.func.id == "isinstance" and len(parent.args) == 2:
            named = {n.id for n in ast.walk(parent.args[1]) if isinstance(n, ast.Name)}
            return kind in named and not {"list", "tuple"} <= named
        return kind == "tuple" and parent.func.id == "hash"
    if isinstance(parent, ast.Dict):
        return kind == "tuple" and any(key is value for key in parent.keys)
    if isinstance(parent, ast.Subscript):
        return kind == "tuple" and parent.slice is value
    return kind == "tuple" and isinstance(parent, ast.Set)


def _compared(view: FileView, parent: ast.Compare, value: ast.expr, kind: Kind) -> bool:
    others = [n for n in (parent.left, *parent.comparators) if n is not value]
    if any(isinstance(op, ast.In | ast.NotIn) for op in parent.ops):
        others = [e for o in others if isinstance(o, ast.List | ast.Tuple | ast.Set) for e in o.elts]
    return any(_kind(view, o, _DEPTH) == kind for o in others)


def _operands(view: FileView, node: ast.BinOp) -> Iterator[ast.expr]:
    """The operands of a chain of ``+``."""
    parent = view.parent(node)
    while isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
        node, parent = parent, view.parent(parent)
    waiting: list[ast.expr] = [node]
    while waiting:
        operand = waiting.pop()
        if isinstance(operand, ast.BinOp) and isinstance(operand.op, ast.Add):
            waiting += [operand.left, operand.right]
        else:
            yield operand


def _kind(view: FileView, node: ast.expr, depth: int) -> Kind | None:
    """The sequence type of an operand, by its syntax or by the only value of its name."""
    if isinstance(node, ast.List | ast.ListComp):
        return "list"
    if isinstance(node, ast.Tuple):
        return "tuple"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _kind(view, node.left, depth) or _kind(view, node.right, depth)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _kind(view, node.left, depth) or _kind(view, node.right, depth)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return _kind(view, node.value, depth)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return "list" if node.func.id in ("list", "sorted") else "tuple" if node.func.id == "tuple" else None
    if isinstance(node, ast.Name) and depth and node in view.tree.scopes:
        bindings = view.tree.scopes[node].lookup(node.id)
        if len(bindings) == 1 and bindings[0].kind == "assign" and bindings[0].value is not None:
            return _kind(view, bindings[0].value, depth - 1)
    return None
