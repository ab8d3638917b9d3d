"""Hooks for methods of a scaler that convert with the statement around them: minimize, update, step, scale."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from paddletorch_rules import Row

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.receivers import Certainty
from paddletorch.plan.model.changes import NOTHING, Changes, joined
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.refusals import NotOneStatement, Refused, UnclearMinimize, UnclearUpdate
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant
from paddletorch.plan.syntax.control_flow import loop_around
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.plan.syntax.statements import ends_line, own_line, remove_statement
from paddletorch.resolve import NoneValue
from paddletorch.text.argument_edits import ArgumentChanges, edit_arguments
from paddletorch.text.call_spans import LayoutError, read_layout


class MemberCall(NamedTuple):
    """A method's call: ``node`` is ``receiver.method``, ``call`` the call of it."""

    node: ast.Attribute
    call: ast.Call
    row: Row
    name: str
    certainty: Certainty


MethodHook = Callable[[FileView, MemberCall], "Changes | None"]
"""A hook that plans one call of a method; it returns None to use the generic conversion.

Raises:
    Refused: the call must be left.
"""


def _finding(member: MemberCall, code: str, what: str, node: ast.expr | None = None) -> Finding:
    return finding(code, node or member.call, member.name, member.row, what=what)


def _method_name(view: FileView, member: MemberCall, name: str) -> Edit:
    return Edit(view.source.attribute_name(member.node), name, member.row.code)


def _is_statement(view: FileView, call: ast.Call) -> bool:
    return isinstance(view.parent(call), ast.Expr)


def minimize(view: FileView, member: MemberCall) -> Changes:
    """``scaler.minimize(optimizer, loss)`` becomes ``scaler.step(optimizer)`` and ``scaler.update()``."""
    call = member.call
    if member.certainty is not Certainty.YES and len(call.args) + len(call.keywords) < 2:
        return NOTHING
    if not _is_statement(view, call):
        raise Refused(UnclearMinimize("the value of minimize() is used, and torch's step() gives another one"))
    optimizer = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "optimizer"), None)
    if optimizer is None or isinstance(optimizer, ast.Starred):
        raise Refused(UnclearMinimize("the optimizer that minimize() steps cannot be seen"))
    loss = [*call.args[1:], *(k.value for k in call.keywords if k.value is not optimizer)]
    if len(loss) > 1 or not all(_may_drop(a) for a in loss):
        raise Refused(UnclearMinimize("minimize() has arguments beside the optimizer and the scaled loss"))
    try:
        layout = read_layout(view.source, call)
    except LayoutError as error:
        raise Refused(UnclearMinimize(str(error))) from None
    first = next(i for i, a in enumerate(layout.arguments) if a == layout.argument(optimizer))
    drop = frozenset(i for i in range(len(layout.arguments)) if i != first)
    edits = edit_arguments(layout, ArgumentChanges(drop), member.row.code)
    edits.append(_method_name(view, member, "step"))
    receiver = _receiver(view, member, UnclearMinimize)
    edits.append(_after_statement(view, member, f"{receiver}.update()"))
    return Changes(tuple(edits))


def _may_drop(node: ast.expr) -> bool:
    """Whether a loss argument has no side effect, so that it may be dropped."""
    if isinstance(node, ast.Call):  # scaler.scale(loss)
        return isinstance(node.func, ast.Attribute) and node.func.attr == "scale" and all(map(_may_drop, node.args))
    return all(
        isinstance(n, ast.Name | ast.Attribute | ast.Subscript | ast.Constant | ast.expr_context)
        for n in ast.walk(node)
    )


def _receiver(view: FileView, member: MemberCall, reason: type[NotOneStatement]) -> str:
    """The source text of the scaler, to be repeated.

    Raises:
        Refused: evaluating it has a side effect.
    """
    if any(isinstance(n, ast.Call | ast.NamedExpr | ast.Await) for n in ast.walk(member.node.value)):
        raise Refused(reason("the scaler is the result of a call, which would run twice"))
    return view.written(member.node.value)


