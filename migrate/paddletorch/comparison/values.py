"""Inputs that a case describes, the tensors in what a model gives, and a loss of them."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from paddletorch.comparison.sides import Side


def inputs_of(texts: list[str], seed: int, mode: str) -> list[Any]:
    """Arrays and plain values for ``["normal:2x3x8x8", "int:2x16<50", "=4", "file:weight.npy"]``."""
    random = np.random.default_rng(seed)
    return [_input(text, random, mode) for text in texts]


def _input(text: str, random: np.random.Generator, mode: str) -> Any:
    if text.startswith("="):
        return ast.literal_eval(text[1:])
    if text.startswith("["):
        return [_input(one.strip(), random, mode) for one in text[1:-1].split(",") if one.strip()]
    if text.startswith("("):
        return tuple(_input(one.strip(), random, mode) for one in text[1:-1].split(",") if one.strip())
    if text.startswith("{"):
        pairs = (one.strip().split("@") for one in text[1:-1].split(",") if one.strip())
        return {key: _input(value, random, mode) for key, value in pairs}
    kind, _, size = text.partition(":")
    if kind in ("file", "fixed file"):
        held = np.load(size)
        return fixed_values(held.astype(mode) if held.dtype.kind == "f" else held, kind == "fixed file")
    size, _, bound = size.partition("<")
    shape = tuple(int(n) for n in size.split("x")) if size else ()
    if kind in ("normal", "target"):
        return fixed_values(random.standard_normal(shape).astype(mode), kind == "target")
    if kind in ("unit", "unit target"):
        return fixed_values(random.uniform(0.02, 0.98, shape).astype(mode), kind == "unit target")
    if kind == "int":
        return random.integers(0, int(bound or 5), shape).astype(np.int64)
    if kind == "int32":
        return random.integers(0, int(bound or 5), shape).astype(np.int32)
    if kind == "bool":
        return random.random(shape) < 0.7
    if kind == "true":
        return np.ones(shape, bool)
    if kind == "onehot":
        return np.eye(shape[-1], dtype=mode)[random.integers(0, shape[-1], shape[:-1])]
    raise ValueError(f"no input is called {kind!r}")


class FixedValues(np.ndarray[Any, Any]):
    """Numbers that no gradient is asked for, such as what a loss compares with."""


def fixed_values(values: np.ndarray[Any, Any], fixed: bool) -> np.ndarray[Any, Any]:
    return values.view(FixedValues) if fixed else values


def placed_on(side: Side, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return side.tensor(np.asarray(value), value.dtype.kind == "f" and not isinstance(value, FixedValues))
    if isinstance(value, (list, tuple)):
        return type(value)(placed_on(side, one) for one in value)
    if isinstance(value, dict):
        return {key: placed_on(side, one) for key, one in value.items()}
    return value


class NoTensorError(ValueError):
    """What a model returned has parts that cannot be compared."""


def leaves(side: Side, value: Any, where: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Tensors and numbers in what a model returned, with their place.

    Raises:
        NoTensorError: something of another kind is there.
    """
    if side.is_tensor(value):
        yield where or "output", value
    elif isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)):
        yield where or "output", np.asarray(value)
    elif value is None or isinstance(value, (str, bytes)):
        return
    elif depth > 6:
        raise NoTensorError(f"{where} is nested too deeply")
    elif isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield from leaves(side, value[key], f"{where}.{key}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for number, one in enumerate(value):
            yield from leaves(side, one, f"{where}[{number}]", depth + 1)
    elif dataclasses.is_dataclass(value):
        for entry in dataclasses.fields(value):
            yield from leaves(side, getattr(value, entry.name), f"{where}.{entry.name}", depth + 1)
    else:
        raise NoTensorError(f"{where or 'the output'} is a {type(value).__name__}")


def arrays_of(side: Side, found: list[tuple[str, Any]]) -> list[tuple[str, np.ndarray[Any, Any]]]:
    return [(where, one if isinstance(one, np.ndarray) else side.array(one)) for where, one in found]


def loss_of(side: Side, found: list[tuple[str, Any]], square: bool = False) -> Any:
    """A number that all differentiable outputs have a part in, each value with another weight."""
    total = None
    for _, one in found:
        if not side.is_tensor(one) or not side.differentiable(one):
            continue
        one = side.real(one)
        if square:
            part = (one * one).mean()
        else:
            size = int(np.prod(one.shape))
            values = (np.cos(np.arange(size) * 0.7 + 1) / max(size, 1) ** 0.5).reshape(tuple(one.shape))
            part = (
                (one * side.tensor(values, False).astype(one.dtype)).sum()
                if side.name == "paddle"
                else (one * side.tensor(values, False).to(one.dtype)).sum()
            )
        total = part if total is None else total + part
    return total
