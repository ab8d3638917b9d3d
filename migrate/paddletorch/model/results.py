"""What became of one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from paddletorch.model.diagnostics import CellPosition, Diagnostic
from paddletorch.model.edits import Edit
from paddletorch.model.fates import Fates


@dataclass(frozen=True, slots=True)
class Conversion:
    """One API use that was converted: ``name`` became ``replacement`` at ``line`` (1-based)."""

    code: str
    name: str
    replacement: str
    line: int
    column: int
    end_line: int = 0
    end_column: int = 0
    row: str = ""
    """The table row that says so."""
    cell: CellPosition | None = None
    """As of a :class:`Diagnostic`."""
    written: str = ""
    """What stands there now, on one line and cut where it is long; empty where the edits are elsewhere."""


class Status(str, Enum):
    """What became of one file."""

    CLEAN = "clean"  # nothing to convert
    CONVERTED = "converted"  # ``output`` differs from ``source``
    FAILED = "failed"  # could not be read, decoded, parsed or converted; left alone


@dataclass(frozen=True, slots=True)
class CellText:
    """The code of a notebook's cell before and after; ``number`` counts all cells from 1."""

    number: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class FileResult:
    """What the engine says about one file. ``output`` equals ``source`` unless the status is CONVERTED."""

    path: str
    status: Status
    source: bytes
    output: bytes
    conversions: tuple[Conversion, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    unlisted: Mapping[str, Fates] = field(default_factory=dict)
    """Uses of the source framework's API that nothing here lists, by name: the same on both sides, or left with no
    finding of their own. ``fates_by_name`` adds them to those that are listed."""
    edits: tuple[Edit, ...] = ()
    """What was changed in the body, where ``output`` differs: positions in it lead back to ``source``.

    Empty for a document.
    """
    cells: tuple[CellText, ...] = ()
    """The cells of a notebook that change."""
    known: tuple[Diagnostic, ...] = ()
    """Findings of the baseline: counted, not shown, and nothing to the exit code."""
    answered: int = 0
    """Open questions that recorded runs answered."""
    settled: int = 0
    """Findings that would be there without those answers."""
