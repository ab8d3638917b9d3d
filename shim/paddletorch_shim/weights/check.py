"""Whether two models give the same outputs: inputs that fit both, and the largest difference."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddletorch_shim.weights import WeightsError, listed
from paddletorch_shim.weights.arrays import DTYPES, Array, to_array
from paddletorch_shim.weights.models import Inputs

SEED = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """The output that differs most, in units of its own largest value.

    Args:
        where: its place in what the model returns.
        largest: the largest absolute difference; infinite if one side alone has a nan there.
        scale: the largest absolute value of the source's output.
        outputs: how many were compared.
    """

    where: str
    largest: float
    scale: float
    outputs: int

    def within(self, tolerance: float) -> bool:
        return self.largest <= tolerance * self.scale


def random_inputs(shapes: Sequence[str], below: int) -> Inputs:
    """Inputs from texts such as ``2x3x32x32`` or ``2x7:int64``: standard normal, or integers from 0 up to ``below``.

    Raises:
        WeightsError: a text is no shape.
    """
    rng = np.random.default_rng(SEED)
    return Inputs([_random(rng, text, below) for text in shapes])


def _random(rng: np.random.Generator, text: str, below: int) -> Array:
    match = re.fullmatch(r"(\d+(?:x\d+)*)(?::(\w+))?", text)
    dtype = (match[2] or "float32") if match else ""
    if match is None or dtype not in DTYPES or dtype in ("bfloat16", "complex64", "complex128"):
        raise WeightsError(f"--input-shape {text}: a shape is 2x3x32x32, with a dtype 2x7:int64")
    shape = tuple(map(int, match[1].split("x")))
    if dtype == "bool":
        return Array(rng.uniform(size=shape) < 0.5, dtype)
    if "int" in dtype:
        return Array(rng.integers(0, below, shape).astype(dtype), dtype)
    return Array(rng.standard_normal(shape).astype(dtype), dtype)


def smallest_vocabulary(model: Any) -> int:
    """How many rows the smallest embedding of a model has; 2 without one, so that integers fit a mask."""
    sizes = [getattr(one, "num_embeddings", None) or getattr(one, "_num_embeddings", None) for one in _modules(model)]
    return min((int(size) for size in sizes if size), default=2)


def _modules(model: Any) -> list[Any]:
    return list(model.modules() if hasattr(model, "modules") else model.sublayers(include_self=True))


def example_inputs(module: Any, option: str) -> Inputs:
    """What ``example_inputs()`` of the model's Python module returns: a tensor, a sequence of arguments, or keywords.

    Args:
        option: what gives the inputs where there is no such function.

    Raises:
        WeightsError: there is no such function, or it fails.
    """
    function = getattr(module, "example_inputs", None)
    if function is None:
        raise WeightsError(f"no inputs: give {option}, or write a function example_inputs() into {module.__name__}")
    try:
        made = function()
    except Exception as error:
        raise WeightsError(f"example_inputs() fails: {type(error).__name__}: {error}") from error
    if isinstance(made, dict):
        return Inputs(kwargs={key: _array(one) for key, one in made.items()})
    return Inputs([_array(one) for one in (made if isinstance(made, (list, tuple)) else [made])])


def _array(value: Any) -> Any:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return to_array("example_inputs()", value)
    if isinstance(value, (list, tuple)):
        return type(value)(_array(one) for one in value)
    if isinstance(value, dict):
        return {key: _array(one) for key, one in value.items()}
    return value


def compare(source: Mapping[str, Array], target: Mapping[str, Array]) -> Difference:
    """The worst difference of two models' outputs; they are taken in order if their places have other names.

    Raises:
        WeightsError: the models return other numbers of tensors, other shapes, or none.
    """
    if not source or len(source) != len(target):
        raise WeightsError(
            f"the outputs cannot be compared: {listed(list(source)) or 'none'} in the source, "
            f"{listed(list(target)) or 'none'} in the target"
        )
    by_name = source.keys() == target.keys()
    partners = [target[key] for key in source] if by_name else list(target.values())
    found = [_difference(key, one, other) for (key, one), other in zip(source.items(), partners, strict=True)]
    worst = max(
        found, key=lambda one: one.largest / one.scale if one.scale else one.largest * np.inf if one.largest else 0
    )
    return Difference(worst.where, worst.largest, worst.scale, len(found))


def _difference(where: str, source: Array, target: Array) -> Difference:
    if source.shape != target.shape:
        raise WeightsError(f"{where} has shape {list(source.shape)} in the source, {list(target.shape)} in the target")
    kind = np.complex128 if "complex" in source.dtype + target.dtype else np.float64
    one, other = source.numbers().astype(kind), target.numbers().astype(kind)
    same = (one == other) | (np.isnan(one) & np.isnan(other))  # infinities are the same if their signs are
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(one - other))
    apart = np.where(np.isnan(apart), np.inf, apart)
    finite = np.abs(one[np.isfinite(one)])
    return Difference(where, float(apart.max(initial=0.0)), float(finite.max(initial=0.0)), 1)
