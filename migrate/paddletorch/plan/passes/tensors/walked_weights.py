"""Parameters that a walk over a model gives, or that a key names, and code that asks for one of their axes.

A linear layer's weight is ``[out, in]`` in torch and ``[in, out]`` in Paddle. ``for p in model.parameters():
p.mean(dim=1)`` and ``state["fc.weight"].shape[0]`` then mean another axis; nothing raises, so it is reported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paddletorch_rules.facts import facts

from paddletorch.plan.inference.keyed_parameters import key_of, layers_of_key
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import LayoutMatters
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance

_ROW = "linear.weight"
_TURNED = frozenset({"T", "H", "mT", "mH", "t", "transpose", "permute", "swapaxes", "matmul", "mm", "addmm"})
"""Members whose result depends on the layout, whatever is given to them."""

_PASSED = frozenset({"abs", "clone", "cpu", "data", "detach", "double", "float", "grad", "pow", "square", "to"})
"""Members that keep the layout."""

_DECIDED = re.compile(r"conv|norm|bn|bias|embed|\.dim\(\)|\.ndim|len\(")
"""What a test around the use speaks of, if it lets only parameters pass whose layout is the same."""


def plan_walked_weights(view: FileView, planned: Planned) -> Changes:
    """Report each read of an axis of a parameter that may be a linear layer's weight."""
    row = view.settings.table.row(_ROW)
    found = [node for node in (*_walked(view), *_named(view)) if _asks_for_axis(view, node) and view.is_sources(node)]
    found = [node for node in found if not view.is_deselected(row.code, node) and node not in planned.handled]
    return Changes(findings=tuple(refused(LayoutMatters(), node, _ROW, row) for node in found)) if found else NOTHING


def _walked(view: FileView) -> Iterator[ast.expr]:
    """The reads of the variable of each ``for p in model.parameters()``, and each ``next(model.parameters())``."""
    receivers = view.provide(Receivers)
    for method in ("parameters", "named_parameters"):
        for call in view.tree.method_calls(method):
            assert isinstance(call.func, ast.Attribute)
            if receivers.certainty(call.func.value, "module") is Certainty.NO or _is_of_linear(view, call.func.value):
                continue
            outer = view.parent(call)
            if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id == "next":
                yield outer
            walk = outer if isinstance(outer, ast.For | ast.comprehension) else view.parent(outer) if outer else None
            if isinstance(walk, ast.For | ast.comprehension):
                yield from _reads(view, walk, method)


def _reads(view: FileView, walk: ast.For | ast.comprehension, method: str) -> Iterator[ast.expr]:
    """The reads of the parameter in the body of the walk that no test around them keeps to one kind of layer."""
    target: ast.expr = walk.target
    if method == "named_parameters" and not isinstance(target, ast.Tuple):
        return  # a pair
    while isinstance(target, ast.Tuple) and target.elts:
        target = target.elts[-1]
    if not isinstance(target, ast.Name) or target not in view.tree.scopes:
        return
    for load in view.tree.reads(view.tree.scopes[target].lookup(target.id)):
        reached = any(binding.node is target for binding in view.evaluator.reaching(load))
        if reached and not _is_decided(view, load, walk):
            yield load


def _is_decided(view: FileView, node: ast.AST, walk: ast.AST) -> bool:
    """Whether a test between the walk and the use speaks of what the parameter is."""
    child, parent = node, view.parent(node)
    while parent is not None and child is not walk:
        if isinstance(parent, ast.If | ast.IfExp) and child is not parent.test and _speaks(parent.test):
            return True
        child, parent = parent, view.parent(parent)
    return isinstance(walk, ast.comprehension) and any(_speaks(test) for test in walk.ifs)


def _speaks(test: ast.expr) -> bool:
    text = ast.unparse(test).lower()
    one_axis_or_many = not re.search(r"[=<>]\s*2\b|> 1\b|>= 2\b", text)
    return bool(_DECIDED.search(text)) and one_axis_or_many


def _named(view: FileView) -> Iterator[ast.expr]:
    """``state["fc.weight"]``, where the file shows a linear layer of this name, or the name says that it is one."""
    for node in view.tree.subscripts:
        key = key_of(node)
        if key is None or not key.endswith(".weight") or not isinstance(node.ctx, ast.Load):
            continue
        layers = layers_of_key(view, node)
        known = {value.type for value in layers if isinstance(value, Instance)}
        if known:
            if "linear" in known:
                yield node
        elif view.settings.table.suggests("linear", key.split(".")[-2]):
            yield node


def _asks_for_axis(view: FileView, node: ast.expr) -> bool:
    """Whether what is done to the tensor is another thing for the transposed one."""
    value, parent = node, view.parent(node)
    while isinstance(parent, ast.Attribute) and parent.attr in _PASSED:
        value, parent = parent, view.parent(parent)
        if isinstance(parent, ast.Call) and parent.func is value:
            value, parent = parent, view.parent(parent)
    if isinstance(parent, ast.Subscript) and parent.value is value:
        return _is_place(parent.slice)
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.MatMult)
    if isinstance(parent, ast.Call) and value in parent.args[:1]:
        name = view.qualified(parent.func) or ""
        api = name.startswith(view.settings.source + ".") and name.rpartition(".")[2]
        return api in _TURNED or (api in facts().reductions and _names_an_axis(parent, 1))
    return isinstance(parent, ast.Attribute) and _member_asks(view, parent)


def _member_asks(view: FileView, member: ast.Attribute) -> bool:
    outer = view.parent(member)
    if member.attr == "shape":
        return isinstance(outer, ast.Subscript) and outer.value is member and _is_place(outer.slice)
    if not isinstance(outer, ast.Call) or outer.func is not member:
        return member.attr in _TURNED
    if member.attr == "size":
        return bool(outer.args)
    return member.attr in _TURNED or (member.attr in facts().reductions and _names_an_axis(outer, 0))


def _names_an_axis(call: ast.Call, first: int) -> bool:
    """Whether a reduction is of one axis: ``p.mean(1)``, ``p.norm(dim=0)``; ``norm`` takes its order first."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    place = first + 1 if called == "norm" else first
    return len(call.args) > place or any(keyword.arg in ("dim", "axis") for keyword in call.keywords)


def _is_place(index: ast.expr) -> bool:
    """Whether the index is a number or a slice that leaves something out."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(
        (isinstance(part, ast.Constant) and isinstance(part.value, int))
        or (isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Constant))
        or (isinstance(part, ast.Slice) and (part.lower or part.upper or part.step) is not None)
        for part in parts
    )


def _is_of_linear(view: FileView, node: ast.expr) -> bool:
    """Whether it is a linear layer itself, whose weight is known."""
    return any(isinstance(v, Instance) and v.type == "linear" for v in view.evaluator.objects(node))
