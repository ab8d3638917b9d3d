"""Launches of the fused backend's kernels, for either framework: everything goes in as addresses and numbers."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

from paddletorch_shim.backends import BackendError
from paddletorch_shim.backends.table import Table
from paddletorch_shim.policy import LossScaleRule, float32

BLOCK = 2048
"""Elements that a program handles at once: 4 a thread, so that each loads 16 bytes of float32 at a time."""

OPTIONS = {"num_warps": 16, "enable_fp_fusion": True}

_SMALL = {"num_warps": 1, "enable_fp_fusion": True}

_INT32_MAX = 2**31 - 1


def interpreter_asked() -> bool:
    """Whether the user wants Triton's interpreter, which runs kernels on the CPU."""
    return os.environ.get("TRITON_INTERPRET", "").lower() in ("1", "true", "on", "yes", "y")


def require_triton() -> None:
    """Raise BackendError unless Triton and numpy are installed; imports neither."""
    missing = [name for name in ("triton", "numpy") if find_spec(name) is None]
    if missing:
        raise BackendError(f"backend 'fused' needs {' and '.join(missing)}: pip install 'paddletorch[cuda]'")


@dataclass(frozen=True, slots=True)
class StateAddresses:
    """Where scale (float32), counters (int32) and the 12 bytes for their previous values are."""

    scale: int
    good: int
    bad: int
    previous: int


class Kernels:
    """The kernels on one framework's current device and stream.

    Args:
        active: makes Triton launch there for the length of a launch.
        block: elements at once, a power of two.
    """

    def __init__(self, active: Callable[[], AbstractContextManager[Any]] = nullcontext, block: int = BLOCK) -> None:
        import numpy
        import triton

        interpreted = interpreter_asked()
        # Triton decides when it is imported, and again for each kernel.
        if interpreted == isinstance(triton.language.sum, triton.JITFunction):
            raise BackendError("backend 'fused': TRITON_INTERPRET must be set before triton is imported, and stay")
        from paddletorch_shim.backends import sweep

        self._source = sweep
        # The interpreter computes with numpy, which would warn of every infinity.
        self._active = partial(numpy.errstate, all="ignore") if interpreted else active
        self._block = block

    def sweep(
        self,
        table: Table,
        found: int,
        state: StateAddresses,
        *,
        write: bool,
        rule: LossScaleRule | None = None,
        clipping: int = 0,
        max_norm: float = 0.0,
    ) -> None:
        """Check, and what else is asked for; ``clipping`` is an address of 12 bytes or 0 for no norm."""
        with self._active():
            self._source.sweep[(table.programs,)](
                table.address,
                state.scale,
                found,
                *_state_and_rule(state, rule or _NO_RULE),
                clipping,
                max_norm,
                BLOCK=self._block,
                WRITE=write,
                NORM=clipping != 0,
                RULE=rule is not None,
                GUARD=rule is not None and rule.growth_guard,
                **OPTIONS,
            )

    def unscale_and_clip(self, table: Table, scale: int, clipping: int) -> None:
        """Multiply by 1 / scale and by the clip coefficient that a sweep left at ``clipping``."""
        with self._active():
            self._source.unscale_and_clip[(table.programs,)](
                table.address, scale, clipping, BLOCK=self._block, **OPTIONS
            )

    def advance(self, found: int, state: StateAddresses, rule: LossScaleRule) -> None:
        """The rule alone."""
        with self._active():
            self._source.advance[(1,)](
                found, state.scale, *_state_and_rule(state, rule), GUARD=rule.growth_guard, **_SMALL
            )

    def rewind(self, state: StateAddresses) -> None:
        """Put the state back to what it was before the last rule."""
        with self._active():
            self._source.rewind[(1,)](state.scale, state.good, state.bad, state.previous, **_SMALL)


_NO_RULE = LossScaleRule(1.0, 1.0, 0, 0)


def _state_and_rule(state: StateAddresses, rule: LossScaleRule) -> tuple[int | float, ...]:
    growth, backoff = rule.growth_factor, rule.backoff_factor
    if rule.float32_factors:
        growth, backoff = float32(growth), float32(backoff)
    return (
        state.good,
        state.bad,
        state.previous,
        _bits(growth),
        _bits(backoff),
        rule.min_scale,
        min(rule.growth_interval, _INT32_MAX),
        min(rule.backoff_interval, _INT32_MAX),
    )


def _bits(value: float) -> int:
    bits: int = struct.unpack("q", struct.pack("d", value))[0]
    return bits
