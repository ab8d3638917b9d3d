"""Promise: converting the converted text again changes nothing.

Kept with ``--verify``, in the tests, and for text that does not import the target, which alone shows whose code it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from paddletorch.gate.converted_text import ConvertedText
from paddletorch.gate.definitions import lines_behind
from paddletorch.gate.violation import Violation
from paddletorch.model import Conversion, Edit, FileResult, Framework, Status
from paddletorch.text.source import Cells, Source


class ChangedAgain(NamedTuple):
    """What the second run would change, and the line of the file that it comes from."""

    line: int
    problem: str


def again(text: ConvertedText) -> Source:
    """The converted text as a file to convert."""
    source = text.source
    cells = Cells(tuple(text.new_line(line) for line in source.cells.first_lines), source.cells.other_names)
    return Source(source.encode(text.body), encoding=source.encoding, cells=cells)


def changed_again(text: ConvertedText, second: FileResult) -> ChangedAgain | None:
    """The first thing that ``second``, the result for the converted text, changes; None if it changes nothing."""
    if second.status is Status.CLEAN:
        return None
    if second.status is Status.FAILED:
        return ChangedAgain(0, second.diagnostics[0].message)
    if second.conversions:
        first = second.conversions[0]
        problem = f"{first.name} would become {first.replacement}"
        offset = again(text).line_span(first.line).start
    else:
        problem = "an import or a comment would change"
        offset = min((edit.span.start for edit in second.edits), default=0)
    piece, within = text.piece_at(offset)
    start = piece.origin.start + (within if piece.is_copy else 0)
    return ChangedAgain(text.source.position(start)[0], problem)


def imports_target(text: ConvertedText, target: Framework) -> bool:
    """Whether a line of the new text imports the target, or the shim, and one of the old text a framework."""
    frameworks = ("torch", "paddle", "paddletorch_shim")
    return _imports(text.source.body, *frameworks) and _imports(text.body, target, "paddletorch_shim")


def _imports(body: bytes, *roots: str) -> bool:
    return re.search(rf"(?m)^[^#\n]*\b(?:import|from)\s+[^#\n]*\b(?:{'|'.join(roots)})\b".encode(), body) is not None


def statements_changed_again(
    text: ConvertedText, edits: Sequence[Edit], conversions: Sequence[Conversion]
) -> list[Violation]:
    """The statements to leave because a second run makes these edits and conversions in the new text.

    All that were changed, where the second run changes only what the first one has left.
    """
    if not edits:
        return []
    changed = {line for edit in text.edits for line in text.lines_of(edit.span)}
    after = again(text)
    found: list[Violation] = []
    for one in conversions:
        lines = lines_behind(text, text.new_tree, after.line_span(one.line).start + one.column - 1)
        if not changed.isdisjoint(lines):
            found.append(Violation("SRC019", f"{one.name} would be converted", lines))
    return found or [Violation("SRC019", "what stays here would be converted", frozenset(changed))]
