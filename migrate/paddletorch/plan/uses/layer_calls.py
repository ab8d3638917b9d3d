"""Calls of the frameworks' layer objects: ``relu(x=h)``, ``up(h, output_size=x.shape)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules import Row
from paddletorch_rules.facts import facts

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.not_taken import axes_text
from paddletorch.plan.calls.translate import translate_edits
from paddletorch.plan.inference.called_values import CalledValues
from paddletorch.plan.inference.dtypes import dtypes_of
from paddletorch.plan.inference.ranks import Ranks
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import finding, refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.use import Uses
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.syntax.placeholders import with_brackets
from paddletorch.resolve import Instance
from paddletorch.text.call_spans import keyword_name


def plan_layer_calls(view: FileView, planned: Planned) -> Changes:
    """Rename the keywords and translate the values in each call of a layer whose class is known."""
    calls = view.provide(CalledValues).of(Instance)
    unbatched = (_unbatched(view, call) for call in calls if view.target == "paddle")
    return joined([*(_plan_call(view, call, planned) for call in calls), *unbatched])


def _unbatched(view: FileView, call: ast.Call) -> Changes:
    """Report a layer of which Paddle's needs a batch, where it is given one sample."""
    apis = {v.api for v in view.evaluator.values(call.func) if isinstance(v, Instance) and v.node is None}
    is_source = all(map(view.settings.is_of_source, apis))  # classes of the target have some of these names
    wanted = {facts().batched_layers.get(api.rpartition(".")[2]) if is_source else None for api in apis}
    if len(wanted) != 1 or None in wanted or not call.args:
        return NOTHING
    rank = max(one for one in wanted if one is not None) - 1
    if view.provide(Ranks).of(call.args[0]) != {rank} or not view.is_located(call):
        return NOTHING
    return Changes(findings=(finding("TEN216", call, f"{min(apis)}()", rank=axes_text(rank)),))


def _plan_call(view: FileView, call: ast.Call, planned: Planned) -> Changes:
    """Plan one call of a layer that is not left."""
    named = [k for k in call.keywords if k.arg is not None]
    row = _layer(view, call, planned.uses) if named or len(call.args) > 1 else None
    if row is None or not view.is_located(call) or view.suppressed(row.code, call):
        return NOTHING
    names = {p.name(view.settings.source): p.name(view.target) for p in row.forward}
    findings = [
        finding("API221", call, f"{row.id}()", row, parameter=name, value=view.text(value))
        for name, value in lost_parameters(view, call, row)
    ]
    edits = [
        Edit(keyword_name(view.source, k), new, row.code)
        for k in named
        if k.arg is not None and (new := names.get(k.arg))
    ]
    values = NOTHING
    try:
        values = spelled(view, planned.naming.aliases, call, _values(view, call, row), f"{row.id}()")
        edits += _signs(view, call, row)
    except Refused as stop:
        findings.append(refused(stop.refusal, call, f"{row.id}()", row))
    if not edits and not values.edits:
        return Changes(findings=tuple(findings))
    conversion = view.conversion(row.code, call, f"{row.instance}()", f"{row.instance}()", row.id)
    return Changes((*edits, *values.edits), (conversion,), tuple(findings), values.imports)


def _values(view: FileView, call: ast.Call, row: Row) -> Iterator[Edit]:
    """Edits of the arguments whose parameters have a value map; the row's parameters are in the call's order.

    Raises:
        Refused: a value has no counterpart.
    """
    if any(isinstance(a, ast.Starred) for a in call.args):
        return
    given = {k.arg: k.value for k in call.keywords}
    for place, pair in enumerate(row.forward):
        value = call.args[place] if place < len(call.args) else given.get(pair.name(view.settings.source))
        if pair.values and value is not None:
            yield from translate_edits(view, value, view.settings.table.values[pair.values], row.code)


def _signs(view: FileView, call: ast.Call, row: Row) -> Iterator[Edit]:
    """Cast the labels of 1 and -1 of a margin loss, which may be integers, to the dtype of the first input."""
    if row.hook != "layer_signs" or view.target != "paddle" or any(isinstance(a, ast.Starred) for a in call.args):
        return
    given: dict[str | None, ast.expr] = {k.arg: k.value for k in call.keywords}
    given.update(zip(_SIGNS, call.args, strict=False))
    first, label = given.get("input1"), given.get("target")
    if not isinstance(first, ast.Name) or label is None:
        return
    if (view.provide(dtypes_of).of(label) or "").startswith(("float", "bfloat")):
        return
    before, after = with_brackets("", f".astype({first.id}.dtype)", label)
    span = view.source.span(label)
    yield Edit(Span(span.start, span.start), before, row.code)
    yield Edit(Span(span.end, span.end), after, row.code)


_SIGNS = ("input1", "input2", "target")
"""The parameters of a margin loss."""


def lost_parameters(view: FileView, call: ast.Call, row: Row) -> Iterator[tuple[str, ast.expr]]:
    """The arguments of a layer's call that the target's layer has no parameter for, by the source's names."""
    names = [p.name(view.settings.source) for p in row.forward]
    lost = {p.name(view.settings.source) for p in row.forward if p.name(view.target) == ""}
    given = list(zip(names, call.args, strict=False)) if not any(isinstance(a, ast.Starred) for a in call.args) else []
    for name, value in [*given, *((k.arg, k.value) for k in call.keywords)]:
        if name and name in lost and not (isinstance(value, ast.Constant) and value.value is None):
            yield name, value


def _layer(view: FileView, call: ast.Call, uses: Uses) -> Row | None:
    """The row of the layer that is called; None if it is no layer, or may be one of several with other names."""
    rows: list[Row] = []
    for value in view.evaluator.values(call.func):
        if not isinstance(value, Instance) or "forward" in value.overrides:
            return None
        if uses.leave(value) or uses.keeps_calls(value):
            return None
        rows += [row for row, _ in view.settings.overloads(value.api)][:1]
    return rows[0] if rows and all(row.forward == rows[0].forward for row in rows) else None
