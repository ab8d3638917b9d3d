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


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace ``span`` by ``text``; an empty span inserts."""

    span: Span
    text: str
    code: str = ""


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


@dataclass(frozen=True, slots=True)
class Conversion:
    """One API use that was converted: ``name`` became ``replacement`` at ``line`` (1-based)."""

    code: str
    name: str
    replacement: str
    line: int
    column: int


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


class Status(str, Enum):
    """What became of one file."""

    CLEAN = "clean"  # nothing to convert
    CONVERTED = "converted"  # ``output`` differs from ``source``
    FAILED = "failed"  # could not be read, decoded, parsed or converted; left alone


@dataclass(frozen=True, slots=True)
class FileResult:
    """What the engine says about one file. ``output`` equals ``source`` unless the status is CONVERTED."""

    path: str
    status: Status
    source: bytes
    output: bytes
    conversions: tuple[Conversion, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """Uses of source-framework API names that are in the tables: seen, by qualified name."""
