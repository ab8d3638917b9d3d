"""Which parts of the runtime shim a file uses; the tables say which findings need a part or are answered by it."""

from __future__ import annotations

from pathlib import Path

import paddletorch_rules
from paddletorch_rules import Row, ShimPart, Table

from paddletorch.model import FileResult, Options

CALLS: ShimPart = "calls"
"""The part that translates the arguments of calls whose API is known only at run time; it has no rows."""

_FOLDER = Path(paddletorch_rules.__file__).parent / "shim"

_SCALER_CONSTRUCTION = frozenset({"AMP101", "AMP102", "AMP211"})
"""Codes of conversions and findings about the construction of a scaler."""


def parts_for(options: Options, table: Table, native: FileResult | None) -> frozenset[ShimPart]:
    """The parts that a file uses: decided by the option, or by the findings of its conversion without the shim."""
    if options.shim == "always":
        return frozenset[ShimPart](("scaler", CALLS) if options.target == "paddle" else ("scaler",))
    if options.shim == "never" or native is None:
        return frozenset()
    found = {diagnostic.code for diagnostic in native.diagnostics}
    reasons = (table.diagnostics[code].shim_reason for code in found if code in table.diagnostics)
    parts = {part for part in reasons if part is not None}
    if _SCALER_CONSTRUCTION.isdisjoint(found | {conversion.code for conversion in native.conversions}):
        parts.discard("scaler")  # another file makes the scaler and decides of what kind it is
    if options.target != "paddle":
        parts.discard(CALLS)
    return frozenset(parts)


def tables(parts: frozenset[ShimPart]) -> tuple[str, ...]:
    """The tables that override the built-in ones for ``parts``."""
    return tuple(str(_FOLDER / f"{part}.toml") for part in sorted(parts - {CALLS}))


def row_applies(parts: frozenset[ShimPart], row: Row) -> bool:
    """Whether a row still applies with these parts: the shim's scaler keeps the source's methods."""
    if "scaler" not in parts or row.receiver != "scaler":
        return True
    return row.kind == "attribute" or row.id == "scaler.scale"


def inapplicable_codes(parts: frozenset[ShimPart], table: Table) -> frozenset[str]:
    """Codes of the findings that do not apply with these parts, since the shim behaves as the source does."""
    return frozenset(code for code, spec in table.diagnostics.items() if spec.shim_answers in parts)
