"""What is recorded about each row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

from paddletorch_rules import Form, Framework, Row, Table
from paddletorch_rules.fates import is_reported, written_class
from paddletorch_rules.verified import Record

from paddletorch.pages.markdown import code
from paddletorch.proof.proof import Verdict

_MARKS = {
    Verdict.BOTH: "both ways",
    Verdict.UNVERIFIABLE: "not verified: {reason}",
    Verdict.NO_EXAMPLE: "not verified",
    Verdict.REPORTED: "no counterpart",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """A row and what is recorded about it."""

    row: Row
    verdict: Verdict
    targets: tuple[str, ...]

    @property
    def mark(self) -> str:
        """The verdict in a few words."""
        if self.verdict is Verdict.REPORTED and (written := _written(self.row)):
            return f"a written class, {code(written)}"
        if self.verdict is Verdict.ONE:
            return f"to {self.targets[0]}"
        return _MARKS[self.verdict].format(reason=self.row.unverified)

    @property
    def names(self) -> tuple[str, str]:
        """The spelling that is written first on each side, torch's and Paddle's; a member with its receiver's type."""
        return _name(self.row, self.row.torch), _name(self.row, self.row.paddle)


def _written(row: Row) -> str:
    """The class that is written for one that only one side has, if there is one."""
    names = {side: [name for form in row.forms(side) for name in form.names] for side in get_args(Framework)}
    return next((found for side, some in names.items() if (found := written_class(side, *some))), "")


def _name(row: Row, forms: Iterable[Form]) -> str:
    for form in forms:
        for name in form.names:
            return code(f"{row.receiver}.{name}" if row.receiver else name)
        return code(form.template or ", ".join(form.results.values()))
    return ""


def standing(row: Row, table: Table, record: Record) -> Standing:
    """What the record says about ``row`` as it is now."""
    targets = record.directions(row, table)
    if is_reported(row):
        verdict = Verdict.REPORTED
    elif targets:
        verdict = Verdict.BOTH if len(targets) == 2 else Verdict.ONE
    else:
        verdict = Verdict.UNVERIFIABLE if row.unverified else Verdict.NO_EXAMPLE
    return Standing(row, verdict, targets)


def by_area(table: Table, record: Record) -> dict[str, list[Standing]]:
    """Every row's standing, by the letters of its code, in alphabetical order."""
    areas: dict[str, list[Standing]] = {}
    for row in sorted(table.rows, key=lambda row: (row.area, row.code, row.id)):
        areas.setdefault(row.area, []).append(standing(row, table, record))
    return areas
