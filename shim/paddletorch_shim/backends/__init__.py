"""Where a scaler's arithmetic runs: one small interface, several implementations, chosen by name.

A backend works on one framework's tensors. It holds no state of its own: the scale and the counters live in
the tensors of a ``ScaleTensors``, on the device, so that a backend can update them without the host.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from paddletorch_rules import Framework

from paddletorch_shim.policy import LossScaleRule, LossScaleState

ENVIRONMENT_VARIABLE = "PADDLETORCH_BACKEND"

_MODULES: Mapping[Framework, Mapping[str, str]] = {
    "torch": {
        "native": "paddletorch_shim.backends.torch_native",
        "reference": "paddletorch_shim.backends.torch_reference",
    },
    "paddle": {
        "native": "paddletorch_shim.backends.paddle_native",
        "reference": "paddletorch_shim.backends.paddle_reference",
    },
}
"""Backend names by framework, the best first; each module has a class ``Backend``."""


@dataclass(slots=True)
class ScaleTensors:
    """Scale and counters on a device: 0-d tensors of float32, int32 and int32, changed in place only.

    ``bad_is_zero`` is what the host knows without a look: True only if ``bad`` certainly is 0.
    """

    scale: Any
    good: Any
    bad: Any
    bad_is_zero: bool

    def read(self) -> LossScaleState:
        """The values on the host; waits for the device."""
        return LossScaleState(float(self.scale.item()), int(self.good.item()), int(self.bad.item()))


class Backend(Protocol):
    """What a scaler needs done with tensors. ``found_inf`` is a 0-d float32 tensor, 0.0 or above."""

    name: str

    def place(self, state: LossScaleState, device: Any) -> ScaleTensors:
        """The state as tensors on ``device`` (None: the framework's current one)."""

    def write(self, tensors: ScaleTensors, state: LossScaleState) -> None:
        """Set the tensors in place."""

    def unscale_(self, grads: Sequence[Any], scale: Any) -> Any:
        """Multiply every gradient by 1 / ``scale`` in place; found_inf on the scale's device.

        The gradients are dense, of any floating dtype and device; the check is on the scaled values, and
        the multiplication is done everywhere even where an infinity is found.
        """

    def update_(self, tensors: ScaleTensors, found_inf: Any, rule: LossScaleRule) -> None:
        """Apply the rule to the tensors in place."""


class BackendError(RuntimeError):
    """A backend that is unknown or cannot work here."""


def names(framework: Framework) -> tuple[str, ...]:
    """The backends that exist for ``framework``, the best first."""
    return tuple(_MODULES[framework])


def choose(framework: Framework, name: str | None = None) -> Backend:
    """The backend called ``name``, else the one ``PADDLETORCH_BACKEND`` names, else the best that works here.

    Raises:
        BackendError: the name is unknown, or that backend cannot work in this environment.
    """
    asked, origin = (
        (name, "backend") if name is not None else (os.environ.get(ENVIRONMENT_VARIABLE), ENVIRONMENT_VARIABLE)
    )
    if asked:
        if asked not in _MODULES[framework]:
            known = ", ".join(names(framework))
            raise BackendError(f"{origin}={asked!r}: no such backend for {framework} tensors; choose from {known}")
        return _make(framework, asked)
    for candidate in names(framework):
        try:
            return _make(framework, candidate)
        except BackendError:
            continue
    raise BackendError(f"no backend for {framework} tensors works here")


def _make(framework: Framework, name: str) -> Backend:
    backend: Backend = import_module(_MODULES[framework][name]).Backend()
    return backend
