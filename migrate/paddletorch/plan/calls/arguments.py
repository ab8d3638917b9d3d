"""Gives a bound call the target's arguments: maps each one, and writes out the defaults that differ."""

from __future__ import annotations

import ast

from paddletorch_rules import Form, Framework, ParameterPair, Signature, ValueMap
from paddletorch_rules.facts import facts

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.binding import Bound, CallBinding
from paddletorch.plan.calls.defaults import (
    defaults_of,
    first_default,
    in_every_release,
    is_every_default,
    means,
    not_in_release,
    source_default,
)
from paddletorch.plan.calls.keyword_dicts import change_keywords, rename_key
from paddletorch.plan.calls.translate import default_for_none, translate_default, translate_edits, translated_text
from paddletorch.plan.inference.opaque_arguments import refuse_defaults
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.argument_plan import ArgumentPlan
from paddletorch.plan.model.refusals import (
    ArgumentsNotReadable,
    DictMayHoldNone,
    DictWouldLoseKey,
    Refusal,
    Refused,
    SharedDict,
    SignatureNotKnown,
    StatedByTable,
)
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant, same_value
from paddletorch.plan.syntax.precedence import ATOM, binds
from paddletorch.resolve import NoneValue, Qualified
from paddletorch.text.argument_edits import ArgumentChanges, edit_arguments
from paddletorch.text.call_spans import LayoutError, read_layout, run_of_arguments
from paddletorch.text.source import WIDTH


def plan_arguments(binding: CallBinding, target_form: Form, *, reconcile: bool = True) -> ArgumentPlan:
    """Decide about each argument of a bound call.

    Raises:
        Refused: a value or parameter has no counterpart.
    """
    view = binding.view
    target_signature = _target_signature(view, target_form, binding)
    plan = ArgumentPlan()
    if binding.unseen:
        binding.dropped &= binding.given.keys()  # what a hook drops because it is not given may be given after all
    written = reconcile and (not binding.passed_on or bool(binding.unseen))
    for pair in binding.row.parameters:
        _one_parameter(binding, pair, target_form, target_signature, plan, written)
    paired = {p.name(view.settings.source) for p in binding.row.parameters}
    for name in binding.given.keys() - paired:
        _drop(binding, name, plan)
    if binding.unseen:
        refuse_defaults(binding.unseen, (name for name, _ in plan.append if name not in binding.forced))
    return plan


def convert_arguments(binding: CallBinding, target_form: Form, *, reconcile: bool = True) -> list[Edit]:
    """Edits that give the call the target's arguments with the same meaning.

    Raises:
        Refused: a value or parameter has no counterpart.
    """
    view = binding.view
    try:
        plan = plan_arguments(binding, target_form, reconcile=reconcile)
    except Refused as stop:
        if binding.dictionary is None or not isinstance(stop.refusal, SharedDict):
            raise
        try:
            binding.spell_out()
        except Refused:
            raise stop from None
        plan = plan_arguments(binding, target_form, reconcile=reconcile)
    _order(binding, target_form, plan)
    if not (plan.keywords or plan.drop or plan.drop_keys or plan.prepend or plan.append):
        return plan.edits
    try:
        layout = read_layout(view.source, binding.node)
    except LayoutError as error:
        raise Refused(ArgumentsNotReadable(str(error))) from None
    code = binding.row.code
    appended = [f"{name}={value}" for name, value in plan.append]
    if binding.dictionary is not None and (appended or plan.drop_keys):
        source: Framework = "torch" if binding.target == "paddle" else "paddle"
        names = {p.name(binding.target) or "": p.name(source) or "" for p in binding.row.parameters}
        inside = [(n, v) for n, v in plan.append if binding.dictionary.supplies(names.get(n))]
        appended = [f"{n}={v}" for n, v in plan.append if (n, v) not in inside]
        dropped = frozenset(plan.drop_keys)
        try:
            plan.edits = change_keywords(binding.dictionary, view.source, dropped, inside, names, plan.edits, code)
        except LayoutError as error:
            raise Refused(ArgumentsNotReadable(str(error))) from None
    prepended = tuple(text for _, text in plan.prepend)
    changes = ArgumentChanges(frozenset(plan.drop), plan.keywords, prepended, tuple(appended), binding.skip)
    width = None if view.in_string(binding.node) else WIDTH
    return edit_arguments(layout, changes, code, plan.edits, width)


