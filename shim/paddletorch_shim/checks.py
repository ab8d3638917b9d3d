"""Checks of the scalers' arguments: a wrong one raises before anything has changed."""

from __future__ import annotations

import math
import numbers
from typing import Any

from paddletorch_shim.policy import float32


def switch(name: str, value: Any, way_out: str) -> bool:
    """An on/off argument. Numbers other than 0 and 1 are refused: they are a scale in the wrong place."""
    if value is None or isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise TypeError(f"{name} must be a bool, got {value!r}: {way_out}")


def number(name: str, value: Any) -> float:
    """A real number, as a float."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {type(value).__name__} {value!r}")
    return float(value)


def scale(name: str, value: Any) -> float:
    """A loss scale: positive and finite, also once it is rounded to float32."""
    given = number(name, value)
    if not (math.isfinite(float32(given)) and float32(given) > 0.0):
        raise ValueError(
            f"{name} must be a positive number within the range of float32, got {value!r}; "
            "65536.0 is the usual start, 1.0 scales nothing"
        )
    return given


def array_scale(name: str, value: Any) -> float:
    """A loss scale as Paddle takes it: it makes an array of it, so that a text is a ValueError."""
    if value is None or isinstance(value, str):
        raise ValueError(f"{name} must be a positive number, got {value!r}; 65536.0 is the usual start")
    return scale(name, value)


def floor(name: str, value: Any, initial: float) -> float:
    """The least loss scale: 0 (none) up to the initial scale, which an overflow must not raise."""
    given = number(name, value)
    if not 0.0 <= given <= initial:
        raise ValueError(f"{name} must be from 0.0 (no floor) to the initial scale {initial!r}, got {value!r}")
    return given


def interval(name: str, value: Any) -> int:
    """A number of steps, at least 1, as Paddle takes it: 2.0 is 2."""
    given = number(name, value)
    if not given.is_integer():  # Paddle counts past it, and the scale never changes
        raise ValueError(f"{name} must be a whole number of steps, got {value!r}")
    if given < 1:
        raise ValueError(
            f"{name} must be at least 1, got {value!r}; a very large interval such as 2**31 - 1 turns it off"
        )
    return int(given)


def integer_interval(name: str, value: Any) -> int:
    """A number of steps, at least 1, as torch takes it: an integer, and 2.0 is none."""
    if not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be int, not {type(value).__name__}: {value!r}")
    return interval(name, int(value))


def growth(text: str, name: str, value: Any, *, allow_one: bool = False) -> float:
    """A growth factor above 1 (or from 1 on); ``text`` is what the emulated framework says."""
    given = number(name, value)
    if not (1.0 < given < math.inf or (allow_one and given == 1.0)):
        raise AssertionError(f"{text} Got {value!r}; 2.0 is the usual value.")
    return given


def backoff(text: str, name: str, value: Any, *, allow_one: bool = False) -> float:
    """A backoff factor between 0 and 1 (or up to 1); ``text`` is what the emulated framework says."""
    given = number(name, value)
    if not (0.0 < given < 1.0 or (allow_one and given == 1.0)):
        raise AssertionError(f"{text} Got {value!r}, and it must be > 0.0; 0.5 is the usual value.")
    return given
