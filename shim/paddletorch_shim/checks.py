"""Checks of the scalers' arguments: a wrong one raises before anything has changed.

What a constructor is given raises where the emulated framework's does: torch looks at some of it at the first
``scale()`` or ``update()`` only. What the frameworks take, and compute nothing but nonsense with, raises at once.
"""

from __future__ import annotations

import decimal
import math
import numbers
import operator
import sys
from collections.abc import Callable
from typing import Any

from paddletorch_shim.policy import float32

_LONGEST = 2**63 - 1
_LARGEST = sys.float_info.max


def switch(name: str, value: Any, way_out: str) -> bool:
    """An on/off argument. Numbers other than 0 and 1 are refused: they are a scale in the wrong place."""
    if value is None or isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise TypeError(f"{name} must be a bool, got {value!r}: {way_out}")


def truth(name: str, value: Any, way_out: str) -> bool:
    """An on/off argument of a constructor: what Python takes it for, but numbers as for :func:`switch`."""
    if isinstance(value, numbers.Number) and not (isinstance(value, numbers.Integral) and value in (0, 1)):
        raise TypeError(f"{name} must be a bool, got {value!r}: {way_out}")
    return bool(value)


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
    """A loss scale as Paddle takes it: it makes an array of it, so that "8" is 8.0 and another text a ValueError."""
    if value is None:
        raise ValueError(f"{name} must be a positive number, got None; 65536.0 is the usual start")
    if isinstance(value, (str, bytes, bool, decimal.Decimal)) or _is_flag(value):
        try:
            return scale(name, float(value))
        except ValueError:
            raise ValueError(f"{name} must be a positive number, got {value!r}; 65536.0 is the usual start") from None
    return scale(name, _item(value))


def scale_placed_later(name: str, value: Any) -> Any:
    """torch's initial scale, which it makes a tensor of at the first ``scale()``: what fails then is kept as it is."""
    if _is_flag(value):
        value = float(value)
    try:
        fails = not _is_torch_number(value) or (math.isfinite(value) and math.isinf(float32(value)))
    except OverflowError:
        return value
    return value if fails else scale(name, value)


def placed_scale(name: str, value: Any) -> None:
    """Raise what torch raises where it makes a tensor of the initial scale."""
    if not _is_torch_number(value):
        raise TypeError(f"{name} must be a number, got {type(value).__name__} {value!r}")
    if math.isinf(float32(float(value))):  # a whole number past float64 is an OverflowError already
        raise RuntimeError(f"{name} must be within the range of float32, got {value!r}; 65536.0 is the usual start")


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
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be int, not {type(value).__name__}: {value!r}")
    return interval(name, int(value))


def interval_used_later(value: Any) -> Any:
    """torch's interval, whose type it looks at in ``update()``: what fails there is kept as it is."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or operator.index(value) > _LONGEST:
        return value
    return integer_interval("growth_interval", value)


def used_interval(value: Any) -> int:
    """The interval where torch uses it."""
    if isinstance(value, numbers.Integral) and operator.index(value) > _LONGEST:
        raise ValueError(f"growth_interval must be at most 2**63 - 1, got {value!r}")
    return integer_interval("growth_interval", value)


def growth_used_later(text: str, name: str, value: Any) -> Any:
    """torch's growth factor, which it only compares at first: what fails in ``update()`` is kept as it is."""
    if _compared(name, value, operator.le):
        raise AssertionError(f"{text} Got {value!r}; 2.0 is the usual value.")
    too_large = isinstance(value, numbers.Integral) and operator.index(value) > _LARGEST
    return growth(text, name, value) if _is_torch_number(value) and not too_large else value


def backoff_used_later(text: str, name: str, value: Any) -> Any:
    """torch's backoff factor, as :func:`growth_used_later`."""
    if _compared(name, value, operator.ge):
        raise AssertionError(f"{text} Got {value!r}; 0.5 is the usual value.")
    if _is_flag(value):
        value = float(value)
    return backoff(text, name, value) if _is_torch_number(value) else value


def used_factor(name: str, value: Any) -> float:
    """A factor where torch uses it."""
    if not _is_torch_number(value):
        raise TypeError(f"{name} must be a number, got {type(value).__name__} {value!r}")
    return float(value)


def compared_growth(text: str, name: str, value: Any) -> float:
    """Paddle's growth factor: a bool and an array of one number are compared as numbers."""
    if not _compared(name, value, operator.gt):
        raise AssertionError(f"{text} Got {value!r}; 2.0 is the usual value.")
    return growth(text, name, _item(value))


def compared_backoff(text: str, name: str, value: Any) -> float:
    """Paddle's backoff factor, as :func:`compared_growth`."""
    if not _compared(name, value, operator.lt):
        raise AssertionError(f"{text} Got {value!r}; 0.5 is the usual value.")
    return backoff(text, name, float(value) if _is_flag(value) else _item(value))


def counted_interval(name: str, value: Any) -> int:
    """Paddle's interval, which it compares with a counter: True is 1."""
    return interval(name, int(value) if _is_flag(value) else _item(value))


def _compared(name: str, value: Any, how: Callable[[Any, Any], Any]) -> bool:
    try:
        return bool(how(value, 1.0))
    except TypeError:
        raise TypeError(f"{name} must be a number, got {type(value).__name__} {value!r}") from None


def _is_flag(value: Any) -> bool:
    """Whether it is a bool, of Python or NumPy."""
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _is_torch_number(value: Any) -> bool:
    """Whether torch takes it for a float: a fraction is none."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and (isinstance(value, numbers.Integral) or not isinstance(value, numbers.Rational))


def _item(value: Any) -> Any:
    """The number in an array without axes; any other value as it is."""
    if isinstance(value, decimal.Decimal):
        return float(value)
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


def growth(text: str, name: str, value: Any, *, allow_one: bool = False) -> float:
    """A growth factor above 1 (or from 1 on); ``text`` is what the emulated framework says."""
    try:
        given = number(name, value)
    except OverflowError:  # a whole number past float64
        given = math.inf
    if not (1.0 < given < math.inf or (allow_one and given == 1.0)):
        raise AssertionError(f"{text} Got {value!r}; 2.0 is the usual value.")
    return given


def backoff(text: str, name: str, value: Any, *, allow_one: bool = False) -> float:
    """A backoff factor between 0 and 1 (or up to 1); ``text`` is what the emulated framework says."""
    given = number(name, value)
    if not (0.0 < given < 1.0 or (allow_one and given == 1.0)):
        raise AssertionError(f"{text} Got {value!r}, and it must be > 0.0; 0.5 is the usual value.")
    return given