def _target_signature(view: FileView, form: Form, binding: CallBinding) -> Signature:
    signature = form.signature(view.settings.target_releases.newest)
    if signature is None:
        raise Refused(SignatureNotKnown(binding.target))
    return signature


def _one_parameter(
    binding: CallBinding, pair: ParameterPair, form: Form, signature: Signature, plan: ArgumentPlan, reconcile: bool
) -> None:
    source: Framework = "torch" if binding.target == "paddle" else "paddle"
    source_name, target_name = pair.name(source), pair.name(binding.target)
    if target_name is not None and target_name in binding.forced and target_name not in binding.settled:
        _forced(binding, source_name, target_name, form, plan)
    elif source_name is None:
        assert target_name is not None
        if reconcile and target_name not in binding.settled:
            _target_only(binding, pair, target_name, form, signature, plan)
    elif target_name is None or _fixed_by_form(form, target_name):
        _source_only(binding, pair, source_name, plan)
    elif source_name in binding.dropped:
        _drop(binding, source_name, plan)
    elif source_name in binding.given:
        _supplied(binding, pair, source_name, target_name, form, signature, plan)
        if binding.dictionary is not None and source_name in binding.dictionary.stored:
            default = source_default(binding, source_name)  # the store may not happen
            if default is not None:
                _emit(binding, pair, target_name, default, form, plan)
    elif source_name in binding.fixed:
        _emit(binding, pair, target_name, binding.fixed[source_name], form, plan)
    elif reconcile:
        default = source_default(binding, source_name)
        if default is not None:
            _emit(binding, pair, target_name, default, form, plan)


def _fixed_by_form(form: Form, target_name: str) -> bool:
    return target_name in form.fixed


def _forced(binding: CallBinding, source_name: str | None, target_name: str, form: Form, plan: ArgumentPlan) -> None:
    if source_name is not None and source_name in binding.given:
        _drop(binding, source_name, plan)
    text = binding.forced[target_name]
    if not in_every_release(binding, form, target_name):
        first = first_default(form, target_name)
        if first is not None and same_value(first, text):
            return
        raise not_in_release(binding, target_name)
    plan.append.append((target_name, binding.view.quoted(text, binding.node)))


def _drop(binding: CallBinding, source_name: str, plan: ArgumentPlan) -> None:
    bound = binding.given.get(source_name)
    if bound is None:
        return
    if bound.position is None and bound.dict_key is not None:
        keys = [b.dict_key for b in (bound, *bound.also)]
        if binding.dictionary is None or not all(key and binding.dictionary.holds(key) for key in keys):
            raise Refused(DictWouldLoseKey(source_name))
        plan.drop_keys.add(source_name)
        return
    assert bound.position is not None
    plan.drop.update(range(bound.position, bound.position + 1 + len(bound.rest)))


def _supplied(
    binding: CallBinding,
    pair: ParameterPair,
    source_name: str,
    target_name: str,
    form: Form,
    signature: Signature,
    plan: ArgumentPlan,
) -> None:
    bound = binding.given[source_name]
    every = (bound, *bound.also)
    view = binding.view
    values = view.settings.table.values[pair.values] if pair.values and not bound.converted else None
    in_template = binding.template is not None and f"{{{target_name}}}" in binding.template
    if not in_template and not in_every_release(binding, form, target_name):
        if not all(is_every_default(binding, form, target_name, b.value, values) for b in every):
            raise not_in_release(binding, target_name)
        _drop(binding, source_name, plan)
        return
    if values is not None and any(isinstance(b.value, ast.Constant) and b.value.value is None for b in every):
        default = source_default(binding, source_name)
        if default == "None" and bound.also:
            raise Refused(DictMayHoldNone(source_name))
        if default == "None":  # None means the default here: leave it to the reconciliation
            _drop(binding, source_name, plan)
            _emit(binding, pair, target_name, "None", form, plan)
            return
    for one in every if pair.values == "amp_dtype" and view.target == "paddle" else ():
        _check_dtype(binding, one.value, source_name)
    if bound.text:
        _drop(binding, source_name, plan)
        before, after = binding.wraps.get(source_name, ("", ""))
        plan.append.append((target_name, before + translated_text(view, bound.value, bound.text, values) + after))
        return
    for one in every:
        _translate(binding, pair, source_name, one.value, values, plan)
    if bound.position is not None:
        _place(binding, source_name, target_name, bound, signature, plan)
    elif binding.dictionary is not None and source_name != target_name and not bound.converted:
        keys = [b.dict_key for b in every if b.dict_key is not None]
        plan.edits += [rename_key(view.source, key, target_name, binding.row.code) for key in keys]


