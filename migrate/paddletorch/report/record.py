"""Everything a report is made from, whatever its form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from paddletorch.model import FileResult, Options
from paddletorch.report.summary import Summary

Mode = Literal["report", "diff", "write", "output", "stdin"]
"""What happened to the converted text: nothing, shown, or put where it is wanted."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Of what, when and by which command a report was made; what is empty is not said."""

    project: str = ""
    date: str = ""
    commit: str = ""
    command: str = ""


class Report(NamedTuple):
    """A run that is over."""

    results: Sequence[FileResult]
    summary: Summary
    options: Options
    mode: Mode
    origin: Origin = Origin()
