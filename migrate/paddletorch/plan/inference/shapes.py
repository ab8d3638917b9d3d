"""A tensor's size: a tuple in torch, a list in Paddle. Where the type matters, ``tuple`` or ``list`` is written.

torch.Size is a tuple; Paddle's shape is a list, from 3.3 on a Size that joins and compares like both, but is not
hashable. So ``x.shape + [1]`` breaks in torch, ``x.shape + (1,)`` and ``{x.shape: 1}`` break in Paddle.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from paddletorch.plan.inference.paths import Paths
from paddletorch.plan.model.same_code import same_code
from paddletorch.plan.model.view import FileView
from paddletorch.plan.model.written_code import is_written
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.resolve import Instance, Scope
from paddletorch.resolve.evaluator.call_index import argument_of, is_method
from paddletorch.resolve.values import UNKNOWN, Local

Kind = Literal["list", "tuple"]

_LIST_METHODS = frozenset("append extend insert pop remove reverse sort copy clear".split())
_DEPTH = 3
"""How many assignments are followed to find an operand's type."""


def shape(view: FileView, node: ast.Attribute) -> str | None:
    """The template for a read of ``x.shape``; empty where no change is needed."""
    kind = _source_kind(view)
    return f"{kind}({{self}}.shape)" if used_as(view, node, kind) else ""


def layer_size(view: FileView, node: ast.Attribute) -> str | None:
    """As ``shape`` for a size that a convolution keeps, ``conv.stride``: a tuple in torch, a list in Paddle."""
    kind = _source_kind(view)
    name = f"_{node.attr}" if view.target == "paddle" else node.attr.removeprefix("_")
    return f"{kind}({{self}}.{name})" if used_as(view, node, kind) else None


def _source_kind(view: FileView) -> Kind:
    """The type that a size has in the source's programs, and that the target's code must be given where it counts."""
    return "list" if view.target == "torch" else "tuple"


def used_as(view: FileView, node: ast.expr, kind: Kind, depth: int = _DEPTH) -> bool:
    """Whether the size ``node`` is used as that type of sequence, here or by what it is assigned or passed to."""
    answers, question = view.provide(_answers), (node, kind, depth)
    if question not in answers:  # each size in a sum asks for all the others
        answers[question] = _is_used_as(view, node, kind, depth)
    return answers[question]


def _answers(view: FileView) -> dict[tuple[ast.expr, Kind, int], bool]:
    return {}


def _is_used_as(view: FileView, node: ast.expr, kind: Kind, depth: int) -> bool:
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return False  # what is assigned here has nothing around it
    value = _past_slices(view, node)
    if _here(view, value, kind, depth):
        return True
    parent = view.parent(value)
    if isinstance(parent, ast.IfExp) or (isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add)):
        return used_as(view, parent, kind, depth)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        return any(_used(view, load, kind, depth) for load in _loads(view, parent.targets[0]))
    if not depth:
        return False
    if isinstance(parent, ast.Return):
        return any(used_as(view, call, kind, depth - 1) for call in _calls_of(view, parent))
    return any(_used(view, load, kind, depth - 1) for load in _parameter_loads(view, parent, value))


def _past_slices(view: FileView, node: ast.expr) -> ast.expr:
    """The outermost slice of the size: ``x.shape[1:]`` for ``x.shape``."""
    parent = view.parent(node)
    while isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.slice, ast.Slice):
        node, parent = parent, view.parent(parent)
    return node


def _used(view: FileView, use: ast.expr, kind: Kind, depth: int) -> bool:
    """Whether one use of a variable that holds a size needs that type of sequence."""
    parent = view.parent(use)
    if isinstance(parent, ast.Subscript) and parent.value is use and not isinstance(parent.ctx, ast.Load):
        return kind == "list"
    if isinstance(parent, ast.AugAssign) and parent.target is use:
        return _kind(view, parent.value, depth) == kind
    return used_as(view, use, kind, depth - 1) if depth else _here(view, _past_slices(view, use), kind, depth)


def _loads(view: FileView, target: ast.expr) -> Iterator[ast.expr]:
    """The other uses of a variable, or of an attribute of the same object."""
    if isinstance(target, ast.Attribute):
        for member in view.evaluator.same_attribute(target):
            if member is not target and same_code(member.value, target.value):
                yield member
    elif isinstance(target, ast.Name) and target in view.tree.scopes:
        yield from _loads_in(view, view.tree.scopes[target], target.id)


