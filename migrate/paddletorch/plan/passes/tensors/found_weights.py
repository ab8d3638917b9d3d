"""Linear weights among the parameters or in the state of a model, ``[out, in]`` in torch and ``[in, out]`` in Paddle.

What is picked out of a linear layer, ``layer.state_dict()["weight"]`` or ``next(layer.parameters())``, gets ``.t()``
where its values are read. Of a parameter that only may be such a weight, ``for p in model.parameters()`` or
``state["fc.weight"]``, each use of one axis is reported: nothing raises, and it means another axis.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from paddletorch_rules.facts import facts

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.keyed_parameters import key_of, layers_of_key
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import refused
from paddletorch.plan.model.refusals import LayoutMatters, Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.placeholders import with_brackets
from paddletorch.plan.syntax.positions import holds
from paddletorch.plan.uses.linear_weights import given_parameter, is_linear_weight, picked_weight
from paddletorch.resolve import Instance
from paddletorch.resolve.flows.flows import Consumer, Flows
from paddletorch.resolve.flows.shapes import VALUE, Shape

_ROW = "linear.weight"
_AMONG: Mapping[str, Shape] = {"parameters": ("each",), "named_parameters": ("each", 1), "state_dict": ("unnamed",)}
"""How a model's methods hold its parameters; what a key of a state names is looked at by its key."""

_FIRST: Mapping[str, Shape] = {"parameters": (0,), "named_parameters": (0, 1)}
"""How a linear layer's hold the weight."""

_WALKS = frozenset({"iter", "list", "next", "tuple"})
_DECIDED = re.compile(r"conv|norm|bn|bias|embed|\.dim\(\)|\.ndim|len\(")
"""What a test around the use speaks of, if it lets only parameters pass whose layout is the same."""


def plan_found_weights(view: FileView, planned: Planned) -> Changes:
    """Transpose each weight that is read, and report each that is used in another way, or may be."""
    row = view.settings.table.row(_ROW)
    picked, asked = [], []
    for use, is_weight in _uses(view):
        if not view.is_sources(use.node):
            continue
        if is_weight:
            picked.append(use.node)
        elif view.target == "paddle" and _asks_for_axis(view, use) and not _is_decided(view, use.node):
            asked.append(use.node)
    found = [n for n in dict.fromkeys(asked) if not view.is_deselected(row.code, n) and n not in planned.handled]
    findings = Changes(findings=tuple(refused(LayoutMatters(), node, _ROW, row) for node in found))
    if f"{view.settings.source}.nn.Linear" in planned.uses.left_apis:
        return findings
    certain = dict.fromkeys([*_entries(view), *picked, *_gradients(view)])
    made = (_made_of(view, node) for node in view.tree.members.get("weight", ()))
    return joined([findings, *(_transposed(view, node) for node in certain), *made])


def _uses(view: FileView) -> Iterator[tuple[Consumer, bool]]:
    """What takes a parameter that is a linear layer's weight, and of others that may be one; whether it is."""
    flows, receivers, kept = Flows(view.evaluator), view.provide(Receivers), facts().layout_kept
    for method, shape in _AMONG.items():
        for call in view.tree.method_calls(method):
            assert isinstance(call.func, ast.Attribute)
            model = call.func.value
            if any(isinstance(v, Instance) and v.type == "linear" for v in view.evaluator.objects(model)):
                for use in flows.consumers(call, _FIRST.get(method, shape)):
                    if not use.shape and method in _FIRST and _is_picked(view, use.node, call):
                        yield use, True
                    elif not use.shape:
                        yield from ((one, False) for one in flows.consumers(use.node, VALUE, kept) if not one.shape)
            elif receivers.certainty(model, "module") is not Certainty.NO:
                found = flows.consumers(call, shape, kept, key="weight")
                yield from ((one, False) for one in found if not one.shape)
    for node in _named(view):
        yield from ((one, False) for one in flows.consumers(node, VALUE, kept) if not one.shape)


def _is_picked(view: FileView, node: ast.expr, call: ast.Call) -> bool:
    """Whether it can be nothing but what is picked out of the call's result: ``w`` of ``w, b = layer.parameters()``."""
    while node is not call:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _WALKS and node.args:
            node = node.args[0]
        elif isinstance(node, ast.Name):
            reaching = list(view.evaluator.reaching(node))
            only = reaching[0] if len(reaching) == 1 and reaching[0].kind in ("assign", "unpack") else None
            if only is None or only.value is None or None in only.path or holds(only.value, node):
                return False  # of a walk, or of itself
            node = only.value
        else:
            return False
    return True