def _after_statement(view: FileView, member: MemberCall, text: str) -> Edit:
    statement = view.statement(member.call)
    assert statement is not None and statement.end_lineno is not None
    end = view.source.span(statement).end
    if own_line(view, statement) and ends_line(view, statement):
        line = view.source.line_span(statement.end_lineno)
        body = view.source.body[line.start : line.end]
        place = line.start + len(body.rstrip(b"\r\n"))
        indentation = view.source.indentation(statement.lineno)
        return Edit(Span(place, place), f"{view.source.newline}{indentation}{text}", member.row.code)
    return Edit(Span(end, end), f"; {text}", member.row.code)


def update(view: FileView, member: MemberCall) -> Changes:
    """``scaler.update(x)`` becomes ``scaler.update()`` and ``scaler.set_init_loss_scaling(x)``."""
    call = member.call
    if not call.args and not call.keywords:
        return NOTHING
    given = call.args[0] if call.args else call.keywords[0].value
    known = len(call.args) + len(call.keywords) == 1 and not isinstance(given, ast.Starred)
    if not known or (call.keywords and call.keywords[0].arg != "new_scale"):
        if member.certainty is not Certainty.YES:
            return NOTHING  # a method of the file's own: update(found_inf)
        raise Refused(UnclearUpdate("update() has arguments that cannot be seen"))
    layout = read_layout(view.source, call)
    if isinstance(given, ast.Constant) and given.value is None:
        return Changes(tuple(edit_arguments(layout, ArgumentChanges(frozenset({0})), member.row.code)))
    if member.certainty is not Certainty.YES and not call.keywords:
        return NOTHING
    if not _is_statement(view, call) or not _never_none(view, given):
        raise Refused(UnclearUpdate("update(new_scale) may be given None, or is not a statement of its own"))
    statement = view.statement(call)
    assert statement is not None
    receiver = _receiver(view, member, UnclearUpdate)
    start = view.source.span(statement).start
    own = own_line(view, statement)
    end = view.source.newline + view.source.indentation(statement.lineno) if own else "; "
    edits = [_method_name(view, member, "set_init_loss_scaling")]
    argument = layout.arguments[0]
    if argument.keyword is not None:
        edits.append(Edit(Span(argument.whole.start, argument.value.start), "", member.row.code))
    if _just_updated(view, member):
        return Changes(tuple(edits))
    before = Edit(Span(start, start), f"{receiver}.update(){end}", member.row.code)
    what = "update(new_scale) became update() and set_init_loss_scaling(): Paddle also counts this step"
    return Changes((before, *edits), findings=(_finding(member, "AMP231", what),))


def _just_updated(view: FileView, member: MemberCall) -> bool:
    """Whether ``update()`` ran earlier in this block, without a step since, so that only the scale must be set."""
    path, scope = path_of(member.node.value), view.tree.scopes[member.call].function()
    before: list[ast.Call] = []
    for call in view.tree.calls_of("step", "update", "minimize"):
        function = call.func
        if isinstance(function, ast.Attribute):
            same = path_of(function.value) == path and view.tree.scopes[call].function() is scope
            if same and (call.lineno, call.col_offset) < (member.call.lineno, member.call.col_offset):
                before.append(call)
    last = max(before, key=lambda c: (c.lineno, c.col_offset), default=None)
    if last is None or not isinstance(last.func, ast.Attribute) or last.func.attr != "update":
        return False
    block = view.parent(view.statement(last) or last)
    around: ast.AST | None = member.call
    while around is not None and around is not block:
        around = view.parent(around)
    return around is not None and not last.args and not last.keywords


def _never_none(view: FileView, node: ast.expr) -> bool:
    if constant(node) is not ... or isinstance(node, ast.BinOp | ast.UnaryOp | ast.Call):
        return True
    if isinstance(node, ast.Name):
        values = view.evaluator.values(node)
        bindings = view.tree.scopes[node].lookup(node.id)
        sure = all(b.kind == "assign" and b.value is not None and b.value is not node for b in bindings)
        simple = all(isinstance(b.value, ast.Constant | ast.BinOp | ast.UnaryOp | ast.Call) for b in bindings)
        return bool(bindings) and sure and simple and NoneValue() not in values
    return False


def step(view: FileView, member: MemberCall) -> Changes:
    """Report additional arguments and a used result; plain steps need no edit."""
    if member.certainty is not Certainty.YES:
        return NOTHING
    call = member.call
    found: list[Finding] = []
    if len(call.args) + len(call.keywords) > 1:
        found.append(_finding(member, "AMP225", "step() is given more than the optimizer"))
    if not _is_statement(view, call) and not isinstance(view.parent(call), ast.Lambda):
        found.append(_finding(member, "AMP225", "the value of step() is used"))
    return Changes(findings=tuple(found))