def _loads_in(view: FileView, scope: Scope, name: str) -> Iterator[ast.Name]:
    """The reads of a variable that a scope sees, and the names that augmented assignments change."""
    bindings = scope.lookup(name)
    for node in view.provide(Paths).names(bindings):
        if isinstance(node.ctx, ast.Load):
            yield node
    for binding in bindings:
        if binding.kind == "augment" and isinstance(binding.node, ast.Name):
            yield binding.node


def _parameter_loads(view: FileView, parent: ast.AST | None, value: ast.expr) -> Iterator[ast.Name]:
    """The reads of the parameter that gets ``value``, in a function of this file that the call around it calls."""
    call = view.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or call.func is value:
        return
    for called in view.evaluator.values(call.func):
        node = called.node if isinstance(called, Local) else None
        scope = view.tree.own.get(node) if isinstance(node, ast.FunctionDef) else None
        if not isinstance(node, ast.FunctionDef) or scope is None or is_written(view, node):
            continue  # a function that an earlier conversion has written takes the target's sizes
        for one in (*node.args.args, *node.args.kwonlyargs):
            if argument_of(call, node, one.arg, is_method(scope)) is value:
                yield from _loads_in(view, scope, one.arg)


def _calls_of(view: FileView, statement: ast.Return) -> Iterator[ast.Call]:
    """The calls in this file of the function that a statement returns from."""
    around = view.parent(statement)
    while around is not None and not isinstance(around, ast.FunctionDef):
        around = view.parent(around)
    if not isinstance(around, ast.FunctionDef):
        return
    for call in view.tree.calls_of(around.name):
        if Local(around) in view.evaluator.values(call.func):
            yield call


def _here(view: FileView, value: ast.expr, kind: Kind, depth: int) -> bool:
    parent = view.parent(value)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
        others = [o for o in _operands(view, parent) if o is not value]
        return any(_kind(view, o, depth) == kind for o in others) or (
            kind == "list" and any(_is_unseen(view, o, depth) for o in others) and is_size(view, value)
        )
    if isinstance(parent, ast.AugAssign) and parent.value is value:  # a list takes any sequence
        return kind == "tuple" and isinstance(parent.op, ast.Add) and _kind(view, parent.target, depth) == kind
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mod):
        return kind == "list" and parent.right is value  # "%s" % x.shape takes a tuple apart
    if isinstance(parent, ast.Compare):
        return _compared(view, parent, value, kind, depth)
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


def _compared(view: FileView, parent: ast.Compare, value: ast.expr, kind: Kind, depth: int) -> bool:
    others = [n for n in (parent.left, *parent.comparators) if n is not value]
    if any(isinstance(op, ast.In | ast.NotIn) for op in parent.ops):
        others = [e for o in others if isinstance(o, ast.List | ast.Tuple | ast.Set) for e in o.elts]
    return any(_kind(view, o, depth) == kind for o in others)


def _is_unseen(view: FileView, node: ast.expr, depth: int) -> bool:
    """Whether nothing is known of an operand; what is added to a tensor's shape in a Paddle program is a list."""
    return _kind(view, node, depth) is None and view.evaluator.values(node) <= UNKNOWN


def is_size(view: FileView, node: ast.expr) -> bool:
    """Whether an expression certainly is a tensor's size."""
    values = view.evaluator.values(node)
    return bool(values) and all(isinstance(v, Instance) and v.type == "shape" for v in values)


def sequence_kind(view: FileView, node: ast.expr) -> Kind | None:
    """The type of sequence that an expression is seen to be; None if it is not seen."""
    return _kind(view, node, _DEPTH)


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
    if isinstance(node, ast.IfExp):
        return _kind(view, node.body, depth) or _kind(view, node.orelse, depth)
    if isinstance(node, ast.Attribute) and node.attr == "shape" and path_of(node.value) not in ("self", "cls"):
        own = _source_kind(view)
        return own if depth and used_as(view, node, own, depth - 1) else None
    if isinstance(node, ast.Attribute) and depth:
        kinds = {_kind(view, s.value, depth - 1) for s in view.evaluator.stores_of(node) if s.value is not None}
        return kinds.pop() if len(kinds) == 1 else None
    if isinstance(node, ast.Name) and depth and node in view.tree.scopes:
        bindings = [one for one in view.tree.scopes[node].lookup(node.id) if one.kind != "augment"]
        if len(bindings) != 1 or bindings[0].path:
            return None
        if bindings[0].kind == "assign" and bindings[0].value is not None:
            return _kind(view, bindings[0].value, depth - 1)
        around = view.parent(bindings[0].node)
        return "tuple" if isinstance(around, ast.arguments) and around.vararg is bindings[0].node else None
    return None
