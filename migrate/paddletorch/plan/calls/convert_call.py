"""The one pipeline of a call that is bound to a row: hook, template or arguments, and what stands around it.

Whoever calls an API, by its name, as a method, as a parent's constructor or through a partial object, goes this way.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from paddletorch_rules import Form
from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.protocol import Step

from paddletorch.model import DeferredText, Edit
from paddletorch.plan.calls.arguments import convert_arguments, plan_arguments
from paddletorch.plan.calls.around_call import following, surrounding
from paddletorch.plan.calls.binding import Bound, CallBinding
from paddletorch.plan.calls.called_later import as_function, call_of_result
from paddletorch.plan.calls.checked_values import (
    Check,
    check_before,
    checked_values,
    is_statement,
    kept_after,
    with_checks,
    without_checked,
)
from paddletorch.plan.calls.decisions import Decisions, decide, decide_additions
from paddletorch.plan.calls.deferred_text import THE_OPTIMIZER, has_marks, why_undecided, with_deferred_text
from paddletorch.plan.calls.fill_template import compose, place_of
from paddletorch.plan.calls.initial_values import initial_steps
from paddletorch.plan.calls.initialized import constructed, object_name, object_path
from paddletorch.plan.calls.named_tuple_uses import named_result
from paddletorch.plan.calls.not_taken import with_what_is_not_taken
from paddletorch.plan.calls.out_argument import takes_out, takes_several, with_out, with_several
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.refusals import NeedsWholeCall, Refused, UnseenArguments


class Callee(Enum):
    """How the callee of a bound call stands in the file."""

    NAMED = "a call by name"
    METHOD = "a call of a method"
    UNBOUND = "a method that is called through its class"
    PARTIAL = "functools.partial"
    ADDED_TO_PARTIAL = "a call of a partial object"
    PARTIAL_OF_PARTIAL = "functools.partial of a partial object"
    PARENT = "a parent's constructor"
    INHERITED = "an inherited constructor"

    @property
    def may_become_expression(self) -> bool:
        """Whether another expression may take the place of the whole call."""
        return self in (Callee.NAMED, Callee.METHOD, Callee.UNBOUND)

    @property
    def makes_partial(self) -> bool:
        """Whether the call gives a partial object, so that the API runs later."""
        return self in (Callee.PARTIAL, Callee.PARTIAL_OF_PARTIAL)

    @property
    def adds_to_partial(self) -> bool:
        """Whether a partial object gives arguments that the call does not show."""
        return self in (Callee.ADDED_TO_PARTIAL, Callee.PARTIAL_OF_PARTIAL)


class ConvertedCall(NamedTuple):
    """What a bound call becomes."""

    edits: tuple[Edit, ...]
    whole: Edit | None = None
    """What takes the place of the call, or of the larger expression that its template covers."""
    template: str | None = None
    """The template that is written, where the target is not a plain call."""
    findings: tuple[Finding, ...] = ()
    initialized: bool = False
    """The object gets the initial values that it has in the source."""

    @property
    def every_edit(self) -> tuple[Edit, ...]:
        """The edits, that of the whole first."""
        return self.edits if self.whole is None else (self.whole, *self.edits)


_PLAIN = re.compile(r"[\w.]+\((\{\w+\})?\)")
"""A template that is a call of what is given: its arguments convert where they stand."""


def convert_bound_call(binding: CallBinding, form: Form, callee: Callee, *, is_certain: bool = True) -> ConvertedCall:
    """Give the call the target's meaning, in the way that its callee allows.

    ``is_certain``: the callee can be nothing but this API, so statements about its result may be written.

    Raises:
        Refused: it cannot be said with the target's API, or not here.
    """
    steps: tuple[Step, ...] = ()
    if is_certain and callee in (Callee.NAMED, Callee.PARENT):
        steps = initial_steps(binding, is_parent=callee is Callee.PARENT)
    if steps:
        try:
            return _convert(binding, form, callee, steps)._replace(initialized=True)
        except Refused:
            pass  # there is no room for them, or the call cannot be converted in any case
    return _convert(binding, form, callee)


def _convert(binding: CallBinding, form: Form, callee: Callee, initial: tuple[Step, ...] = ()) -> ConvertedCall:
    """The bound call with these steps before those that its row decides.

    Raises:
        Refused: it cannot be said with the target's API, or not here.
    """
    if callee.makes_partial and binding.row.instance == "scheduler":
        raise Refused(why_undecided(THE_OPTIMIZER))
    whole = call_of_result(binding) if binding.form.applied and callee is Callee.NAMED else None
    if whole is not None:
        binding = replace(binding, given={**binding.given, binding.form.applied: Bound(whole.args[0])})
    decisions = decide_additions(binding, callee.value) if callee.adds_to_partial else decide(binding)
    decisions = with_what_is_not_taken(binding, decisions, form.template)
    if (callee.makes_partial or binding.unseen) and not decisions.wraps.keys() <= binding.given.keys():
        raise Refused(UnseenArguments("a partial object" if callee.makes_partial else ", ".join(binding.unseen)))
    if initial:
        decisions = decisions.with_steps_first(initial)
    if takes_out(binding, form):
        decisions = with_out(binding, decisions)
    place: ast.expr | None = whole
    template = form.template
    if takes_several(binding, form):
        decisions, fields = with_several(form, decisions)
        template = fields or template
    elif form.results:
        place, template, beside = named_result(binding.view, binding.expression, form)
        decisions = decisions._replace(beside=(*decisions.beside, *beside))
    template = decisions.template or template
    becomes_function = binding.target == "torch" and binding.row.instance == "initializer"
    if becomes_function and callee is Callee.NAMED and whole is None and _is_class_attribute(binding):
        decisions = decisions.with_around("staticmethod(", ")")  # a function in a class would be a method
    if callee in (Callee.NAMED, Callee.METHOD) and _is_wanted_as_tuple(binding):
        decisions = decisions.with_around(f"tuple({decisions.around[0]}", f"{decisions.around[1]})")
    if binding.form.applied and whole is None:
        template = as_function(binding, decisions, template)
    if callee.makes_partial and (any(decisions.around) or decisions.steps):
        decisions = _around_each_call(binding, decisions.with_steps_around(object_name(binding.expression)))
    path = _path_of_object(binding, decisions, callee)
    if not path and decisions.steps:
        decisions = decisions.with_steps_around(object_name(binding.expression))
    checks = checked_values(binding, decisions)
    decisions = without_checked(binding, decisions, checks)
    if template is None and callee is Callee.UNBOUND:
        template = _as_method(binding, decisions, form)
    if callee is Callee.PARENT:
        converted = _convert_parent(binding, decisions, form, template, checks)
    else:
        before: list[Edit] = []
        if checks and callee in (Callee.NAMED, Callee.METHOD) and whole is None and is_statement(binding):
            before = check_before(binding, checks)
        else:
            decisions = with_checks(binding, decisions, checks)
        if template is not None and callee.may_become_expression:
            converted = _convert_to_expression(binding, decisions, form, template, place)
        else:
            converted = _convert_in_place(binding, decisions, form, template, callee)
        converted = converted._replace(edits=(*before, *converted.edits))
    if path:
        binding = binding.spelled_out()
        converted = converted._replace(edits=(*following(binding, decisions, path), *converted.edits))
    return _finished(callee, converted)


def _is_wanted_as_tuple(binding: CallBinding) -> bool:
    """Whether torch's call gives a tuple, Paddle's a list, and the program joins it with a tuple or asks for one."""
    name = binding.name.rpartition(".")[2]
    return binding.target == "paddle" and name in facts().tuples_of_torch and binding.used_as("tuple")


def _is_class_attribute(binding: CallBinding) -> bool:
    """Whether the call's value is all that a statement in the body of a class assigns."""
    node, view = binding.expression, binding.view
    return isinstance(view.parent(node), ast.Assign | ast.AnnAssign) and view.tree.scopes[node].kind == "class"


