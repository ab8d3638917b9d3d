"""Which of a row's spellings is written."""

from __future__ import annotations

from paddletorch_rules import Form, Row

from paddletorch.plan.model.refusals import NotInRelease, Refused
from paddletorch.plan.model.view import FileView


def target_form(row: Row, view: FileView) -> Form:
    """The form to write.

    Raises:
        Refused: no spelling exists in every allowed release.
    """
    form = view.settings.emitted(row)
    if form is None:
        newest = row.forms(view.target)[0]
        written = newest.names[0] if newest.names else newest.template or "the counterpart"
        raise Refused(NotInRelease(written, str(newest.since)))
    return form


def target_name(row: Row, view: FileView) -> str:
    """The name that would be written, for messages."""
    forms = row.forms(view.target)
    return forms[0].names[0] if forms and forms[0].names else "the counterpart"


FOLLOW_PROTOCOL = frozenset({"optimizer", "scheduler", "lbfgs"})
"""Types whose subclasses step parameters or compute rates by the source's protocol: such a class keeps its base."""
