"""Placeholders for what a call alone does not show: a scheduler's optimizer, a sampler's size of batches."""

from __future__ import annotations

import re
from dataclasses import replace

from paddletorch_rules.hooks.data import BATCH_SIZE
from paddletorch_rules.hooks.schedulers import BASE, OPTIMIZER

from paddletorch.model import Edit, Placeholder, Span
from paddletorch.plan.model.refusals import Refusal, UnclearSampler, UnclearSchedule

THE_OPTIMIZER = Placeholder("optimizer of a scheduler")
BASE_RATE = Placeholder("rate of the scheduler that a warm-up leads to")
THE_BATCH_SIZE = Placeholder("batch size of a sampler")

_WRITTEN = {OPTIMIZER: THE_OPTIMIZER, BASE: BASE_RATE, BATCH_SIZE: THE_BATCH_SIZE}
"""Placeholders by the text that stands for them in templates and hooks."""

_ANY = re.compile(f"({'|'.join(map(re.escape, _WRITTEN))})")


def needs_placeholders(edit: Edit) -> bool:
    """Whether text that stands for a placeholder is in the edit."""
    return "__" in edit.written and _ANY.search(edit.written) is not None


def with_placeholders(edit: Edit) -> Edit:
    """The edit with placeholders instead of the text that stands for them in templates and hooks."""
    if not needs_placeholders(edit):
        return edit
    parts: list[str | Span | Placeholder] = []
    for part in edit.parts or (edit.text,):
        texts = _ANY.split(part) if isinstance(part, str) else ()
        parts += [_WRITTEN.get(text, text) for text in texts if text] if isinstance(part, str) else [part]
    return replace(edit, text="", parts=tuple(parts))


def why_undecided(placeholder: Placeholder) -> Refusal:
    """Why a use with the placeholder stays, if nothing around it says what belongs there."""
    if placeholder == THE_BATCH_SIZE:
        return UnclearSampler("the loader that makes batches of its indices cannot be seen here")
    return UnclearSchedule("no optimizer that follows it is made here")
