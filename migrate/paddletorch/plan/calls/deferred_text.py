"""Deferred text, which a call alone does not determine: a scheduler's optimizer, a sampler's batch size."""

from __future__ import annotations

import re

from paddletorch_rules.hooks.data import BATCH_SIZE
from paddletorch_rules.hooks.schedulers import BASE, OPTIMIZER

from paddletorch.model import DeferredText, Edit, Span
from paddletorch.plan.model.refusals import Refusal, UnclearSampler, UnclearSchedule

THE_OPTIMIZER = DeferredText("optimizer of a scheduler")
BASE_RATE = DeferredText("rate of the scheduler that a warm-up leads to")
THE_BATCH_SIZE = DeferredText("batch size of a sampler")

_WRITTEN = {OPTIMIZER: THE_OPTIMIZER, BASE: BASE_RATE, BATCH_SIZE: THE_BATCH_SIZE}
"""Deferred texts by the mark that stands for them in templates and hooks."""

_ANY = re.compile(f"({'|'.join(map(re.escape, _WRITTEN))})")


def has_marks(edit: Edit) -> bool:
    """Whether the edit contains a mark of deferred text."""
    return "__" in edit.written and _ANY.search(edit.written) is not None


def with_deferred_text(edit: Edit) -> Edit:
    """The edit with deferred text in place of the marks."""
    if not has_marks(edit):
        return edit
    parts: list[str | Span | DeferredText] = []
    for part in edit.parts or (edit.text,):
        texts = _ANY.split(part) if isinstance(part, str) else ()
        parts += [_WRITTEN.get(text, text) for text in texts if text] if isinstance(part, str) else [part]
    return edit._replace(text="", parts=tuple(parts))


def why_undecided(deferred: DeferredText) -> Refusal:
    """Why a use is left if no later pass determines its deferred text."""
    if deferred == THE_BATCH_SIZE:
        return UnclearSampler("the loader that makes batches of its indices cannot be seen here")
    return UnclearSchedule("no optimizer that follows it is made here")
