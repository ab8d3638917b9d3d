"""The parts of a file that the page shows: what changes, where findings lie, and some lines around."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from paddletorch.model import CellText, FileResult
from paddletorch.model.document_kinds import document_kind
from paddletorch.model.project_kinds import project_kind
from paddletorch.report.changes import Opcode, opcodes
from paddletorch.report.html.highlight import Run, highlighted, plain
from paddletorch.text.lines import text_lines

CONTEXT = 3
"""Lines shown around a change or a finding."""

Lines = list[list[Run]]


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that stay (``new`` is None), or lines and what takes their place."""

    old: Lines
    new: Lines | None


@dataclass(frozen=True, slots=True)
class Hunk:
    """Neighbouring lines; ``old_start`` and ``new_start`` count from 1."""

    old_start: int
    new_start: int
    blocks: list[Block]
    cell: int = 0
    """The number of a notebook's cell, whose lines are then counted; 0 elsewhere."""


def hunks_of(result: FileResult) -> list[Hunk]:
    """What to show of a file, in order. Of a notebook that is code, not JSON: the cells that change."""
    document = "markdown" if project_kind(result.path) is not None else document_kind(result.path)
    if document == "notebook":
        return [hunk for cell in result.cells for hunk in _cell(cell, result)]
    lines = [d.line for d in result.diagnostics]
    colour = plain if document == "markdown" else highlighted
    return _hunks(text_lines(result.source), text_lines(result.output), lines, colour)


def _cell(cell: CellText, result: FileResult) -> list[Hunk]:
    found = [d.cell.line for d in result.diagnostics if d.cell and d.cell.number == cell.number]
    old, new = (text_lines(text.encode()) for text in (cell.old, cell.new))
    return [replace(hunk, cell=cell.number) for hunk in _hunks(old, new, found, highlighted)]


def _hunks(old: list[str], new: list[str], found: Iterable[int], colour: Callable[[list[str]], Lines]) -> list[Hunk]:
    """``found``: lines with a finding, 0 for the whole file."""
    codes = list(opcodes(old, new))
    changed = [(start, end) for tag, start, end, _, _ in codes if tag != "equal"]
    # A finding on a later line than the last belongs to what is missing there.
    at = [min(line, len(old)) for line in found if line]
    windows = list(_windows([*changed, *((line - 1, line) for line in at)], len(old)))
    if not windows:
        return []
    old_lines = colour(old)
    hunks = []
    for start, end in windows:
        parts = list(_parts(codes, start, end))
        if parts:  # none: a finding in an empty file
            blocks = [
                Block(old_lines[i1:i2], None if tag == "equal" else colour(new[j1:j2])) for tag, i1, i2, j1, j2 in parts
            ]
            hunks.append(Hunk(parts[0][1] + 1, parts[0][3] + 1, blocks))
    return hunks


def _windows(spans: Iterable[tuple[int, int]], length: int) -> Iterator[tuple[int, int]]:
    """Half-open ranges of old lines that hold ``spans`` and the lines around them, none touching another."""
    wide = sorted((max(start - CONTEXT, 0), min(end + CONTEXT, length)) for start, end in spans)
    merged: list[tuple[int, int]] = []
    for start, end in wide:
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    yield from merged


def _parts(codes: Sequence[Opcode], first: int, last: int) -> Iterator[Opcode]:
    """What the window from ``first`` to ``last`` shows: changes whole, equal lines inside it."""
    for n in range(bisect_left(codes, first, key=lambda code: code[2]), len(codes)):
        tag, i1, i2, j1, j2 = codes[n]
        start, end = max(i1, first), min(i2, last)
        if i1 > last:
            return
        if tag != "equal":
            if (start, end) == (i1, i2):
                yield tag, i1, i2, j1, j2
        elif start < end:
            yield tag, start, end, j1 + start - i1, j1 + end - i1
