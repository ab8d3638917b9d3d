"""Findings, before their text is filled in."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from paddletorch_rules import Row

from paddletorch.plan.model.refusal_text import code_of, details
from paddletorch.plan.model.refusals import Refusal

Located = ast.expr | ast.stmt | ast.alias
"""Syntax that a finding can be about."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagnostic before its text is filled in."""

    code: str
    node: Located
    name: str = ""
    """The API that it is about."""
    details: tuple[tuple[str, str], ...] = ()
    """What stands in the message's placeholders, by name."""
    row: Row | None = None
    applied: bool = False
    """What it is about was converted all the same, so that no option is needed for it."""
    refusal: Refusal | None = field(default=None, compare=False)
    """Why the use stays, if it does."""


def finding(code: str, node: Located, name: str = "", row: Row | None = None, /, **details: str) -> Finding:
    """A finding about the API ``name``; ``details`` fill the placeholders of its message."""
    return Finding(code, node, name, tuple(sorted(details.items())), row)


def refused(refusal: Refusal, node: Located, name: str, row: Row | None = None) -> Finding:
    """A refusal as a finding at ``node``."""
    return Finding(code_of(refusal), node, name, details(refusal), row, refusal=refusal)