def scale(view: FileView, member: MemberCall) -> Changes | None:
    """Report lists on the way to Paddle; convert the arguments of a chained ``backward``, and the loss's keyword."""
    if not member.call.args and member.call.keywords:
        return None
    if member.certainty is not Certainty.YES or not member.call.args or view.target != "paddle":
        return NOTHING
    given = member.call.args[0]
    is_collection = isinstance(given, ast.List | ast.Tuple | ast.ListComp | ast.GeneratorExp | ast.Dict)
    reported = Changes(findings=(_finding(member, "AMP227", view.text(given)),) if is_collection else ())
    attribute = view.parent(member.call)
    backward = view.parent(attribute) if isinstance(attribute, ast.Attribute) else None
    if isinstance(attribute, ast.Attribute) and attribute.attr == "backward" and isinstance(backward, ast.Call):
        return joined((reported, _backward(view, member, backward)))
    return reported


_BACKWARD = ("gradient", "retain_graph", "create_graph", "inputs")


def _backward(view: FileView, member: MemberCall, call: ast.Call) -> Changes:
    """The arguments of ``scaler.scale(loss).backward(...)`` where the rows of tensors are not selected."""
    if any(row.receiver == "tensor" for row, _ in view.settings.members("backward")):
        return NOTHING
    given = dict(zip(_BACKWARD, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
    for name in ("create_graph", "inputs"):
        node = given.get(name)
        if node is not None and constant(node) not in (False, None):
            what = f"backward({name}=...) has no counterpart in Paddle"
            return Changes(findings=(_finding(member, "AMP238", what, call),))
    if any(k.arg is None for k in call.keywords):
        what = "backward(**...) may hold create_graph, which Paddle lacks"
        return Changes(findings=(_finding(member, "AMP238", what, call),))
    layout = read_layout(view.source, call)
    renamed: dict[int, str] = {}
    drop: set[int] = set()
    for index, argument in enumerate((*call.args, *call.keywords)):
        name = _BACKWARD[index] if index < len(call.args) else getattr(argument, "arg", "")
        if name in ("create_graph", "inputs"):
            drop.add(index)
        elif name == "gradient" and index >= len(call.args):
            renamed[index] = "grad_tensor"
    if not renamed and not drop:
        return NOTHING
    return Changes(tuple(edit_arguments(layout, ArgumentChanges(frozenset(drop), renamed), member.row.code)))


def set_scale(view: FileView, member: MemberCall) -> Changes | None:
    """``set_init_loss_scaling(x)`` becomes ``update(x)``, which torch allows after the first ``scale``."""
    path = path_of(member.node.value)
    scope = view.tree.scopes[member.call].function()
    loop = loop_around(view, member.call)
    inside = set(ast.walk(loop)) if loop is not None else set()
    for call in view.tree.calls_of("scale", "update", "minimize"):
        function = call.func
        if not isinstance(function, ast.Attribute) or path_of(function.value) != path:
            continue
        if view.tree.scopes[call].function() is not scope:
            continue
        if call in inside or (call.lineno, call.col_offset) < (member.call.lineno, member.call.col_offset):
            return None
    what = "set_init_loss_scaling() may run before anything was scaled, where torch's update() raises"
    raise Refused(UnclearUpdate(what))


def to_itself(view: FileView, member: MemberCall) -> Changes | None:
    """Drop ``net = net.to(memory_format=...)``, a statement that gives an object to itself."""
    statement, kept = view.parent(member.call), ast.unparse(member.node.value)
    again = isinstance(statement, ast.Assign) and [ast.unparse(one) for one in statement.targets] == [kept]
    if not isinstance(member.node.value, ast.Name | ast.Attribute) or not (again or isinstance(statement, ast.Expr)):
        return None
    assert isinstance(statement, ast.stmt)
    return Changes(edits=(remove_statement(view, statement),))


METHOD_HOOKS: dict[str, MethodHook] = {
    "minimize": minimize,
    "update": update,
    "step": step,
    "scale": scale,
    "set_scale": set_scale,
    "to_itself": to_itself,
}
"""The hooks for methods that a table row can name."""
