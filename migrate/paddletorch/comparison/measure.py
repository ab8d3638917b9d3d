"""Compares what the stages of two programs have made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

TOLERANCES = {"float32": {"output": 1e-3, "gradient": 5e-3}, "float64": {"output": 1e-6, "gradient": 1e-5}}
"""Of the largest difference, in units of the largest value of the tensor on the source's side."""
RUNNING_VARIANCE = 1.0
"""Tolerance of a running variance: torch keeps the unbiased one and Paddle the biased one (NNL208), which of two values
is the half."""
FLOOR = 1e-3
"""Values below this count as if they were this large: gradients that are zero but for rounding."""


def compared(
    stage: str, expected: Any, made: Any, mode: str, names: Any, worst: dict[str, float] | None
) -> Iterator[str]:
    """What differs between a stage's arrays of the original and of the converted program."""
    tolerance = TOLERANCES[mode]
    rename = names if names is not None and worst is not None else (lambda arrays: arrays)
    if (expected is None) != (made is None):
        yield "there are gradients on one side only"
        return
    if stage in ("eval", "train"):
        yield from _paired(expected["outputs"], made["outputs"], tolerance["output"], stage, worst)
        if "buffers" in expected:
            yield from _named(rename(expected["buffers"]), made["buffers"], tolerance["output"], "buffer", worst)
    elif stage == "program":
        yield from _paired(expected["outputs"], made["outputs"], tolerance["gradient"], stage, worst)
        yield from _named(rename(expected["state"]), made["state"], tolerance["gradient"], "after the program", worst)
    elif stage == "steps":
        yield from _close("loss", expected["losses"], made["losses"], tolerance["gradient"], stage, worst)
        yield from _named(rename(expected["state"]), made["state"], tolerance["gradient"], "after steps", worst)
    else:
        yield from _paired(
            expected["inputs"], made["inputs"], tolerance["gradient"], stage, worst, "gradient of input "
        )
        scale = max(
            (float(np.abs(g).max()) for g in expected["parameters"].values() if g is not None and g.size), default=0
        )
        yield from _named(
            rename(expected["parameters"]), made["parameters"], tolerance["gradient"], "gradient of", worst, scale
        )


def _paired(expected: Any, made: Any, tolerance: float, stage: str, worst: Any, what: str = "") -> Iterator[str]:
    if len(expected) != len(made):
        yield f"{what}{len(expected)} tensors, converted {len(made)}"
        return
    for (where, one), (_, other) in zip(expected, made, strict=True):
        yield from _close(f"{what}{where}", one, other, tolerance, stage, worst)


def _named(expected: Any, made: Any, tolerance: float, what: str, worst: Any, scale: float = 0.0) -> Iterator[str]:
    for key, one in expected.items():
        if key in made or one is not None:
            allowed = RUNNING_VARIANCE if key.endswith(("running_var", "_variance")) else tolerance
            yield from _close(f"{what} {key}", one, made.get(key), allowed, what, worst, scale)


def _close(
    what: str, expected: Any, made: Any, tolerance: float, stage: str, worst: Any, scale: float = 0.0
) -> Iterator[str]:
    found = difference(expected, made, scale)
    if found.problem:
        yield f"{what}: {found.problem}"
        return
    if worst is not None:
        worst[stage] = max(worst.get(stage, 0.0), found.error)
    if found.error > tolerance:
        yield f"{what}: largest difference {found.error:.2g} of its largest value {found.size:.3g}"


@dataclass(frozen=True, slots=True)
class Difference:
    """How far two arrays are apart.

    Args:
        error: the largest difference, in units of ``size``.
        size: the largest value of the source's array, or a floor for small ones.
        problem: why they cannot be subtracted.
    """

    error: float = 0.0
    size: float = 0.0
    problem: str = ""


def difference(expected: Any, made: Any, scale: float = 0.0) -> Difference:
    """How far the array of the converted program is from that of the source; None is an array that is not there."""
    if expected is None or made is None:
        present = made if expected is None else expected
        if present is not None and np.abs(present).max(initial=0) > FLOOR:
            return Difference(problem=f"none on {'the source' if expected is None else 'the converted'} side")
        return Difference()
    if expected.shape != made.shape:
        return Difference(problem=f"shape {list(expected.shape)}, converted {list(made.shape)}")
    kinds = {"f": "float", "c": "complex"}
    if kinds.get(expected.dtype.kind, "int") != kinds.get(made.dtype.kind, "int"):
        return Difference(problem=f"{expected.dtype}, converted {made.dtype}")
    if not expected.size:
        return Difference()
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    one, other = expected.astype(wide), made.astype(wide)
    if not np.array_equal(np.isfinite(one), np.isfinite(other)):
        return Difference(problem="not finite in other places")
    one, other = np.where(np.isfinite(one), one, 0), np.where(np.isfinite(other), other, 0)
    size = max(float(np.abs(one).max()), FLOOR, scale * 0.01)
    return Difference(float(np.abs(one - other).max()) / size, size)
