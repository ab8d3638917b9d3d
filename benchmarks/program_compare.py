"""Puts the source's weights into the converted model, and compares what both have made."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from program_sides import Side

TOLERANCES = {"float32": {"output": 1e-3, "gradient": 5e-3}, "float64": {"output": 1e-6, "gradient": 1e-5}}
"""Of the largest difference, in units of the largest value of the tensor on the source's side."""
RUNNING_VARIANCE = 1.0
"""Tolerance of a running variance: torch keeps the unbiased one and Paddle the biased one (NNL208), which of two values
is the half."""
FLOOR = 1e-3
"""Values below this count as if they were this large: gradients that are zero but for rounding."""


def fill_weights(
    side: Side, model: Any, source: dict[str, Any], job: dict[str, Any]
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Put the original's weights into the model as ``state convert`` would; gives a function for other tensors."""
    from paddletorch_shim.weights import models
    from paddletorch_shim.weights.arrays import Array, to_paddle, to_torch
    from paddletorch_shim.weights.models import Description
    from paddletorch_shim.weights.state import Choices, convert
    from paddletorch_shim.weights.target import fit

    state = model.state_dict()
    shapes = {key: tuple(tensor.shape) for key, tensor in state.items() if hasattr(tensor, "shape")}
    parameters = dict(model.named_parameters())
    kept = model.state_dict(keep_vars=True)
    target = Description(shapes, {}, list(parameters), models.tied(kept))
    made = convert(source["plan"], source["state"], Choices())
    fit(made, target, source["plan"])
    if side.name == "torch":
        model.load_state_dict(
            {key: to_torch(one).to(state[key].dtype) for key, one in made.arrays.items()}, strict=True
        )
    else:
        ready = {key: to_paddle(one).astype(state[key].dtype) for key, one in made.arrays.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.set_state_dict(ready)

    def named(arrays: dict[str, Any]) -> dict[str, Any]:
        """Arrays by the source's keys as the target has them."""
        held = {key: Array(np.asarray(one), str(one.dtype)) for key, one in arrays.items() if one is not None}
        found: dict[str, Any] = {}
        for key, move in made.moves.items():
            if all(one in held for one in move.sources):
                found[key] = move.apply(held).values
        return found

    return named


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
    if expected is None or made is None:
        present = made if expected is None else expected
        if present is not None and np.abs(present).max(initial=0) > FLOOR:
            yield f"{what}: none on {'the source' if expected is None else 'the converted'} side"
        return
    if expected.shape != made.shape:
        yield f"{what}: shape {list(expected.shape)}, converted {list(made.shape)}"
        return
    kinds = {"f": "float", "c": "complex"}
    if kinds.get(expected.dtype.kind, "int") != kinds.get(made.dtype.kind, "int"):
        yield f"{what}: {expected.dtype}, converted {made.dtype}"
        return
    if not expected.size:
        return
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    one, other = expected.astype(wide), made.astype(wide)
    if not np.array_equal(np.isfinite(one), np.isfinite(other)):
        yield f"{what}: not finite in other places"
        return
    one, other = np.where(np.isfinite(one), one, 0), np.where(np.isfinite(other), other, 0)
    size = max(float(np.abs(one).max()), FLOOR, scale * 0.01)
    error = float(np.abs(one - other).max()) / size
    if worst is not None:
        worst[stage] = max(worst.get(stage, 0.0), error)
    if error > tolerance:
        yield f"{what}: largest difference {error:.2g} of its largest value {size:.3g}"
