"""All promises about the converted text of one file, in the order in which they rest on each other."""

from __future__ import annotations

from collections.abc import Sequence

from paddletorch.gate.bytes import changed_bytes
from paddletorch.gate.compiling import uncompilable
from paddletorch.gate.converted_text import ConvertedText
from paddletorch.gate.copies import unconverted_copies
from paddletorch.gate.decorators import converted_under_kept_decorators
from paddletorch.gate.guards import shared_guards
from paddletorch.gate.names import unbound_names
from paddletorch.gate.placeholders import unfilled
from paddletorch.gate.violation import Violation
from paddletorch.model import Conversion, Framework


def violations(
    text: ConvertedText, source: Framework, target: Framework, conversions: Sequence[Conversion] = ()
) -> list[Violation]:
    """The promises that the edits, and the conversions that they make, break; none for a file without edits."""
    if not text.edits:
        return []
    return (
        uncompilable(text)
        or unfilled(text)
        or changed_bytes(text)
        or unconverted_copies(text, conversions)
        or converted_under_kept_decorators(text, source)
        or unbound_names(text, source, target)
        or shared_guards(text, source, target)
    )