def _translate(
    binding: CallBinding, pair: ParameterPair, name: str, value: ast.expr, values: ValueMap | None, plan: ArgumentPlan
) -> None:
    """Edits in a value that stays where it is."""
    view = binding.view
    try:
        plan.edits += translate_edits(view, value, values, binding.row.code)
    except Refused as stop:
        raise Refused(_about(stop.refusal, name)) from None
    held = _held_in_tensor(binding, name, value)
    if name in binding.wraps or held is not None:
        before, after = held or binding.wraps[name]
        span = view.source.span(value)
        plan.edits += [Edit(Span(span.start, span.start), before), Edit(Span(span.end, span.end), after)]


def _about(refusal: Refusal, parameter: str) -> Refusal:
    """A refusal of a value, with the parameter that it is for."""
    if not isinstance(refusal, StatedByTable):
        return refusal
    return StatedByTable(refusal.code, (*refusal.details, ("parameter", parameter)))


def _held_in_tensor(binding: CallBinding, name: str, node: ast.expr) -> tuple[str, str] | None:
    """What goes around sizes and axes that Paddle reads from a tensor: torch wants the numbers."""
    one = name == "axis"
    if binding.target != "torch" or name in binding.wraps or not (one or name in facts().sizes["paddle"]):
        return None
    if kinds(binding.view, node) != {"Tensor"}:
        return None
    return ("int(", ")") if one else ("", ".tolist()") if binds(node) == ATOM else ("(", ").tolist()")


def _place(
    binding: CallBinding, source_name: str, target_name: str, bound: Bound, signature: Signature, plan: ArgumentPlan
) -> None:
    """Note where the argument goes; the positionals of a variadic parameter become a list if the row says so."""
    assert bound.position is not None
    last = bound.position + len(bound.rest)
    parameter = signature.get(target_name)
    if parameter is not None and parameter.variadic:
        if bound.position >= len(binding.node.args):
            plan.keywords[bound.position] = target_name
        return  # positionals stay positionals
    plan.keywords[bound.position] = target_name
    if bound.rest:
        plan.lists[bound.position] = last
    if source_name not in binding.row.collect or bound.position >= len(binding.node.args):
        return
    if bound.rest or _is_one_number(binding, source_name, bound.value):
        plan.lists[bound.position] = last
        try:
            run = run_of_arguments(
                binding.view.source, binding.node, bound.value, bound.rest[-1] if bound.rest else bound.value
            )
        except LayoutError as error:
            raise Refused(ArgumentsNotReadable(str(error))) from None
        plan.edits += [Edit(Span(run.start, run.start), "["), Edit(Span(run.end, run.end), "]")]


def _is_one_number(binding: CallBinding, name: str, value: ast.expr) -> bool:
    """Whether a single positional is a number and no list; ``*sizes`` may be several."""
    found = kinds(binding.view, value)
    return isinstance(value, ast.Starred) or ("int" in found and "sequence" not in found)


def _check_dtype(binding: CallBinding, node: ast.expr, name: str) -> None:
    """A dtype that is not written out may be one that Paddle refuses: it raises if it comes to that."""
    view = binding.view
    values = view.settings.table.values["amp_dtype"]
    branches = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]
    for branch in branches:
        if constant(branch) is not ... or view.qualified(branch) in {t for t, _ in values.pairs}:
            continue
        found = view.evaluator.values(branch)
        names = {v.name for v in found if isinstance(v, Qualified)}
        if names & set(values.refuse):
            value = f"{view.text(branch)} may be float32"  # Paddle raises if it comes to that
            binding.report("AMP217", parameter=name, value=value)
            continue
        handled = default_for_none(view, branch, values) is not None
        if any(not isinstance(v, Qualified) and not (handled and isinstance(v, NoneValue)) for v in found):
            bad = "float32" if handled else "None or float32"
            binding.report("AMP218", parameter=name, value=view.text(branch), bad=bad)