def _convert_to_expression(
    binding: CallBinding, decisions: Decisions, form: Form, template: str, whole: ast.expr | None
) -> ConvertedCall:
    """The filled template in the place of the call, or of the larger expression ``whole``."""
    around = surrounding(binding.spelled_out() if decisions.moves_arguments else binding, decisions)
    edits, findings = compose(binding, decisions, form, template, whole)
    covers = bool(edits) and edits[0].span == place_of(binding.view, whole or binding.expression, template)
    first = edits.pop(0) if covers else None
    return ConvertedCall((*edits, *around), first, template, _once(decisions.findings, findings))


def _convert_in_place(
    binding: CallBinding, decisions: Decisions, form: Form, template: str | None, callee: Callee, name: str = ""
) -> ConvertedCall:
    """The target's arguments where the call stands."""
    if template is not None and (not _PLAIN.fullmatch(template) or _is_another_name(template, form)):
        raise Refused(NeedsWholeCall(callee.value, template))
    if decisions.moves_arguments:
        binding = binding.spelled_out()
    around = surrounding(binding, decisions, name)
    edits, findings = convert_arguments(binding, decisions, form, reconcile=not callee.adds_to_partial)
    return ConvertedCall((*around, *edits), findings=_once(decisions.findings, findings))


def _is_another_name(template: str, form: Form) -> bool:
    """Whether a template calls something else than the form's name, which is what stands there: another padding."""
    return bool(form.names) and template.partition("(")[0] not in form.names


