"""The small frozen records that flow through a run: options in, edits and diagnostics out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

Framework = Literal["torch", "paddle"]
"""A framework by its import root."""

ShimMode = Literal["never", "auto", "always"]


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


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open byte range ``[start, end)`` in a file's UTF-8 body (without BOM)."""

    start: int
    end: int

    def holds(self, other: Span) -> bool:
        """Whether ``other`` lies inside."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace ``span`` by ``text``; an empty span inserts.

    With ``parts`` the new text is their concatenation: a ``Span`` among them, which lies inside ``span``, is
    taken from the file, with the edits inside it applied. So arguments can change their places.
    """

    span: Span
    text: str
    code: str = ""
    parts: tuple[str | Span, ...] = ()

    def moved(self, by: int) -> Edit:
        """The same edit for a text that begins ``-by`` bytes later."""
        parts = tuple(p if isinstance(p, str) else Span(p.start + by, p.end + by) for p in self.parts)
        return Edit(Span(self.span.start + by, self.span.end + by), self.text, self.code, parts)

    @property
    def written(self) -> str:
        """The text that is new."""
        return "\0".join(p for p in self.parts if isinstance(p, str)) if self.parts else self.text


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


@dataclass(frozen=True, slots=True)
class Options:
    """What one run was asked to do; picklable, so that workers get the same.

    ``source_version`` / ``target_version`` are release specifiers as typed (``"3.3"``, ``">=2.6,<3"``,
    ``"installed"``) or None for "no release given".
    """

    target: Framework
    source_version: str | None = None
    target_version: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    unsafe: bool = False
    annotate: bool = False
    shim: ShimMode = "never"
    tables: tuple[str, ...] = ()

    @property
    def source(self) -> Framework:
        """The framework that the code is written for."""
        return "torch" if self.target == "paddle" else "paddle"

    def wants(self, code: str) -> bool:
        """Whether ``code`` is selected and not ignored."""
        return (not self.select or code.startswith(self.select)) and not code.startswith(self.ignore)


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
