"""Classes that derive from an API: their ``super().__init__`` call, and calls that reach the API's own."""

from __future__ import annotations

import ast
import re

from paddletorch_rules.hooks.data import BATCH_SIZE

from paddletorch.model import Edit
from paddletorch.plan.calls.arguments import convert_arguments
from paddletorch.plan.calls.binding import CallBinding, bind
from paddletorch.plan.calls.convert_call import run_hook
from paddletorch.plan.calls.fill_template import surrounding
from paddletorch.plan.inference.overloads import choose
from paddletorch.plan.model.outcome import Outcome, finding, target_form
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView
from paddletorch.plan.sites.sites import Site
from paddletorch.plan.uses.runtime_calls import MODULE, answers, wrapped
from paddletorch.resolve.values import Local

_PARENT = "a parent's constructor cannot say it"
_PLAIN = re.compile(r"[\w.]+\((\{\w+\})?\)")
"""A template that hands on what is given."""


def plan_subclasses(view: FileView, planned: list[tuple[Site, Outcome]]) -> None:
    """Convert what the class hands to the API's constructor; if that fails the base stays too."""
    made: dict[ast.AST, list[ast.Call]] | None = None
    for site, outcome in planned:
        node = view.parent(site.node)
        if site.role != "base" or outcome.target is None or not isinstance(node, ast.ClassDef):
            continue
        calls = _calls_of_parent(view, node)
        if calls is None:
            made = _calls_of_classes(view) if made is None else made
            calls = made.get(node, [])
        try:
            found = [e for call in calls for e in _convert(view, site, outcome, call)]
        except Refusal as refusal:
            outcome.target, outcome.edits = None, []
            outcome.findings.append(finding(refusal, site.node, site.name, outcome.row))
            continue
        outcome.edits += found
        if outcome.row.instance == "scaler":
            view.report("API207", site.node, site.name, outcome.row, name=node.name, replacement=outcome.target)


def _made(view: FileView, call: ast.Call, binding: CallBinding) -> str:
    """The name of the object, of ``super().__init__(...)`` around which something must stand; none of another call.

    Raises:
        Refusal: the call is part of a larger expression, or the object has no name.
    """
    if not _is_super_init(call) or not any(binding.around):
        return ""
    function = view.tree.scopes[call].node
    parameters = [*function.args.posonlyargs, *function.args.args] if isinstance(function, ast.FunctionDef) else []
    if not parameters or not isinstance(view.parent(call), ast.Expr):
        raise Refusal("API210", problem=_PARENT, signature="self".join(binding.around))
    return parameters[0].arg


def _calls_of_parent(view: FileView, node: ast.ClassDef) -> list[ast.Call] | None:
    """``super().__init__`` calls of the class's own constructor; None if it has none."""
    own = [s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"]
    if not own:
        return None
    inits = view.tree.members.get("__init__", ())
    calls = [call for f in inits if isinstance(call := view.parent(f), ast.Call) and call.func is f]
    found = [call for call in calls if _is_super_init(call) and _stands_in(view, call, own[-1])]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _stands_in(view: FileView, node: ast.AST, outer: ast.AST) -> bool:
    current: ast.AST | None = node
    while current is not None and current is not outer:
        current = view.parent(current)
    return current is outer


def _calls_of_classes(view: FileView) -> dict[ast.AST, list[ast.Call]]:
    """Calls of each class or function of the file."""
    found: dict[ast.AST, list[ast.Call]] = {}
    for call in view.tree.calls:
        for value in view.evaluator.values(call.func):
            if isinstance(value, Local):
                found.setdefault(value.node, []).append(call)
    return found


def _is_super_init(call: ast.Call) -> bool:
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "__init__"
        and isinstance(function.value, ast.Call)
        and isinstance(function.value.func, ast.Name)
        and function.value.func.id == "super"
    )


def _convert(view: FileView, site: Site, outcome: Outcome, call: ast.Call) -> list[Edit]:
    candidate = site.candidates[0]
    options = view.settings.overloads(candidate.name)
    row, source = choose(view, call, options) if len(options) > 1 else (candidate.row, candidate.form)
    form = target_form(row, view)
    try:
        binding = bind(view, call, row, source, candidate.name)
        run_hook(binding)
        template = binding.template or form.template
        if template and not _PLAIN.fullmatch(template):
            raise Refusal("API210", problem=_PARENT, signature=template)
        edits = [*surrounding(binding, _made(view, call, binding)), *convert_arguments(binding, form)]
    except Refusal as refusal:
        if not answers(view, refusal, call):
            raise
        outcome.needs = MODULE
        return wrapped(view, call.func)
    if any(BATCH_SIZE in e.written for e in edits):
        raise Refusal("DAT201", what="the loader that makes batches of its indices cannot be seen here")
    return edits
