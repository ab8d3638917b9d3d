"""Scaler state dicts of both frameworks, read, checked, and turned into each other without loss.

torch: ``scale`` float, ``growth_factor``, ``backoff_factor``, ``growth_interval``, ``_growth_tracker``.
Paddle: ``scale`` array of one float32, ``incr_ratio``, ``decr_ratio``, ``incr_every_n_steps``,
``decr_every_n_nan_or_inf``, ``incr_count``, ``decr_count``, ``use_dynamic_loss_scaling``.
(Read from torch 2.13 and Paddle 3.3.1; the same since torch 1.6 and Paddle 2.2.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paddletorch_rules import Framework, other_framework

from paddletorch_shim import checks

_KEYS: Mapping[Framework, Mapping[str, str]] = {
    "torch": {
        "scale": "scale",
        "growth_factor": "growth_factor",
        "backoff_factor": "backoff_factor",
        "growth_interval": "growth_interval",
        "_growth_tracker": "good",
    },
    "paddle": {
        "scale": "scale",
        "incr_ratio": "growth_factor",
        "decr_ratio": "backoff_factor",
        "incr_every_n_steps": "growth_interval",
        "decr_every_n_nan_or_inf": "backoff_interval",
        "incr_count": "good",
        "decr_count": "bad",
        "use_dynamic_loss_scaling": "dynamic",
    },
}
"""Each side's keys, in the order the framework writes them, and the field of ``ScalerState`` they hold."""


class StateConversionError(ValueError):
    """A state that the other framework cannot say. The message names the field and the way out."""


@dataclass(frozen=True, slots=True)
class ScalerState:
    """Everything that either framework saves of a scaler; the defaults are what torch always has."""

    scale: float
    growth_factor: float
    backoff_factor: float
    growth_interval: int
    good: int
    backoff_interval: int = 1
    bad: int = 0
    dynamic: bool = True


def kind(state: Mapping[str, Any]) -> Framework | None:
    """Whose scaler state this is; None if it is neither's."""
    for side in ("torch", "paddle"):
        if set(_KEYS[side]) <= set(state):
            return side
    return None


def read(side: Framework, state: Mapping[str, Any]) -> ScalerState:
    """Read and check ``side``'s scaler state dict.

    Raises:
        RuntimeError: the dict is empty, as a disabled scaler saves it.
        KeyError: keys are missing or unknown, or the dict is the other framework's.
        TypeError, ValueError: a value is not what a scaler can have saved.
    """
    if not isinstance(state, Mapping):
        raise TypeError(f"a scaler state must be a dict, got {type(state).__name__}")
    keys = _KEYS[side]
    if not state:
        raise RuntimeError(
            "The source state dict is empty, possibly because it was saved from a disabled instance of "
            "GradScaler. Save it from an enabled scaler, or do not load it."
        )
    other = other_framework(side)
    if kind(state) == other:
        raise KeyError(
            f"this is a state dict of {other}'s GradScaler, not of {side}'s: convert it with "
            f"paddletorch_shim.state.{other}_to_{side} or `paddletorch state convert IN OUT --to {side}`"
        )
    missing = [key for key in keys if key not in state]
    unknown = [str(key) for key in state if key not in keys]
    if missing or unknown:
        wrong = [f"missing {', '.join(missing)}"] * bool(missing) + [f"unknown {', '.join(unknown)}"] * bool(unknown)
        raise KeyError(f"{side} scaler state: {'; '.join(wrong)}; it must hold exactly {', '.join(keys)}")
    fields = {field: _value(side, key, field, state[key]) for key, field in keys.items()}
    return ScalerState(**fields)


def write(side: Framework, state: ScalerState) -> dict[str, Any]:
    """``state`` as ``side``'s dict, in plain Python values (Paddle's ``scale`` as a list of one float)."""
    plain = {key: getattr(state, field) for key, field in _KEYS[side].items()}
    return plain if side == "torch" else {**plain, "scale": [state.scale]}


def torch_to_paddle(state: Mapping[str, Any]) -> dict[str, Any]:
    """A torch scaler's ``state_dict()`` as ``paddle.amp.GradScaler.load_state_dict`` takes it.

    The scale becomes a numpy array of one float32. Everything that torch saves has a place in Paddle's dict.

    Raises:
        As ``read``.
    """
    import numpy

    plain = write("paddle", read("torch", state))
    return {**plain, "scale": numpy.asarray(plain["scale"], dtype=numpy.float32)}


def paddle_to_torch(state: Mapping[str, Any]) -> dict[str, Any]:
    """A Paddle scaler's ``state_dict()`` as ``torch.amp.GradScaler.load_state_dict`` takes it.

    Raises:
        StateConversionError: the state uses what torch's scaler lacks: static scaling, tolerated overflows.
        As ``read``.
    """
    known = read("paddle", state)
    if not known.dynamic:
        raise StateConversionError(
            "use_dynamic_loss_scaling is False and torch's scaler is always dynamic: keep the scale in torch "
            "with scaler.update(scale), or load the state into paddletorch_shim.torch.GradScaler"
        )
    if known.backoff_interval != 1:
        raise StateConversionError(
            f"decr_every_n_nan_or_inf is {known.backoff_interval} and torch's scaler backs off at every "
            "overflow: load the state into paddletorch_shim.torch.GradScaler, or set it to 1 before saving"
        )
    if known.bad:
        raise StateConversionError(
            f"decr_count is {known.bad} and torch's scaler has no such counter: save the state right after "
            "a finite step, or load it into paddletorch_shim.torch.GradScaler"
        )
    return write("torch", known)


def _value(side: Framework, key: str, field: str, value: Any) -> Any:
    if field == "scale":
        return checks.scale(key, _first(key, value))
    if field == "dynamic":
        return checks.switch(key, value, "it says whether the loss scale is dynamic")
    if field.endswith("_interval"):
        return (checks.integer_interval if side == "torch" else checks.interval)(key, value)
    if field.endswith("_factor"):
        return _factor(key, field, value)
    count = checks.number(key, value)
    if count < 0 or not count.is_integer():
        raise ValueError(f"{key} must be a count of steps, got {value!r}")
    return int(count)


def _factor(key: str, field: str, value: Any) -> float:
    try:
        check = checks.growth if field == "growth_factor" else checks.backoff
        return check(f"{key} is out of range.", key, value, allow_one=True)
    except AssertionError as error:
        raise ValueError(str(error)) from None


def _first(key: str, value: Any) -> float:
    """The number in a float, a list of one, or an array or tensor of one element of either framework."""
    if hasattr(value, "item") and hasattr(value, "shape"):
        if any(n != 1 for n in value.shape):
            raise ValueError(f"{key} must hold one number, got shape {tuple(value.shape)}")
        return float(value.item())
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        return _first(key, value[1])  # paddle.save writes a tensor as its name and an array
    if isinstance(value, (list, tuple)):
        if len(value) != 1:
            raise ValueError(f"{key} must hold one number, got {len(value)}")
        value = value[0]
    return checks.number(key, value)
