"""Gives a bound call the target's arguments: maps each one, and writes out the defaults that differ."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from paddletorch_rules import Form, Framework, ParameterPair, Signature, ValueMap

from paddletorch.layout import ArgumentChanges, LayoutError, edit_arguments, read_layout
from paddletorch.model import Edit, Span
from paddletorch.plan.binding import CallBinding
from paddletorch.plan.context import FileContext, Refusal
from paddletorch.plan.reconcile import (
    defaults_of,
    first_default,
    in_every_release,
    is_every_default,
    means,
    not_in_release,
    source_default,
)
from paddletorch.plan.translate import constant, same_value, translate_default, translate_edits
from paddletorch.resolve import Qualified
from paddletorch.source import WIDTH


@dataclass
class _Plan:
    keywords: dict[int, str] = field(default_factory=dict)
    drop: set[int] = field(default_factory=set)
    prepend: list[str] = field(default_factory=list)
    append: list[tuple[str, str]] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)


def convert_arguments(binding: CallBinding, target_form: Form, *, reconcile: bool = True) -> list[Edit]:
    """Edits that give the call the target's arguments with the same meaning.

    Raises:
        Refusal: a value or parameter has no counterpart.
    """
    context = binding.context
    target_signature = _target_signature(context, target_form, binding)
    plan = _Plan()
    for pair in binding.row.parameters:
        _one_parameter(binding, pair, target_form, target_signature, plan, reconcile)
    paired = {p.name(context.settings.source) for p in binding.row.parameters}
    for name in binding.given.keys() - paired:
        _drop(binding, name, plan)
    _order(binding, target_form, plan)
    if not (plan.keywords or plan.drop or plan.prepend or plan.append):
        return plan.edits
    try:
        layout = read_layout(context.source, binding.node)
    except LayoutError as error:
        raise Refusal("API210", problem=str(error), signature="?") from None
    code = binding.row.code
    appended = [f"{name}={value}" for name, value in plan.append]
    if binding.dictionary is not None and appended:
        plan.edits += binding.dictionary.add(context.source, plan.append, code)
        appended = []
    changes = ArgumentChanges(frozenset(plan.drop), plan.keywords, tuple(plan.prepend), tuple(appended), binding.skip)
    width = None if context.in_fstring(binding.node) else WIDTH
    return edit_arguments(layout, changes, code, plan.edits, width)


def _target_signature(context: FileContext, form: Form, binding: CallBinding) -> Signature:
    signature = form.signature(context.settings.target_releases.newest)
    if signature is None:
        raise Refusal("API210", problem="the target's signature is not known", signature="?")
    return signature


def _one_parameter(
    binding: CallBinding, pair: ParameterPair, form: Form, signature: Signature, plan: _Plan, reconcile: bool
) -> None:
    source: Framework = "torch" if binding.target == "paddle" else "paddle"
    source_name, target_name = pair.name(source), pair.name(binding.target)
    if target_name is not None and target_name in binding.forced:
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


def _forced(binding: CallBinding, source_name: str | None, target_name: str, form: Form, plan: _Plan) -> None:
    if source_name is not None and source_name in binding.given:
        _drop(binding, source_name, plan)
    text = binding.forced[target_name]
    if not in_every_release(binding, form, target_name):
        first = first_default(form, target_name)
        if first is not None and same_value(first, text):
            return
        raise not_in_release(binding, target_name)
    plan.append.append((target_name, binding.context.quoted(text, binding.node)))


def _drop(binding: CallBinding, source_name: str, plan: _Plan) -> None:
    bound = binding.given.get(source_name)
    if bound is None:
        return
    if bound.position is None:
        raise Refusal("API210", problem=f"the dict would have to lose {source_name!r}", signature="?")
    plan.drop.add(bound.position)


def _supplied(
    binding: CallBinding,
    pair: ParameterPair,
    source_name: str,
    target_name: str,
    form: Form,
    signature: Signature,
    plan: _Plan,
) -> None:
    bound = binding.given[source_name]
    context = binding.context
    values = context.settings.table.values[pair.values] if pair.values and not bound.converted else None
    if not in_every_release(binding, form, target_name):
        if not is_every_default(binding, form, target_name, bound.value, values):
            raise not_in_release(binding, target_name)
        _drop(binding, source_name, plan)
        return
    if values is not None and isinstance(bound.value, ast.Constant) and bound.value.value is None:
        default = source_default(binding, source_name)
        if default == "None":  # None means the default here: leave it to the reconciliation
            _drop(binding, source_name, plan)
            _emit(binding, pair, target_name, "None", form, plan)
            return
    if pair.values == "amp_dtype" and context.target == "paddle":
        _check_dtype(binding, bound.value, source_name)
    try:
        plan.edits += translate_edits(context, bound.value, values, binding.row.code)
    except Refusal as refusal:
        raise Refusal(refusal.code, **{**refusal.holes, "parameter": source_name}) from None
    if source_name in binding.wraps:
        before, after = binding.wraps[source_name]
        span = context.source.span(bound.value)
        plan.edits += [Edit(Span(span.start, span.start), before), Edit(Span(span.end, span.end), after)]
    if bound.position is not None:
        plan.keywords[bound.position] = target_name
    elif (
        bound.dict_key is not None
        and binding.dictionary is not None
        and source_name != target_name
        and not bound.converted
    ):
        plan.edits.append(binding.dictionary.rename(context.source, bound.dict_key, target_name, binding.row.code))


def _check_dtype(binding: CallBinding, node: ast.expr, name: str) -> None:
    """A dtype that is not written out may be one that Paddle refuses."""
    context = binding.context
    values = context.settings.table.values["amp_dtype"]
    branches = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]
    for branch in branches:
        if constant(branch) is not ... or context.qualified(branch) in {t for t, _ in values.pairs}:
            continue
        found = context.evaluator.values(branch)
        names = {v.name for v in found if isinstance(v, Qualified)}
        if names & set(values.refuse):
            value = f"{context.text(branch)} may be float32"  # Paddle raises if it comes to that
            binding.report("AMP217", parameter=name, value=value)
        elif any(not isinstance(v, Qualified) for v in found):
            binding.report("AMP218", parameter=name, value=context.text(branch))


def _source_only(binding: CallBinding, pair: ParameterPair, source_name: str, plan: _Plan) -> None:
    if source_name in binding.dropped or pair.ignore:
        _drop(binding, source_name, plan)
        return
    node = binding.value(source_name)
    if node is not None:
        text = ast.unparse(node)
    else:
        default = source_default(binding, source_name)
        if default is None:
            return
        text = default
    if pair.neutral is not None and same_value(text, pair.neutral):
        _drop(binding, source_name, plan)
        return
    if pair.otherwise is not None:
        shown = text if len(text) <= 60 else text[:57] + "..."
        _unequal(binding, pair, Refusal(pair.otherwise, parameter=source_name, value=shown))
    _drop(binding, source_name, plan)


def _unequal(binding: CallBinding, pair: ParameterPair, refusal: Refusal) -> None:
    if pair.apply == "never" or (pair.apply == "unsafe" and not binding.context.settings.options.unsafe):
        raise refusal
    binding.report(refusal.code, **refusal.holes)


def _target_only(
    binding: CallBinding, pair: ParameterPair, target_name: str, form: Form, signature: Signature, plan: _Plan
) -> None:
    if pair.neutral is None or pair.ignore or _fixed_by_form(form, target_name):
        return
    parameter = signature.get(target_name)
    if parameter is not None and parameter.default is None:
        plan.prepend.append(binding.context.quoted(pair.neutral, binding.node))
        return
    _emit_unless_default(binding, target_name, pair.neutral, form, plan)


def _emit(
    binding: CallBinding,
    pair: ParameterPair,
    target_name: str,
    source_value: str,
    form: Form,
    plan: _Plan,
) -> None:
    """Write a value out unless every allowed target release has it as its default."""
    values = binding.context.settings.table.values[pair.values] if pair.values else None
    text = translate_default(source_value, values, binding.target)
    _emit_unless_default(binding, target_name, text, form, plan, values)


def _emit_unless_default(
    binding: CallBinding, target_name: str, text: str, form: Form, plan: _Plan, values: ValueMap | None = None
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
    plan.append.append((target_name, binding.context.quoted(text, binding.node)))


def _order(binding: CallBinding, form: Form, plan: _Plan) -> None:
    """Keep positionals that stay at their place in every allowed release; everything else goes by keyword."""
    kept = sorted(i for i in plan.keywords if i < len(binding.node.args))
    versions = binding.context.settings.target_releases.versions
    orders = {tuple(p.name for p in s.positional) for v in versions if (s := form.signature(v)) is not None}
    shift = len(plan.prepend) - binding.skip
    in_place = not plan.drop & set(range(len(binding.node.args)))
    for index in kept:
        slot = index + shift
        if in_place and all(slot < len(names) and names[slot] == plan.keywords[index] for names in orders):
            del plan.keywords[index]
        else:
            in_place = False
