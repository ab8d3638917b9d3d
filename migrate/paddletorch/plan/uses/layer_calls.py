"""Arguments in calls of the frameworks' own layers: ``relu(x=h)``, ``up(h, output_size=x.shape)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules import Row

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.translate import translate_edits
from paddletorch.plan.model.member_plan import MemberPlan, record
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance


def plan_forwards(view: FileView, plan: MemberPlan) -> None:
    """Rename the keywords of each call of a layer whose class is known, and carry its values over."""
    for call in view.tree.calls:
        named = [k for k in call.keywords if k.arg is not None]
        row = _layer(view, call) if named or len(call.args) > 1 else None
        if row is None or not view.is_located(call) or view.suppressed(row.code, call):
            continue
        names = {p.name(view.settings.source): p.name(view.target) for p in row.forward}
        _report_lacking(view, call, named, names, row)
        edits = [
            Edit(Span(start := view.source.span(k).start, start + len(k.arg.encode())), new, row.code)
            for k in named
            if k.arg is not None and (new := names.get(k.arg))
        ]
        try:
            edits += list(_values(view, call, row))
        except Refusal as refusal:
            view.report(refusal.code, call, f"{row.id}()", row, **refusal.holes)
        if edits:
            plan.edits += edits
            record(view, plan, call, row, f"{row.instance}()", f"{row.instance}()")


def _values(view: FileView, call: ast.Call, row: Row) -> Iterator[Edit]:
    """The arguments whose parameters have a value map; those of the row stand in the order of the call.

    Raises:
        Refusal: a value has no counterpart.
    """
    if any(isinstance(a, ast.Starred) for a in call.args):
        return
    given = {k.arg: k.value for k in call.keywords}
    for place, pair in enumerate(row.forward):
        value = call.args[place] if place < len(call.args) else given.get(pair.name(view.settings.source))
        if pair.values and value is not None:
            yield from translate_edits(view, value, view.settings.table.values[pair.values], row.code)


def _report_lacking(
    view: FileView, call: ast.Call, named: list[ast.keyword], names: dict[str | None, str | None], row: Row
) -> None:
    """The row names a parameter of the call that the target's layer does not have by an empty counterpart."""
    for keyword in named:
        given = not (isinstance(keyword.value, ast.Constant) and keyword.value.value is None)
        if given and keyword.arg is not None and names.get(keyword.arg) == "":
            value = view.text(keyword.value)
            view.report("API221", call, f"{row.id}()", row, parameter=keyword.arg, value=value)


def _layer(view: FileView, call: ast.Call) -> Row | None:
    """The row of the layer that is called; None if it is none, or several with other names."""
    rows: list[Row] = []
    for value in view.evaluator.values(call.func):
        if not isinstance(value, Instance) or value.api in view.kept or "forward" in value.overrides:
            return None
        rows += [row for row, _ in view.settings.overloads(value.api)][:1]
    return rows[0] if rows and all(row.forward == rows[0].forward for row in rows) else None
