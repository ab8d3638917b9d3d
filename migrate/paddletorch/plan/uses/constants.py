"""Leaves the constants and initializers in the arguments of a call that is left."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch.model import Span
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.resolve.scopes.spans import SpanIndex


def plan_constants(view: FileView, planned: Planned) -> Changes:
    """Leave the constants and initializers in the arguments of a call that is left."""
    calls = [(use, view.source.span(use.site.call)) for use in planned.uses if use.site.call is not None]
    left = [span for use, span in calls if not use.converts and use.site.role == "call"]
    attributes = [span for use, span in calls if use.row.id == "ParamAttr"]
    whole = [span for span in attributes if any(call.holds(span) for call in left)]
    around_values, around_others = _index(left), _index(whole)
    staying: list[Use] = []
    for use in planned.uses.converted if left else ():
        is_value = use.row.kind == "constant" or use.row.instance == "initializer"
        around, span = around_values if is_value else around_others, view.source.span(use.site.node)
        if next(around.around((span.start, 0), (span.end, 0)), None) is not None:
            staying.append(use.refuse(None))
    return Changes(uses=tuple(staying))


def plan_memory_formats(view: FileView, planned: Planned) -> Changes:
    """Leave the format of ``model.to(device, memory_format=...)`` where the call is left, for an unseen model."""
    if view.settings.options.unsafe:
        return NOTHING
    formats = [use for use in planned.uses.converted if use.row.id == "memory-formats"]
    receivers = view.provide(Receivers).with_uses(planned.uses)
    return Changes(uses=tuple(use.refuse(None) for use in formats if _is_of_unseen_module(view, receivers, use)))


def _is_of_unseen_module(view: FileView, receivers: Receivers, use: Use) -> bool:
    keyword = view.parent(use.site.node)
    call = view.parent(keyword) if isinstance(keyword, ast.keyword) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "to":
        return False
    return receivers.certainty(call.func.value, "module") is Certainty.MAYBE


def _index(spans: Iterable[Span]) -> SpanIndex[Span]:
    return SpanIndex(((span.start, 0), (span.end, 0), span) for span in spans)
