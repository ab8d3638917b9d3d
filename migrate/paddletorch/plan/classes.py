"""Classes that derive from an API: their ``super().__init__`` call, and calls that reach the API's own."""

from __future__ import annotations

import ast

from paddletorch.model import Edit
from paddletorch.plan.arguments import convert_arguments
from paddletorch.plan.binding import bind
from paddletorch.plan.calls import Outcome, finding, run_hook, target_form
from paddletorch.plan.context import FileContext, Refusal
from paddletorch.plan.sites import Site
from paddletorch.resolve.values import Local


def plan_subclasses(context: FileContext, planned: list[tuple[Site, Outcome]]) -> list[Edit]:
    """Convert what the class hands to the API's constructor; if that fails the base stays too."""
    edits: list[Edit] = []
    for site, outcome in planned:
        node = context.parent(site.node)
        if site.role != "base" or outcome.target is None or not isinstance(node, ast.ClassDef):
            continue
        try:
            found = [e for call in _constructor_calls(context, node) for e in _convert(context, site, call)]
        except Refusal as refusal:
            outcome.target, outcome.edits = None, []
            outcome.findings.append(finding(refusal, site.node, site.name, outcome.row))
            continue
        edits += found
        if outcome.row.kind == "class":
            context.report("API207", site.node, site.name, outcome.row, name=node.name, replacement=outcome.target)
    return edits


def _constructor_calls(context: FileContext, node: ast.ClassDef) -> list[ast.Call]:
    calls: list[ast.Call] = []
    own_init = None
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            own_init = statement
    if own_init is not None:
        calls = [c for c in ast.walk(own_init) if isinstance(c, ast.Call) and _is_super_init(c)]
    else:
        for call in context.tree.calls:
            values = context.evaluator.values(call.func)
            if any(isinstance(v, Local) and v.node is node for v in values):
                calls.append(call)
    return calls


def _is_super_init(call: ast.Call) -> bool:
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "__init__"
        and isinstance(function.value, ast.Call)
        and isinstance(function.value.func, ast.Name)
        and function.value.func.id == "super"
    )


def _convert(context: FileContext, site: Site, call: ast.Call) -> list[Edit]:
    candidate = site.candidates[0]
    form = target_form(candidate.row, context)
    binding = bind(context, call, candidate.row, candidate.form, candidate.name)
    run_hook(binding)
    return convert_arguments(binding, form)
