"""Converts the call of an API: its arguments, templates, and the larger expression that it is part of."""

from __future__ import annotations

import ast

from paddletorch_rules import Form
from paddletorch_rules.hooks import argument_hooks

from paddletorch.model import Edit
from paddletorch.plan.calls.arguments import convert_arguments
from paddletorch.plan.calls.binding import Bound, CallBinding, bind
from paddletorch.plan.calls.checked_values import check_values
from paddletorch.plan.calls.fill_template import compose, fill, surrounding
from paddletorch.plan.calls.out_argument import take_out, write_out
from paddletorch.plan.inference.results import named_result
from paddletorch.plan.model.outcome import Outcome, target_name
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.template import Template
from paddletorch.plan.model.view import FileView
from paddletorch.plan.sites.sites import Candidate, Site


def convert_call(view: FileView, site: Site, candidate: Candidate, form: Form, outcome: Outcome) -> None:
    """Fill ``outcome`` for a call of the site's API.

    Raises:
        Refusal: it cannot be said with the target's API.
    """
    assert site.call is not None
    skip = 1 if site.role == "partial" else 0
    larger = _larger_expression(view, site.call, candidate, form)
    if larger is not None:
        outcome.target, outcome.whole = form.also[0], larger
        return
    binding = bind(view, site.call, candidate.row, candidate.form, candidate.name, skip)
    whole = _applied(view, site.call, candidate, binding) if candidate.form.applied else None
    taken = take_out(binding, form)
    run_hook(binding)
    if taken:
        write_out(binding)
    template = form.template
    if form.results:
        whole, template = named_result(view, site.call, form, binding.beside)
    template = binding.template or template
    if candidate.form.applied and whole is None:
        template = _as_function(candidate, view, template, form)
    if site.role == "partial" and any(binding.around):
        _around_each_call(view, binding)
    check_values(binding)
    around = surrounding(binding)
    if template is None:
        outcome.edits += [*around, *convert_arguments(binding, form)]
        return
    if site.role != "call":
        raise Refusal("API204", replacement=template, arguments="")
    outcome.target = outcome.target or template
    outcome.whole, *outcome.edits = compose(binding, form, template, whole)
    outcome.edits += around


def _around_each_call(view: FileView, binding: CallBinding) -> None:
    """What goes around a call goes around each call of a partial object: ``partial(torch.zeros, device=device)``.

    Raises:
        Refusal: the names of the function that does so are taken.
    """
    before, after = binding.around
    held = {n.id for b in binding.given.values() for n in ast.walk(b.value) if isinstance(n, ast.Name)}
    if not held.isdisjoint({"args", "kwargs"}):
        raise Refusal("API203", what="a partial object")
    whole = binding.node
    parent = view.parent(whole)
    open_, close = ("", "") if not isinstance(parent, ast.expr) or _is_passed(parent, whole) else ("(", ")")
    binding.around = (f"{open_}lambda *args, **kwargs: {before}", f"(*args, **kwargs){after}{close}")


def _is_passed(parent: ast.expr, node: ast.expr) -> bool:
    return isinstance(parent, ast.Call) and node is not parent.func


def _applied(view: FileView, call: ast.Call, candidate: Candidate, binding: CallBinding) -> ast.expr | None:
    """The call of the call's result, whose argument is bound too: ``Normal(0.0, 1.0)(weight)``.

    None if the object is kept: then a function takes its place.
    """
    outer = view.parent(call)
    applied = isinstance(outer, ast.Call) and outer.func is call and len(outer.args) == 1 and not outer.keywords
    if applied and isinstance(outer, ast.Call):
        binding.given[candidate.form.applied] = Bound(outer.args[0])
        return outer
    return None


def _as_function(candidate: Candidate, view: FileView, template: str | None, form: Form) -> str:
    """A function of the parameter that a later call would give.

    Raises:
        Refusal: the target has no template for it.
    """
    source = view.settings.source
    pair = next((p for p in candidate.row.parameters if p.name(source) == candidate.form.applied), None)
    name = pair.name(view.target) if pair is not None else None
    if template is None or name is None:
        raise Refusal("API204", replacement=target_name(candidate.row, view) or "", arguments="")
    return f"lambda {name}: " + template.replace("{" + name + "}", name)


def _larger_expression(view: FileView, call: ast.Call, candidate: Candidate, form: Form) -> Edit | None:
    """What takes the place of the larger expression around the call, if the source's form names it."""
    current = view.parent(call)
    for _ in range(_DEPTH):
        if not form.also or not isinstance(current, ast.expr):
            break
        for text in candidate.form.also:
            holes = Template(text).match(current)
            if holes is not None and any(n is call for n in ast.walk(current)):
                parts = fill(view, form.also[0], holes, current)
                return Edit(view.source.span(current), "", candidate.row.code, tuple(parts))
        current = view.parent(current)
    return None


_DEPTH = 4
"""How many levels above a call a larger expression can begin."""


def run_hook(binding: CallBinding) -> None:
    """Run the row's hook on a call's arguments, if it has one."""
    hook = argument_hooks().get((binding.row.hook or "", binding.target))
    if hook is not None:
        hook(binding, **binding.row.hook_arguments)
    if binding.unseen:
        binding.report("API229", what=", ".join(binding.unseen))
