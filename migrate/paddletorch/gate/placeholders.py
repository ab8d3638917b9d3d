"""Promise: no placeholder of a template is written; as a set of one name it would even compile."""

from __future__ import annotations

from paddletorch.gate.compiling import CODE
from paddletorch.gate.converted_text import ConvertedText
from paddletorch.gate.violation import Violation
from paddletorch.text.long_literals import MARK
from paddletorch.text.unfilled import unfilled_placeholders


def unfilled(text: ConvertedText) -> list[Violation]:
    """A violation for each edit that writes a placeholder; sets that the file has already are none."""
    found: list[Violation] = []
    for piece in text.pieces:
        if not piece.is_copy and MARK.encode() in piece.text:
            found.append(Violation(CODE, "a list is too long to be written again", text.lines_of(piece.origin)))
        if not piece.is_copy and b"{" in piece.text:
            old = text.source.slice(text.source.line_span(text.source.position(piece.origin.start)[0]))
            names = [n for n in unfilled_placeholders(piece.text.decode("utf-8")) if "{" + n + "}" not in old]
            if names:
                found.append(Violation(CODE, f"{{{names[0]}}} was never filled in", text.lines_of(piece.origin)))
    return found
