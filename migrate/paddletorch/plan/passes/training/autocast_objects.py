"""Autocast objects kept in a variable: Paddle's can be entered once, torch's again and again."""

from __future__ import annotations

import ast

from paddletorch.model import Edit, Span
from paddletorch.plan.model.outcome import Outcome
from paddletorch.plan.model.view import FileView
from paddletorch.plan.sites.sites import Site
from paddletorch.plan.syntax.control_flow import loop_around
from paddletorch.resolve import Binding, Scope

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def plan_reentry(view: FileView, planned: list[tuple[Site, Outcome]]) -> list[Edit]:
    """Make a factory of each kept autocast object whose every use is in sight; report the others."""
    if view.target != "paddle":
        return []
    edits: list[Edit] = []
    done: set[int] = set()
    for site, outcome in planned:
        if outcome.row.instance != "autocast" or site.role != "call" or site.call is None or outcome.target is None:
            continue
        if not outcome.target.startswith("paddle."):
            continue  # the shim's object can be entered again
        edits += _one_object(view, site, site.call, done)
    return edits


def _one_object(view: FileView, site: Site, call: ast.Call, done: set[int]) -> list[Edit]:
    value, parent = _bound_value(view, call)
    if isinstance(parent, ast.withitem) or (isinstance(parent, ast.FunctionDef) and call in parent.decorator_list):
        return []
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "enter_context":
        return []
    if isinstance(parent, ast.AsyncFunctionDef | ast.Expr):
        return []
    if isinstance(parent, ast.Attribute) and parent.attr == "__enter__" and value is call:
        return _entered_for_good(view, site, call, done)
    if isinstance(parent, ast.Call) and parent.func is call:  # autocast(...)(function): a decorator
        return []
    if isinstance(parent, ast.Return | ast.Lambda):
        _returned(view, site, parent)
        return []
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        return _named(view, site, parent.targets[0], value, done)
    _report(view, site, view.text(value), "is kept or passed on, and may be entered again")
    return []


def _entered_for_good(view: FileView, site: Site, call: ast.Call, done: set[int]) -> list[Edit]:
    """``autocast(...).__enter__()``: Paddle's object leaves when it is freed, so a module keeps one under a name."""
    scope = view.tree.scopes[call]
    at_top = scope.kind == "module" and loop_around(view, call) is None
    if at_top and _TOP not in done and _KEPT not in scope.bindings:
        done.add(_TOP)
        span = view.source.span(call)
        start, end = Span(span.start, span.start), Span(span.end, span.end)
        return [Edit(start, f"({_KEPT} := ", "AMP221"), Edit(end, ")", "AMP221")]
    why = "paddle.amp.auto_cast switches off again when its object is freed, torch's stays on"
    _report(view, site, view.text(call), "is entered and not kept", why)
    return []


_KEPT, _TOP = "entered_autocast", 0
"""The name under which a module keeps the object, and the mark that it does."""


def _bound_value(view: FileView, call: ast.Call) -> tuple[ast.expr, ast.AST | None]:
    """The whole bound expression: the call, or the conditional around it."""
    value: ast.expr = call
    parent = view.parent(value)
    while isinstance(parent, ast.IfExp | ast.BoolOp):
        value, parent = parent, view.parent(parent)
    return value, parent


def _returned(view: FileView, site: Site, parent: ast.AST) -> None:
    """Each call makes a fresh object: fine unless a caller in the file keeps it."""
    function: ast.AST | None = parent
    while function is not None and not isinstance(function, ast.FunctionDef):
        function = view.parent(function)
    if not isinstance(parent, ast.Return) or function is None:
        return
    for call in view.evaluator.calls.of(function):
        if isinstance(view.parent(call), ast.Assign):
            _report(view, site, f"{function.name}()", "is kept by a caller and may be entered again")


def _named(view: FileView, site: Site, target: ast.Name, value: ast.expr, done: set[int]) -> list[Edit]:
    scope = view.tree.scopes[target]
    bindings = scope.lookup(target.id)
    if id(bindings) in done:
        return []
    done.add(id(bindings))
    uses = [n for n in view.tree.loads if n.id == target.id and view.tree.scopes[n].lookup(n.id) is bindings]
    entered = [n for n in uses if isinstance(view.parent(n), ast.withitem)]
    in_functions = [n for n in entered if view.tree.scopes[n].function() is not scope.function()]
    looped = [n for n in entered if _loops_between(view, n, target)]
    if len(entered) == len(uses) and len(entered) <= 1 and not in_functions and not looped:
        return []
    how = "is entered more than once" if len(entered) == len(uses) else "is passed on and may be entered again"
    if len(entered) != len(uses) or not uses or not _can_wait(view, bindings, value, scope):
        _report(view, site, target.id, how)
        return []
    return _factory(view, bindings, uses)


def _loops_between(view: FileView, use: ast.AST, target: ast.AST) -> bool:
    """Whether a loop runs the use again without running the assignment again."""
    around = set()
    node: ast.AST | None = target
    while node is not None:
        around.add(node)
        node = view.parent(node)
    node = view.parent(use)
    while node is not None and node not in around:
        if isinstance(node, _LOOPS):
            return True
        node = view.parent(node)
    return False


def _can_wait(view: FileView, bindings: list[Binding], value: ast.expr, scope: Scope) -> bool:
    """Whether evaluating the expression later, at each entry, gives the same object."""
    if scope.kind == "class":
        return False
    for binding in bindings:
        if binding.kind != "assign" or binding.value is None:
            return False
        if isinstance(view.parent(binding.node), ast.Tuple | ast.NamedExpr | ast.AnnAssign):
            return False
        for node in ast.walk(binding.value):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found = view.tree.scopes[node].lookup(node.id)
                if len([b for b in found if b.qualified is None]) > 1:
                    return False
            elif isinstance(node, ast.NamedExpr | ast.Await | ast.Yield):
                return False
    return True


def _factory(view: FileView, bindings: list[Binding], uses: list[ast.Name]) -> list[Edit]:
    edits: list[Edit] = []
    for binding in bindings:
        assert binding.value is not None
        start = view.source.span(binding.value).start
        edits.append(Edit(Span(start, start), "lambda: ", "AMP221"))
    for use in uses:
        end = view.source.span(use).end
        edits.append(Edit(Span(end, end), "()", "AMP221"))
    return edits


_ONCE = "a paddle.amp.auto_cast object works once, the second 'with' raises AttributeError"


def _report(view: FileView, site: Site, name: str, how: str, why: str = _ONCE) -> None:
    assert site.call is not None
    view.report("AMP221", site.call, site.name, site.candidates[0].row, name=name, how=how, why=why)
