"""A linear layer's weight that is picked out of its parameters or its state: ``layer.state_dict()["weight"]``.

torch's is ``[out, in]``, Paddle's ``[in, out]``. A value that is read gets ``.t()``; what else depends on the layout,
such as the parameter that ``weight, bias = layer.parameters()`` gives, is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import LayoutMatters, Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.placeholders import with_brackets
from paddletorch.plan.uses.linear_weights import given_parameter, is_linear_weight, picked_weight
from paddletorch.resolve import Instance

_ROW = "linear.weight"


def plan_picked_weights(view: FileView, planned: Planned) -> Changes:
    """Transpose each weight that is read, and report each that is used in another way."""
    if f"{view.settings.source}.nn.Linear" in planned.uses.left_apis:
        return NOTHING
    picked = [*_entries(view), *_first_parameters(view), *_gradients(view)]
    made = (_made_of(view, node) for node in view.tree.members.get("weight", ()))
    return joined([*(_plan(view, node) for node in picked), *(_unpacked(view, call) for call in _calls(view)), *made])


def _made_of(view: FileView, node: ast.Attribute) -> Changes:
    """``layer.weight = nn.Parameter(x.t().contiguous())``: Paddle loses what is written to a parameter with gaps."""
    statement = view.parent(node)
    stored = isinstance(statement, ast.Assign) and isinstance(node.ctx, ast.Store) and is_linear_weight(view, node)
    given = given_parameter(view, statement.value) if stored and isinstance(statement, ast.Assign) else None
    row = view.settings.table.row(_ROW)
    if given is None or view.is_deselected(row.code, node) or not view.is_sources(node.value):
        return NOTHING
    before, after = with_brackets("", ".t().contiguous()", given)
    span = view.source.span(given)
    edits = Edit(Span(span.start, span.start), before, row.code), Edit(Span(span.end, span.end), after, row.code)
    return Changes(edits, (view.conversion(row.code, node, _ROW, f"{_ROW}.t()", row.id),))


def _plan(view: FileView, node: ast.expr) -> Changes:
    row = view.settings.table.row(_ROW)
    if view.is_deselected(row.code, node) or not view.is_sources(node):
        return NOTHING
    stored = isinstance(node, ast.Subscript) and isinstance(view.parent(node), ast.Assign)
    try:
        text = ".t()" if stored and view.target == "torch" else picked_weight(view, node)
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, node, _ROW, row),))
    if not text:
        return NOTHING
    end = view.source.span(node).end
    last = Span(end - 1, end)  # with it, the text stays inside of what is written around the expression
    edit = Edit(last, view.source.slice(last) + text, row.code)
    return Changes((edit,), (view.conversion(row.code, node, _ROW, f"{_ROW}{text}", row.id),))


def _unpacked(view: FileView, call: ast.Call) -> Changes:
    """Report ``weight, bias = layer.parameters()``: the variables are the parameters, with their gradients."""
    parent = view.parent(call)
    while isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in ("list", "tuple"):
        parent = view.parent(parent)
    if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Tuple | ast.List):
        return NOTHING
    if not view.is_sources(call):
        return NOTHING
    row = view.settings.table.row(_ROW)
    return Changes(findings=(refused(LayoutMatters(), call, _ROW, row),))


def _entries(view: FileView) -> Iterator[ast.Subscript]:
    """``layer.state_dict()["weight"]``, also by way of a variable."""
    for node in view.tree.subscripts:
        key = node.slice
        if not isinstance(key, ast.Constant) or key.value != "weight" or not isinstance(node.ctx, ast.Load):
            continue
        if any(_is_of_linear(view, made, "state_dict") for made in _made(view, node.value)):
            yield node


def _gradients(view: FileView) -> Iterator[ast.Attribute]:
    """``layer.weight.grad``: it has the weight's layout."""
    for node in view.tree.members.get("grad", ()):
        if isinstance(node.ctx, ast.Load) and is_linear_weight(view, node.value):
            yield node


def _first_parameters(view: FileView) -> Iterator[ast.expr]:
    """``next(layer.parameters())`` and ``list(layer.parameters())[0]``."""
    for call in _calls(view):
        outer = view.parent(call)
        if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id == "iter":
            outer = view.parent(outer)
        if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id == "next":
            yield outer
        elif isinstance(outer, ast.Call | ast.Subscript):
            first = outer if isinstance(outer, ast.Subscript) else view.parent(outer)
            if isinstance(first, ast.Subscript) and ast.unparse(first.slice) in ("0", "-2"):
                yield first


def _calls(view: FileView) -> Iterator[ast.Call]:
    """The calls of ``parameters`` of linear layers."""
    return (call for call in view.tree.method_calls("parameters") if _is_of_linear(view, call, "parameters"))


def _made(view: FileView, node: ast.expr) -> list[ast.expr]:
    """The expressions whose value it is, as far as the file shows them."""
    if not isinstance(node, ast.Name) or node not in view.tree.scopes:
        return [node]
    return [b.value for b in view.tree.scopes[node].lookup(node.id) if b.value is not None]


def _is_of_linear(view: FileView, node: ast.expr, method: str) -> bool:
    """Whether it calls this method of a linear layer."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != method:
        return False
    values = view.evaluator.objects(node.func.value)
    return any(isinstance(v, Instance) and v.type == "linear" for v in values)
