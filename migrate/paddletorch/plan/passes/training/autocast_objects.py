"""Autocast objects in variables: Paddle's can be entered only once, torch's many times."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.control_flow import loop_around
from paddletorch.resolve import Binding, Scope

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_ENTERED_NAME = "entered_autocast"
"""The variable that holds an object whose ``__enter__`` is called directly."""

_ONCE = "a paddle.amp.auto_cast object works once, the second 'with' raises AttributeError"


def plan_autocast_objects(view: FileView, planned: Planned) -> Changes:
    """Replace each autocast object in a variable by a lambda, if all its uses are known; report the others."""
    objects = _AutocastObjects(view)
    found: list[Changes] = []
    for use in planned.uses:
        site, call = use.site, use.site.call
        if use.row.instance != "autocast" or site.role != "call" or call is None or use.target is None:
            continue
        if use.target.startswith("paddle."):  # the shim's objects can be entered again
            found.append(objects.changes(site, call))
    return joined(found)


class _AutocastObjects:
    """The autocast objects of one file, in source order."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._named: set[int] = set()
        self._keeps_one = False

    def changes(self, site: Site, call: ast.Call) -> Changes:
        """Plan the object that a call returns: edits, or a finding if it may be entered again."""
        view = self._view
        value, parent = _bound_value(view, call)
        if isinstance(parent, ast.withitem) or (isinstance(parent, ast.FunctionDef) and call in parent.decorator_list):
            return NOTHING
        function = parent.func if isinstance(parent, ast.Call) else None
        if isinstance(function, ast.Attribute) and function.attr == "enter_context":
            return NOTHING
        if isinstance(parent, ast.AsyncFunctionDef | ast.Expr):
            return NOTHING
        if isinstance(parent, ast.Attribute) and parent.attr == "__enter__" and value is call:
            return self._entered_for_good(site, call)
        if function is call:  # autocast(...)(function): a decorator
            return NOTHING
        if isinstance(parent, ast.Return | ast.Lambda):
            return Changes(findings=tuple(_returned(view, site, parent)))
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            return self._assigned(site, parent.targets[0])
        found = _entered_again(site, view.text(value), "is kept or passed on, and may be entered again")
        return Changes(findings=(found,))

    def _entered_for_good(self, site: Site, call: ast.Call) -> Changes:
        """``autocast(...).__enter__()``: assign the object to a variable, since Paddle's exits when it is freed."""
        view = self._view
        scope = view.tree.scopes[call]
        at_top = scope.kind == "module" and loop_around(view, call) is None
        if at_top and not self._keeps_one and _ENTERED_NAME not in scope.bindings:
            self._keeps_one = True
            span = view.source.span(call)
            start, end = Span(span.start, span.start), Span(span.end, span.end)
            return Changes((Edit(start, f"({_ENTERED_NAME} := ", "AMP221"), Edit(end, ")", "AMP221")))
        why = "paddle.amp.auto_cast switches off again when its object is freed, torch's stays on"
        return Changes(findings=(_entered_again(site, view.text(call), "is entered and not kept", why),))

    def _assigned(self, site: Site, target: ast.Name) -> Changes:
        """``context = autocast(...)``: make each use of the variable create its own object."""
        view = self._view
        scope = view.tree.scopes[target]
        bindings = scope.lookup(target.id)
        if id(bindings) in self._named:
            return NOTHING
        self._named.add(id(bindings))
        uses = view.tree.reads(bindings)
        entered = [n for n in uses if isinstance(view.parent(n), ast.withitem)]
        in_functions = [n for n in entered if view.tree.scopes[n].function() is not scope.function()]
        looped = [n for n in entered if _loops_between(view, n, target)]
        if len(entered) == len(uses) and len(entered) <= 1 and not in_functions and not looped:
            return NOTHING
        how = "is entered more than once" if len(entered) == len(uses) else "is passed on and may be entered again"
        if len(entered) != len(uses) or not uses or not _can_wait(view, bindings, scope):
            return Changes(findings=(_entered_again(site, target.id, how),))
        return Changes(tuple(_factory(view, bindings, uses)))


def _bound_value(view: FileView, call: ast.Call) -> tuple[ast.expr, ast.AST | None]:
    """The call, or the conditional expression around it, and its parent."""
    value: ast.expr = call
    parent = view.parent(value)
    while isinstance(parent, ast.IfExp | ast.BoolOp):
        value, parent = parent, view.parent(parent)
    return value, parent


def _returned(view: FileView, site: Site, parent: ast.AST) -> Iterator[Finding]:
    """Report each caller that assigns the object that a function returns; others get a new object at each call."""
    function: ast.AST | None = parent
    while function is not None and not isinstance(function, ast.FunctionDef):
        function = view.parent(function)
    if not isinstance(parent, ast.Return) or function is None:
        return
    for call in view.evaluator.calls.of(function):
        if isinstance(view.parent(call), ast.Assign):
            yield _entered_again(site, f"{function.name}()", "is kept by a caller and may be entered again")


def _loops_between(view: FileView, use: ast.AST, target: ast.AST) -> bool:
    """Whether a loop repeats the use without repeating the assignment."""
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


def _can_wait(view: FileView, bindings: list[Binding], scope: Scope) -> bool:
    """Whether the expression can be evaluated later, at each entry, with the same result."""
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


def _factory(view: FileView, bindings: list[Binding], uses: Sequence[ast.Name]) -> list[Edit]:
    """Make the variable a lambda, and call it at each use."""
    edits: list[Edit] = []
    for binding in bindings:
        assert binding.value is not None
        start = view.source.span(binding.value).start
        edits.append(Edit(Span(start, start), "lambda: ", "AMP221"))
    for use in uses:
        end = view.source.span(use).end
        edits.append(Edit(Span(end, end), "()", "AMP221"))
    return edits


def _entered_again(site: Site, name: str, how: str, why: str = _ONCE) -> Finding:
    assert site.call is not None
    return finding("AMP221", site.call, site.name, site.candidates[0].row, name=name, how=how, why=why)
