"""Findings, as they are reported."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from paddletorch.model.fates import Fate
from paddletorch.model.questions import Question


class Applicability(str, Enum):
    """How sure an edit is: applied by default, only with ``--unsafe``, or never (shown only)."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display-only"


class Severity(str, Enum):
    """How bad a finding is. ``INFO`` is worth knowing and does not change the exit code."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class CellPosition:
    """A place in a notebook: all cells are counted, from 1, as are lines and columns in the code of the cell."""

    number: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    ``line`` and ``end_line`` count from 1, ``column`` and ``end_column`` from 1 in characters, all in
    the text as it was read. ``line`` 0 means the file as a whole.
    """

    code: str
    message: str
    line: int
    column: int
    end_line: int
    end_column: int
    severity: Severity = Severity.WARNING
    applicability: Applicability = Applicability.DISPLAY
    name: str = ""
    """Qualified name of the API the finding is about, as the source spells it; may be empty."""
    hint: str = ""
    """The way out, in one sentence."""
    cell: CellPosition | None = None
    """The same place in a notebook's cell; ``line`` and ``column`` are those in the file."""
    formerly: str = ""
    """The code that such a finding had before, which baselines may still name."""
    questions: tuple[Question, ...] = ()
    """What a recorded run could answer, so that the finding may go."""
    examined: bool = True
    """Whether it is known what the code there does; not of an unknown receiver, or of code that cannot be read."""

    @property
    def fate(self) -> Fate | None:
        """What became of the use that it is about; None if it is only worth knowing."""
        if self.severity is Severity.INFO:
            return None
        return Fate.NEEDS_YOU if self.examined else Fate.NOT_EXAMINED
