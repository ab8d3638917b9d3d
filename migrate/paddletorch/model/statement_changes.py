"""One change of a converted file, and the lines to leave if it is not wanted."""

from __future__ import annotations

from dataclasses import dataclass

from paddletorch.model.diagnostics import Diagnostic
from paddletorch.model.results import Conversion


@dataclass(frozen=True, slots=True)
class StatementChange:
    """What becomes of neighbouring lines that hold whole statements, or the header of a compound one."""

    first: int
    """The first of the lines, from 1."""
    last: int
    old: str
    """The lines with their ends."""
    new: str
    conversions: tuple[Conversion, ...]
    """The uses that it converts, here or, by the import that stands here, elsewhere."""
    to_leave: frozenset[int]
    """The lines that a file without this change is planned with; empty for what only serves other changes.

    That is an import that they need, say, or a small class that they call: such a change goes with the last of them.
    """
    findings: tuple[Diagnostic, ...] = ()
    """What is said of these lines all the same."""

    @property
    def elsewhere(self) -> tuple[Conversion, ...]:
        """The uses on other lines that convert because the import here does: their own text stays."""
        return tuple(one for one in self.conversions if not self.first <= one.line <= self.last)
