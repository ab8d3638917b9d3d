"""What the Python interface gives back for one text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import AnyStr, Generic

from paddletorch.model import Conversion, Diagnostic, FileResult, StatementChange, Status, Uses


@dataclass(frozen=True, slots=True)
class Fates:
    """How many uses of the source framework's API ended in each of four ways; they add up to all uses."""

    converted: int = 0
    same: int = 0
    """The same on both sides: nothing had to change."""
    needs_you: int = 0
    """Left as they were, with a finding that says why."""
    not_examined: int = 0
    """Left as they were, because no table has the API or the type of the object is not known."""

    @property
    def total(self) -> int:
        """All uses."""
        return self.converted + self.same + self.needs_you + self.not_examined

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return not self.needs_you and not self.not_examined


def fates_of(uses: Iterable[Uses]) -> Fates:
    """The sum over the names of a file."""
    counted = list(uses)
    return Fates(
        converted=sum(one.converted for one in counted),
        same=sum(one.same for one in counted),
        needs_you=sum(one.reported for one in counted),
        not_examined=sum(one.unknown for one in counted),
    )


@dataclass(frozen=True, slots=True)
class Result(Generic[AnyStr]):
    """What became of one text: a Python module, a notebook or a Markdown document."""

    source: AnyStr
    """The text as it was given."""
    output: AnyStr
    """The converted text, of the same type; equal to ``source`` unless ``changed``."""
    file: FileResult
    """The same in bytes with all details: the edits, the uses by API name, the cells of a notebook."""

    @property
    def path(self) -> str:
        """The name that was given for the text."""
        return self.file.path

    @property
    def status(self) -> Status:
        """CLEAN: nothing to convert. CONVERTED: ``output`` differs. FAILED: see ``findings``."""
        return self.file.status

    @property
    def changed(self) -> bool:
        """Whether ``output`` differs from ``source``."""
        return self.status is Status.CONVERTED

    @property
    def conversions(self) -> tuple[Conversion, ...]:
        """The uses that were converted, in reading order."""
        return self.file.conversions

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What is left to look at, in reading order; for a text that failed, the reason."""
        return self.file.diagnostics

    @property
    def changes(self) -> tuple[StatementChange, ...]:
        """The changes of a Python file by statement, found anew at each look; a document has none."""
        from paddletorch.engine.statement_changes import statement_changes

        return statement_changes(self.file, encoding="utf-8" if isinstance(self.source, str) else None)

    @property
    def fates(self) -> Fates:
        """How many uses were converted, are the same, need you, and were not examined."""
        return fates_of(self.file.uses.values())