def _source_only(binding: CallBinding, pair: ParameterPair, source_name: str, plan: ArgumentPlan) -> None:
    if source_name in binding.dropped or pair.ignore:
        _drop(binding, source_name, plan)
        return
    bound = binding.given.get(source_name)
    if bound is None and source_name in binding.of_partial:
        return
    if bound is not None:
        texts = [ast.unparse(b.value) for b in (bound, *bound.also)]
    else:
        node = binding.value(source_name)
        default = ast.unparse(node) if node is not None else source_default(binding, source_name)
        if default is None:
            return
        texts = [default]
    for text in texts:
        if pair.otherwise is not None and (pair.neutral is None or not same_value(text, pair.neutral)):
            shown = text if len(text) <= 60 else text[:57] + "..."
            _unequal(binding, pair, StatedByTable(pair.otherwise, (("parameter", source_name), ("value", shown))))
    _drop(binding, source_name, plan)


def _unequal(binding: CallBinding, pair: ParameterPair, refusal: StatedByTable) -> None:
    if pair.apply == "never" or (pair.apply == "unsafe" and not binding.view.settings.options.unsafe):
        raise Refused(refusal)
    binding.report(refusal.code, **dict(refusal.details))


def _target_only(
    binding: CallBinding, pair: ParameterPair, target_name: str, form: Form, signature: Signature, plan: ArgumentPlan
) -> None:
    if pair.neutral is None or pair.ignore or _fixed_by_form(form, target_name):
        return
    parameter = signature.get(target_name)
    if parameter is not None and parameter.default is None and signature.parameters[0] is not parameter:
        plan.append.append((target_name, binding.view.quoted(pair.neutral, binding.node)))
        return
    if parameter is not None and parameter.default is None:
        plan.prepend.append((target_name, binding.view.quoted(pair.neutral, binding.node)))
        return
    _emit_unless_default(binding, target_name, pair.neutral, form, plan)


def _emit(
    binding: CallBinding,
    pair: ParameterPair,
    target_name: str,
    source_value: str,
    form: Form,
    plan: ArgumentPlan,
) -> None:
    """Write a value out unless every allowed target release has it as its default."""
    values = binding.view.settings.table.values[pair.values] if pair.values else None
    text = translate_default(source_value, values, binding.target)
    _emit_unless_default(binding, target_name, text, form, plan, values)


def _emit_unless_default(
    binding: CallBinding, target_name: str, text: str, form: Form, plan: ArgumentPlan, values: ValueMap | None = None
) -> None:
    """Write a target value out unless every allowed release behaves so without it."""
    defaults = defaults_of(binding, form, target_name)
    everywhere = in_every_release(binding, form, target_name)
    first = first_default(form, target_name)
    if not everywhere and first is not None:
        defaults = (*defaults, first)
    if all(means(default, text, values, binding.target) for default in defaults) and (defaults or not everywhere):
        return
    if not everywhere:
        raise not_in_release(binding, target_name)
    plan.append.append((target_name, binding.view.quoted(text, binding.node)))


def _orders(binding: CallBinding, form: Form) -> set[tuple[str, ...]]:
    """The orders that the form's positional parameters have in the target releases."""
    settings = binding.view.settings

    def look_up() -> set[tuple[str, ...]]:
        signatures = (form.signature(version) for version in settings.target_releases.versions)
        return {tuple(p.name for p in s.positional) for s in signatures if s is not None}

    return settings.once("orders", form, look_up)


def _order(binding: CallBinding, form: Form, plan: ArgumentPlan) -> None:
    """Keep positionals that stay at their place in every allowed release; everything else goes by keyword."""
    kept = sorted(i for i in plan.keywords if i < len(binding.node.args))
    orders = _orders(binding, form)
    shift = len(plan.prepend) - binding.skip
    in_place = not plan.drop & set(range(len(binding.node.args)))
    for index in kept:
        slot = index + shift
        shift -= plan.lists.get(index, index) - index
        if in_place and all(slot < len(names) and names[slot] == plan.keywords[index] for names in orders):
            del plan.keywords[index]
        else:
            in_place = False
