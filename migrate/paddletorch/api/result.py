"""What the Python interface gives back for one text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import AnyStr, Generic

from paddletorch.model import Conversion, Diagnostic, Fates, FileResult, StatementChange, Status
from paddletorch.model.counts import fates_of


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
        return fates_of([self.file])
