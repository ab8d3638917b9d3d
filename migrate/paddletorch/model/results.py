"""What became of one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from paddletorch.model.diagnostics import CellPosition, Diagnostic
from paddletorch.model.edits import Edit


@dataclass(frozen=True, slots=True)
class Conversion:
    """One API use that was converted: ``name`` became ``replacement`` at ``line`` (1-based)."""

    code: str
    name: str
    replacement: str
    line: int
    column: int
    row: str = ""
    """The table row that says so."""
    cell: CellPosition | None = None
    """As of a :class:`Diagnostic`."""


@dataclass(slots=True)
class Uses:
    """What became of the uses of one API name in a file."""

    converted: int = 0
    same: int = 0
    reported: int = 0
    unknown: int = 0


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
    uses: Mapping[str, Uses] = field(default_factory=dict)
    """Uses of source-framework APIs by name: qualified, or ``Tensor.view`` for a member."""
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
