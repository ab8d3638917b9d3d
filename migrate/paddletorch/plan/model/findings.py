"""Findings, before their text is filled in."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from paddletorch_rules import Row

from paddletorch.model.questions import Question
from paddletorch.plan.model.refusal_text import code_of, details
from paddletorch.plan.model.refusals import Refusal, StatedByTable

Located = ast.expr | ast.stmt | ast.alias
"""The kinds of nodes that a finding can be about."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagnostic before its text is filled in."""

    code: str
    node: Located
    name: str = ""
    """The API that it is about."""
    details: tuple[tuple[str, str], ...] = ()
    """Text for the message's placeholders, by name."""
    row: Row | None = None
    applied: bool = False
    """The use was converted nevertheless, so no option is needed to convert it."""
    refusal: Refusal | None = field(default=None, compare=False)
    """Why the use is left, if it is."""
    questions: tuple[Question, ...] = ()
    """What a recorded run could answer, so that the finding may go."""


def finding(code: str, node: Located, name: str = "", row: Row | None = None, /, **details: str) -> Finding:
    """A finding about the API ``name``; ``details`` are the text for its message's placeholders."""
    return Finding(code, node, name, tuple(sorted(details.items())), row)


def refused(refusal: Refusal, node: Located, name: str, row: Row | None = None) -> Finding:
    """The finding that reports a refusal at ``node``."""
    questions = refusal.questions if isinstance(refusal, StatedByTable) else ()
    return Finding(code_of(refusal), node, name, details(refusal), row, refusal=refusal, questions=questions)
