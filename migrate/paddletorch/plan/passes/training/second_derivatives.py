"""Files that differentiate with ``create_graph=True``: many of Paddle's operators have no second derivative.

Measured on 3.3.1: ``paddle.grad(..., create_graph=True)``, or the backward of what it gives, raises where one of them
stands between the result and what it is differentiated by.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules.facts import facts
from paddletorch_rules.guesses import suggests

from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant
from paddletorch.resolve import Instance, Scope
from paddletorch.resolve.values import UNKNOWN

_CODE = "AGD203"
_WHAT = "Paddle has no second derivative of it (3.3.1): create_graph=True raises an error"
_OF_ANOTHER_FILE = (
    "{model} is not seen here: where one of its layers has no second derivative in Paddle (3.3.1), such as GELU or "
    "LayerNorm, create_graph=True raises an error"
)


def plan_second_derivatives(view: FileView, planned: Planned) -> Changes:
    """Report each API once, at its first use through which a gradient with a graph may go."""
    calls = [call for call in view.tree.calls if _creates_graph(call)]
    if not calls:
        return NOTHING
    last: dict[Scope, int] = {}
    for call in calls:
        scope = view.tree.scopes[call].function()
        last[scope] = max(last.get(scope, 0), call.lineno)
    found = sorted(_found(view, planned, last), key=lambda one: (one.node.lineno, one.node.col_offset))
    first: dict[str, Finding] = {}
    for one in found:
        first.setdefault(one.name.rpartition(".")[2], one)
    return Changes(findings=(*first.values(), *_of_other_files(view, calls)))


def _of_other_files(view: FileView, derivatives: list[ast.Call]) -> Iterator[Finding]:
    """The first derivative of what a model computes, in a file that defines none."""
    defines = any(scope.kind == "class" and "forward" in scope.bindings for scope in view.tree.own.values())
    for derivative in () if defines else derivatives:
        scope = view.tree.scopes[derivative].function()
        for call in view.tree.calls:
            before = call.lineno <= derivative.lineno and view.tree.scopes[call].function() is scope
            if before and call.args and _is_unseen_model(view, call.func):
                what = _OF_ANOTHER_FILE.format(model=view.text(call.func))
                yield finding(_CODE, derivative, view.text(derivative.func), what=what)
                return


def _is_unseen_model(view: FileView, function: ast.expr) -> bool:
    """Whether it may be a model of another file: of such a class, or what the caller passes."""
    values = view.evaluator.values(function)
    if any(isinstance(value, Instance) and value.external_class and value.node is None for value in values):
        return True
    passed = isinstance(function, ast.Name) and {b.kind for b in view.evaluator.reaching(function)} == {"parameter"}
    return passed and values <= UNKNOWN and not suggests("no_model", view.text(function))


def _creates_graph(call: ast.Call) -> bool:
    given = [k.value for k in call.keywords if k.arg == "create_graph"]
    return any(constant(node) not in (False, None) for node in given)


def _found(view: FileView, planned: Planned, last: dict[Scope, int]) -> Iterator[Finding]:
    layers, functions = facts().once_differentiable["layers"], facts().once_differentiable["functions"]
    receivers = view.provide(Receivers).with_uses(planned.uses)
    for use in planned.uses:
        short = use.site.name.rpartition(".")[2]
        node = use.site.node
        if use.site.role != "check" and (short in layers or (short in functions and _is_before(view, node, last))):
            yield finding(_CODE, node, use.site.name, use.row, what=_WHAT)
    for call in view.tree.calls_of(*functions):
        method = call.func
        if not isinstance(method, ast.Attribute):
            continue
        if receivers.certainty(method.value, "tensor") is Certainty.YES and _is_before(view, method, last):
            yield finding(_CODE, method, f"tensor.{method.attr}", what=_WHAT)


def _is_before(view: FileView, node: ast.expr, last: dict[Scope, int]) -> bool:
    """Whether it is in a model, or is computed before the derivative: what follows is done to the gradients."""
    scope = view.tree.scopes[node].function()
    if scope in last:
        return node.lineno <= last[scope]
    owner = scope.enclosing_class()
    return owner is not None and "forward" in owner.bindings
