"""A file's result as plain data and back. JSON, because reading it runs no code."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from paddletorch.model import (
    Applicability,
    Ask,
    CellPosition,
    CellText,
    Conversion,
    Diagnostic,
    Fates,
    FileResult,
    Question,
    Severity,
    Status,
)

_CONVERSION = attrgetter(*(field.name for field in fields(Conversion)))
_DIAGNOSTIC = attrgetter(*(field.name for field in fields(Diagnostic)))
_SEVERITY = [field.name for field in fields(Diagnostic)].index("severity")
_APPLICABILITY = [field.name for field in fields(Diagnostic)].index("applicability")
_DIAGNOSTIC_CELL = [field.name for field in fields(Diagnostic)].index("cell")
_QUESTIONS = [field.name for field in fields(Diagnostic)].index("questions")
_CONVERSION_CELL = [field.name for field in fields(Conversion)].index("cell")
_CELL_POSITION = attrgetter(*(field.name for field in fields(CellPosition)))
_CELL_TEXT = attrgetter(*(field.name for field in fields(CellText)))
_FATES = attrgetter(*(field.name for field in fields(Fates)))
_SEVERITIES = {severity.value: severity for severity in Severity}
_APPLICABILITIES = {applicability.value: applicability for applicability in Applicability}
_NOT_CACHED = [
    field.name
    for field in fields(FileResult)
    if field.name
    not in ("path", "status", "source", "output", "conversions", "diagnostics", "unlisted", "edits", "cells")
    and field.name not in ("answered", "settled")
]


def is_cacheable(result: FileResult) -> bool:
    """Whether ``result_of`` gives the same again, but for the edits: a failure may be another one next time."""
    return result.status is not Status.FAILED and not any(map(result.__getattribute__, _NOT_CACHED))


def findings_of(result: FileResult) -> bytes:
    """All of a result but the text: JSON, of a result that is not a failure."""
    rows = (
        list(map(_CONVERSION, result.conversions)),
        list(map(_DIAGNOSTIC, result.diagnostics)),
        {name: _FATES(fates) for name, fates in result.unlisted.items()},
        list(map(_CELL_TEXT, result.cells)),
        (result.answered, result.settled),
    )
    return json.dumps(rows, separators=(",", ":"), default=_plain).encode("ascii")


def _plain(value: CellPosition | Question) -> Sequence[Any]:
    return (value.ask.value, value.place) if isinstance(value, Question) else _CELL_POSITION(value)


def text_of(result: FileResult) -> bytes | None:
    """The converted text, compressed; None if the text stays."""
    return zlib.compress(result.output, 1) if result.status is Status.CONVERTED else None


def result_of(path: str, source: bytes, findings: bytes, text: bytes | None) -> FileResult:
    """The result that was kept, for a file that holds ``source`` again.

    Raises:
        ValueError, TypeError, LookupError, zlib.error: this is no record of a result.
    """
    conversions, diagnostics, unlisted, cells, (answered, settled) = json.loads(findings)
    return FileResult(
        path,
        Status.CLEAN if text is None else Status.CONVERTED,
        source,
        source if text is None else zlib.decompress(text),
        tuple(_conversions(conversions)),
        tuple(_diagnostics(diagnostics)),
        {name: Fates(*counts) for name, counts in unlisted.items()},
        cells=tuple(CellText(*texts) for texts in cells),
        answered=answered,
        settled=settled,
    )


def _conversions(rows: Sequence[list[Any]]) -> Iterable[Conversion]:
    for values in rows:
        if values[_CONVERSION_CELL] is not None:
            values[_CONVERSION_CELL] = CellPosition(*values[_CONVERSION_CELL])
        yield Conversion(*values)


def _diagnostics(rows: Sequence[list[Any]]) -> Iterable[Diagnostic]:
    for values in rows:
        values[_SEVERITY] = _SEVERITIES[values[_SEVERITY]]
        values[_APPLICABILITY] = _APPLICABILITIES[values[_APPLICABILITY]]
        if values[_DIAGNOSTIC_CELL] is not None:
            values[_DIAGNOSTIC_CELL] = CellPosition(*values[_DIAGNOSTIC_CELL])
        asked = ((ask, (line, column, last, end)) for ask, (line, column, last, end) in values[_QUESTIONS])
        values[_QUESTIONS] = tuple(Question(Ask(ask), place) for ask, place in asked)
        yield Diagnostic(*values)
