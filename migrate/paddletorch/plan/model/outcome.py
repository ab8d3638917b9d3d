"""What a site becomes, and which of a row's spellings is written."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from paddletorch_rules import Form, Row

from paddletorch.model import Edit
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView


@dataclass
class Outcome:
    """What a site becomes. ``target`` is None if it is left alone; ``findings`` say why, or warn."""

    row: Row
    target: str | None
    edits: list[Edit] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    full: bool = False
    """The edits write the new name themselves, in full."""
    whole: Edit | None = None
    """What replaces the whole call or statement, where the target is not a plain call."""
    needs: str = ""
    """A module that the edits name in full."""
    keeps_name: bool = False
    """The use's name stands for several APIs, and the arguments suit them all."""

    def same_as(self, other: Outcome) -> bool:
        """Whether two readings of a site lead to the same result."""
        codes = [f.code for f in self.findings]
        return (
            self.target == other.target
            and self.whole == other.whole
            and sorted(self.edits, key=str) == sorted(other.edits, key=str)
            and codes == [f.code for f in other.findings]
        )


def finding(refusal: Refusal, node: ast.expr, name: str, row: Row) -> Finding:
    """A refusal as a finding at ``node``."""
    return Finding(refusal.code, node, name, tuple(sorted(refusal.holes.items())), row)


def target_form(row: Row, view: FileView) -> Form:
    """The form to emit.

    Raises:
        Refusal: no spelling exists in every allowed release.
    """
    form = view.settings.emitted(row)
    if form is None:
        newest = row.forms(view.target)[0]
        written = newest.names[0] if newest.names else newest.template or "the counterpart"
        raise Refusal("API208", replacement=written, since=str(newest.since))
    return form


def target_name(row: Row, view: FileView) -> str | None:
    """The name that would be emitted, for messages."""
    forms = row.forms(view.target)
    return forms[0].names[0] if forms and forms[0].names else None
