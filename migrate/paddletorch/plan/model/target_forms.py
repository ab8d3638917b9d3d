"""Which form of a row's target side is written."""

from __future__ import annotations

from paddletorch_rules import Form, Row

from paddletorch.plan.model.refusals import NotInRelease, Refused, StatedByTable
from paddletorch.plan.model.view import FileView


def target_form(row: Row, view: FileView) -> Form:
    """The form to write.

    Raises:
        Refused: no form exists in every allowed release, or none at all.
    """
    form = view.settings.emitted(row)
    if form is None:
        if not row.forms(view.target):
            raise Refused(no_counterpart(row, row.id))
        newest = row.forms(view.target)[0]
        written = newest.names[0] if newest.names else newest.template or "the counterpart"
        raise Refused(NotInRelease(written, str(newest.since)))
    return form


def no_counterpart(row: Row, what: str) -> StatedByTable | NotInRelease:
    """What the row says of a use that the target has nothing for."""
    if row.report is not None:
        return StatedByTable(row.report, (("replacement", "the counterpart"), ("what", what)))
    return NotInRelease("the counterpart", "?")


def check_release(view: FileView, written: str) -> None:
    """Check that every allowed release has a name of the target, such as that of a dtype.

    Raises:
        Refused: one lacks it.
    """
    settings = view.settings
    forms = [form for _, form in settings.table.overloads(view.target, written)]
    if forms and not any(form.available(settings.target_releases.versions) for form in forms):
        raise Refused(NotInRelease(written, str(min(form.since for form in forms))))


def target_name(row: Row, view: FileView) -> str:
    """The target's name of a row, for messages."""
    forms = row.forms(view.target)
    return forms[0].names[0] if forms and forms[0].names else "the counterpart"


TYPES_WITH_PROTOCOL = frozenset({"optimizer", "scheduler", "lbfgs"})
"""Types whose subclasses implement the source's protocol of steps or rates, so that their base class is left."""
