"""What is written into a result that Paddle's backward needs, and torch's does not: quotients, ``silu``, ``normalize``.

Measured on 3.3.1: after ``y = a / b`` and ``y[0] = 1`` the backward of Paddle's division raises, since it computes with
the quotient; torch's computes with the operands. A copy of the result, which nothing else holds, may be written to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules.facts import facts

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.in_place_calls import asks_in_place, writes_in_place
from paddletorch.plan.inference.no_grad import is_without_grad
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.brackets import with_brackets
from paddletorch.plan.syntax.precedence import ATOM, precedence_of
from paddletorch.resolve.facts.dtypes import function_name

_CODE = "TEN106"
_STEPS = 16
"""How many variables and views a value is followed through."""


def plan_kept_results(view: FileView, planned: Planned) -> Changes:
    """``y = a / b`` becomes ``y = (a / b).clone()`` where ``y``, or a view of it, is written to and gradients flow."""
    kept: dict[ast.expr, None] = {}
    for written in _written(view):
        if not is_without_grad(view, written):
            kept.update(dict.fromkeys(_results(view, written, _STEPS)))
    return joined(_copied(view, planned, result) for result in kept if view.is_sources(result))


def _written(view: FileView) -> Iterator[ast.expr]:
    """Variables and views that an assignment to a part, or a method of a model in place, writes to."""
    for node in view.tree.of_kind(ast.Subscript):
        if isinstance(node.ctx, ast.Store):
            yield node.value
    for call in view.tree.calls_of(*filter(writes_in_place, view.tree.calls_by_name)):
        if isinstance(call.func, ast.Attribute) and _is_in_model(view, call):
            yield call.func.value


def _is_in_model(view: FileView, node: ast.expr) -> bool:
    """Whether gradients are most likely wanted: optimizers write in place where there are none."""
    owner = view.tree.scopes[node].function().enclosing_class()
    return owner is not None and "forward" in owner.bindings


def _results(view: FileView, node: ast.expr, steps: int) -> Iterator[ast.expr]:
    """What ``node`` may be, or be a view of, of the results that Paddle's backward needs."""
    if steps == 0 or is_without_grad(view, node):
        return
    if isinstance(node, ast.Name):
        for binding in view.evaluator.reaching(node):
            if binding.kind == "assign" and binding.value is not None:
                yield from _results(view, binding.value, steps - 1)
    elif isinstance(node, ast.Subscript):
        yield from _results(view, node.value, steps - 1)
    elif _is_kept(view, node):
        yield node
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _may_be_view(node.func.attr):
        yield from _results(view, node.func.value, steps - 1)


def _may_be_view(method: str) -> bool:
    return method in facts().views["torch"] or method in facts().may_share["torch"]


def _is_kept(view: FileView, node: ast.expr) -> bool:
    """Whether it is a tensor that Paddle's backward needs: a quotient by a number is none."""
    if isinstance(node, ast.BinOp):
        is_kept = isinstance(node.op, ast.Div) and "Tensor" in kinds(view, node.right)
    else:
        is_kept = isinstance(node, ast.Call) and not asks_in_place(node) and _gives_kept(view, node)
    return is_kept and view.source_tensor(node).is_certain


def _gives_kept(view: FileView, call: ast.Call) -> bool:
    name, given = view.qualified(call.func), list(call.args)
    if name is None and isinstance(call.func, ast.Attribute):
        name, given = f"torch.{call.func.attr}", [call.func.value, *given]
    short = function_name(name) if name is not None and name.startswith("torch.") else ""
    if short in facts().quotients:
        return len(given) > 1 and "Tensor" in kinds(view, given[1])
    return short in facts().kept_results


def _copied(view: FileView, planned: Planned, result: ast.expr) -> Changes:
    span = view.source.span(result)
    if view.is_deselected(_CODE, result) or any(_crosses(edit.span, span) for edit in planned.edits):
        return NOTHING
    statement = view.statement(result)
    whole = with_brackets(view.source, span, view.source.span(statement).start) if statement else span
    closed = whole != span or precedence_of(result) == ATOM
    edits = [Edit(Span(whole.end, whole.end), ".clone()" if closed else ").clone()", _CODE)]
    if not closed:
        edits.insert(0, Edit(Span(span.start, span.start), "(", _CODE))
    text = view.text(result)
    return Changes(tuple(edits), (view.conversion(_CODE, result, text, f"({text}).clone()"),))


def _crosses(edit: Span, span: Span) -> bool:
    """Whether an edit writes the whole expression anew."""
    return edit.start <= span.start and edit.end >= span.end
