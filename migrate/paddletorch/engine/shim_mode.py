"""When a file's scalers, autocast contexts and open calls go to the runtime shim, and what that settles."""

from __future__ import annotations

from pathlib import Path

import paddletorch_rules

from paddletorch.model import FileResult, Options

SCALER = "scaler"
AUTOCAST = "autocast"
CUSTOM = "custom"
CALLS = "calls"
"""Calls of what only the running program knows."""

_FOLDER = Path(paddletorch_rules.__file__).parent / "shim"

_CONSTRUCTORS = frozenset({"AMP101", "AMP102"})

_ANSWERED = {
    SCALER: frozenset(
        "AMP211 AMP212 AMP220 AMP222 AMP223 AMP224 AMP225 AMP227 AMP228 AMP230 AMP231 AMP232 AMP241 AMP242 AMP243 "
        "AMP247 AMP251".split()
    ),
    AUTOCAST: frozenset({"AMP213", "AMP217", "AMP218", "AMP221"}),
    CUSTOM: frozenset(),
    CALLS: frozenset({"API226"}),
}
"""Findings that do not apply where the shim keeps the source's behaviour."""

_WORTH_IT = {
    SCALER: frozenset(
        "AMP211 AMP212 AMP220 AMP222 AMP223 AMP224 AMP225 AMP227 AMP230 AMP231 AMP232 AMP241 AMP242".split()
    ),
    AUTOCAST: frozenset({"AMP221"}),
    CUSTOM: frozenset({"AMP233"}),
    CALLS: frozenset("API201 API202 API203 API204 API210 API211 API226 API230 API231 API232 API233".split()),
}
"""Findings for which ``--shim auto`` takes the shim: what has no exact native form."""


def overlays(options: Options, native: FileResult | None) -> frozenset[str]:
    """What goes to the shim: by the mode alone, or by what the native conversion of a file found."""
    if options.shim == "always":
        return frozenset({SCALER, CALLS} if options.target == "paddle" else {SCALER})
    if options.shim == "never" or native is None:
        return frozenset()
    found = {d.code for d in native.diagnostics}
    made = {c.code for c in native.conversions} | found
    needed = {kind for kind, codes in _WORTH_IT.items() if codes & found}
    if not made & (_CONSTRUCTORS | {"AMP211", "AMP212"}):
        needed.discard(SCALER)  # the scaler is made elsewhere: its members stay what they are there
    if options.target != "paddle":
        needed.discard(CALLS)
    return frozenset(needed)


def tables(kinds: frozenset[str]) -> tuple[str, ...]:
    """The overlay tables for ``kinds``."""
    return tuple(str(_FOLDER / f"{kind}.toml") for kind in sorted(kinds - {CALLS}))


def keeps_row(kinds: frozenset[str], row: paddletorch_rules.Row) -> bool:
    """Whether a row still applies: a shim's scaler keeps the source's methods."""
    if SCALER not in kinds or row.receiver != "scaler":
        return True
    return row.kind == "attribute" or row.id == "scaler.scale"


def answered_codes(kinds: frozenset[str]) -> frozenset[str]:
    """Codes of the findings that the shim answers."""
    return frozenset(code for kind in kinds for code in _ANSWERED[kind])