def _named(view: FileView) -> Iterator[ast.expr]:
    """``state["fc.weight"]``, where the file shows a linear layer of this name, or the name says that it is one."""
    for node in view.tree.subscripts:
        key = key_of(node)
        if key is None or not key.endswith(".weight") or not isinstance(node.ctx, ast.Load):
            continue
        known = {value.type for value in layers_of_key(view, node) if isinstance(value, Instance)}
        if "linear" in known if known else view.settings.table.suggests("linear", key.split(".")[-2]):
            yield node


# what depends on the layout --------------------------------------------------------------------------


def _asks_for_axis(view: FileView, use: Consumer) -> bool:
    """Whether what is done to the tensor is another thing for the transposed one."""
    user = use.user
    if isinstance(user, ast.Subscript):
        return use.kind == "index" and _is_place(user.slice)
    if isinstance(user, ast.BinOp):
        return isinstance(user.op, ast.MatMult)
    if isinstance(user, ast.Call) and use.kind == "argument" and use.node in user.args[:1]:
        name = view.qualified(user.func) or ""
        api = name.startswith(view.settings.source + ".") and name.rpartition(".")[2]
        return api in facts().layout_axes or (api in facts().reductions and _names_an_axis(user, 1))
    return isinstance(user, ast.Attribute) and _member_asks(view, user)


def _member_asks(view: FileView, member: ast.Attribute) -> bool:
    outer = view.parent(member)
    if member.attr == "shape":
        return isinstance(outer, ast.Subscript) and outer.value is member and _is_place(outer.slice)
    if not isinstance(outer, ast.Call) or outer.func is not member:
        return member.attr in facts().layout_axes
    if member.attr == "size":
        return bool(outer.args)
    return member.attr in facts().layout_axes or (member.attr in facts().reductions and _names_an_axis(outer, 0))


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


def _is_decided(view: FileView, node: ast.expr) -> bool:
    """Whether a test around the use, in the walk that gives the parameter or of its name, speaks of what it is."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    child: ast.AST = node
    parent = view.parent(node)
    tests: list[ast.expr] = []
    while parent is not None and not isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        if isinstance(parent, ast.If | ast.IfExp) and child is not parent.test:
            tests.append(parent.test)
        walks = getattr(parent, "generators", [parent] if isinstance(parent, ast.For) else [])
        tests += [test for walk in walks for test in getattr(walk, "ifs", ())]
        if any(isinstance(n, ast.Name) and n.id in names for walk in walks for n in ast.walk(walk.target)):
            return any(map(_speaks, tests))
        child, parent = parent, view.parent(parent)
    return any(_speaks(one) for one in tests if any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(one)))


def _speaks(test: ast.expr) -> bool:
    text = ast.unparse(test).lower()
    one_axis_or_many = not re.search(r"[=<>]\s*2\b|> 1\b|>= 2\b", text)
    return bool(_DECIDED.search(text)) and one_axis_or_many


# what is certainly the weight ------------------------------------------------------------------------


def _entries(view: FileView) -> Iterator[ast.Subscript]:
    """``layer.state_dict()["weight"]``, also by way of a variable."""
    for node in view.tree.subscripts:
        key = node.slice
        if not isinstance(key, ast.Constant) or key.value != "weight" or not isinstance(node.ctx, ast.Load):
            continue
        if any(_is_state_of_linear(view, made) for made in _made(view, node.value)):
            yield node


def _gradients(view: FileView) -> Iterator[ast.Attribute]:
    """``layer.weight.grad``: it has the weight's layout."""
    for node in view.tree.members.get("grad", ()):
        if isinstance(node.ctx, ast.Load) and is_linear_weight(view, node.value):
            yield node


def _made(view: FileView, node: ast.expr) -> list[ast.expr]:
    """The expressions whose value it is, as far as the file shows them."""
    if not isinstance(node, ast.Name) or node not in view.tree.scopes:
        return [node]
    return [b.value for b in view.tree.scopes[node].lookup(node.id) if b.value is not None]


def _is_state_of_linear(view: FileView, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "state_dict":
        return False
    values = view.evaluator.objects(node.func.value)
    return any(isinstance(v, Instance) and v.type == "linear" for v in values)


def _transposed(view: FileView, node: ast.expr) -> Changes:
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
