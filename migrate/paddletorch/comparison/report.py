"""What a comparison found, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import paddletorch
from paddletorch.comparison.comparison import STAGES, Code, Compared, Fault, Look
from paddletorch.origins.origin import Behind
from paddletorch.report.printable import printable, printable_json

FORMAT_VERSION = 1
"""Grows when a key is renamed or removed or gets another meaning, not when one is added."""
KINDS = ("out", "gradient", "buffer", "after steps")
"""What the error of a layer is told of."""
_LINES = 6
_SHOWN = 8


def exit_code(found: Sequence[Compared]) -> int:
    """0 if all are equal, else 1."""
    return int(any(one.outcome != "equal" for one in found))


def text_lines(one: Compared) -> Iterator[str]:
    """A table of the stages, and the first difference with the code behind it."""
    yield from map(printable, _text_lines(one))


def _text_lines(one: Compared) -> Iterator[str]:
    pair = one.pair
    yield f"{pair.framework} {pair.source}, {pair.target} {pair.converted}: {one.outcome}"
    yield f"  {'largest relative difference':28}" + "".join(f"{look.mode:>12}" for look in one.looks)
    for stage, title in STAGES.items():
        cells = [_cell(look, stage) for look in one.looks]
        yield f"  {title:28}" + "".join(f"{cell:>12}" for cell in cells)
    for note in one.notes:
        yield f"  {note}"
    if one.decisive.fault and one.outcome != "equal":
        yield from _fault_lines(one.decisive.fault, one.outcome)


def _cell(look: Look, stage: str) -> str:
    errors = [row.error for row in look.rows if row.stage == stage]
    if look.fault and look.fault.stage == stage:
        return "fails" if look.outcome == "fails" else "other kind" if _of_kind(look) else f"{max(errors):.1e} !"
    return f"{max(errors):.1e}" if errors else "-"


def _of_kind(look: Look) -> bool:
    return bool(look.fault and look.fault.row and look.fault.row.problem)


def _fault_lines(fault: Fault, outcome: str) -> Iterator[str]:
    where = STAGES.get(fault.stage, fault.stage)
    yield f"  {'It fails' if outcome == 'fails' else 'The first difference'}{f' ({where})' if where else ''}:"
    yield f"    {fault.message}"
    for side, code in (("source", fault.source), ("converted", fault.converted)):
        if code:
            yield f"    {side}: {code.path}:{code.line}{f'-{code.end_line}' if code.end_line > code.line else ''}"
            lines = code.text.splitlines()
            yield from (f"      {line}" for line in lines[:_LINES])
            if len(lines) > _LINES:
                yield f"      … {len(lines) - _LINES} more lines"
    for behind in fault.findings[:_SHOWN]:
        found = behind.diagnostic
        yield f"    {behind.path}:{found.line}:{found.column}: {found.code} {found.message}"


def layer_errors(look: Look) -> dict[str, dict[str, float]]:
    """For each layer, in the order of the forward pass, the largest error of what comes out, and of its gradients."""
    found: dict[str, dict[str, float]] = {}
    for row in look.rows:
        if row.what in KINDS and not row.problem:
            errors = found.setdefault(row.layer, {})
            errors[row.what] = max(errors.get(row.what, 0.0), row.error)
    return found


def json_text(found: Sequence[Compared]) -> str:
    """The report as one JSON object; docs/compare.md describes the keys."""
    report = {
        "format_version": FORMAT_VERSION,
        "version": paddletorch.__version__,
        "pairs": [_pair(one) for one in found],
        "exit_code": exit_code(found),
    }
    return printable_json(json.dumps(report, indent=2))


def _pair(one: Compared) -> dict[str, Any]:
    return {
        "source": {"framework": one.pair.framework, "model": one.pair.source},
        "converted": {"framework": one.pair.target, "model": one.pair.converted},
        "outcome": one.outcome,
        "decided_in": one.decisive.mode,
        "notes": one.notes,
        "fault": _fault(one.decisive.fault) if one.outcome != "equal" else None,
        "looks": [_look(look) for look in one.looks],
    }


def _look(look: Look) -> dict[str, Any]:
    return {
        "dtype": look.mode,
        "outcome": look.outcome,
        "message": look.message,
        "stages": list(look.stages),
        "left_out": dict(look.left),
        "layers": layer_errors(look),
        "tensors": [asdict(row) for row in look.rows],
    }


def _fault(fault: Fault | None) -> dict[str, Any] | None:
    if fault is None:
        return None
    return {
        "message": fault.message,
        "stage": fault.stage,
        "layer": fault.row.layer if fault.row else None,
        "what": fault.row.what if fault.row else None,
        "source": _code(fault.source),
        "converted": _code(fault.converted),
        "diagnostics": list(map(_behind, fault.findings)),
    }


def _code(code: Code | None) -> dict[str, Any] | None:
    return asdict(code) if code else None


def _behind(one: Behind) -> dict[str, Any]:
    found = one.diagnostic
    return {
        "path": one.path,
        "line": found.line,
        "column": found.column,
        "code": found.code,
        "severity": found.severity.value,
        "name": found.name,
        "message": found.message,
    }