def _convert_parent(
    binding: CallBinding, decisions: Decisions, form: Form, template: str | None, checks: list[Check]
) -> ConvertedCall:
    """A parent's constructor: what stands around other calls is done to the object once it is made."""
    name = _name_of_object(binding, decisions) if any(decisions.around) else ""
    beside = [*check_before(binding, checks), *kept_after(binding, checks)] if checks else []
    converted = _convert_in_place(binding, decisions, form, template, Callee.PARENT, name)
    return converted._replace(edits=(*beside, *converted.edits))


def _once(*findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return tuple(dict.fromkeys(f for some in findings for f in some))


def _finished(callee: Callee, converted: ConvertedCall) -> ConvertedCall:
    """The call with deferred text for what the statements around it determine.

    Raises:
        Refused: it has some, and no later pass looks at such a call.
    """
    if not any(map(has_marks, converted.every_edit)):
        return converted
    whole = None if converted.whole is None else with_deferred_text(converted.whole)
    converted = converted._replace(edits=tuple(map(with_deferred_text, converted.edits)), whole=whole)
    found = next((p for edit in converted.every_edit for p in edit.parts if isinstance(p, DeferredText)), None)
    if found is not None and callee not in (Callee.NAMED, Callee.PARTIAL):
        raise Refused(why_undecided(found))
    return converted


_WITH_STEPS = (Callee.NAMED, Callee.METHOD, Callee.PARENT, Callee.INHERITED)
"""Calls whose object may be named by statements after them."""


def _path_of_object(binding: CallBinding, decisions: Decisions, callee: Callee) -> str:
    """How statements after the call name the object that it makes; empty if they cannot, or there are none."""
    if not decisions.steps or callee not in _WITH_STEPS:
        return ""
    if callee is Callee.PARENT and any(decisions.around):
        return ""
    scope = binding.view.tree.scopes[binding.expression]
    if any(step.each for step in decisions.steps) and not {"name", "parameter"}.isdisjoint(scope.bindings):
        return ""  # a loop would assign to them
    return object_path(binding.view, binding.expression) or ""


def _name_of_object(binding: CallBinding, decisions: Decisions) -> str:
    """The name of the object that a parent's constructor makes: what stands around other calls is done to it after.

    Raises:
        Refused: the call is part of a larger expression, or the object has no name.
    """
    call = binding.expression
    name = constructed(binding.view, call)
    if name is None or not isinstance(binding.view.parent(call), ast.Expr):
        raise Refused(NeedsWholeCall(Callee.PARENT.value, "self".join(decisions.around)))
    return name


def _as_method(binding: CallBinding, decisions: Decisions, form: Form) -> str:
    """A template that calls the target's method on the receiver, with the arguments that the call gives."""
    plan = plan_arguments(binding, decisions, form)
    given = {*plan.keywords.values(), *(name for name, _ in (*plan.prepend, *plan.append))}
    signature = form.signature(binding.view.settings.target_releases.newest)
    names = [(n, p) for n, p in enumerate(signature.parameters if signature else ()) if p.name in given]
    arguments = [f"{{{p.name}}}" if n == 0 or p.variadic else f"{p.name}={{{p.name}}}" for n, p in names]
    return f"{{self}}.{form.names[0]}({', '.join(arguments)})"


def _around_each_call(binding: CallBinding, decisions: Decisions) -> Decisions:
    """What goes around a call goes around each call of a partial object: ``partial(torch.zeros, device=device)``.

    Raises:
        Refused: the names of the function that does so are taken.
    """
    before, after = decisions.around
    names = {n.id for b in binding.given.values() for n in ast.walk(b.value) if isinstance(n, ast.Name)}
    if not names.isdisjoint({"args", "kwargs"}):
        raise Refused(UnseenArguments("a partial object"))
    parent = binding.view.parent(binding.node)
    passed = isinstance(parent, ast.Call) and binding.node is not parent.func
    open_, close = ("", "") if not isinstance(parent, ast.expr) or passed else ("(", ")")
    return decisions.with_around(f"{open_}lambda *args, **kwargs: {before}", f"(*args, **kwargs){after}{close}")
