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
        "fused": "paddletorch_shim.backends.torch_fused",
        "native": "paddletorch_shim.backends.torch_native",
        "reference": "paddletorch_shim.backends.torch_reference",
    },
    "paddle": {
        "fused": "paddletorch_shim.backends.paddle_fused",
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


@dataclass(frozen=True, slots=True)
class Checked:
    """What a launch found: 0-d float32 tensors. ``scale`` is the one that the gradients carry."""

    found_inf: Any
    scale: Any


@dataclass(frozen=True, slots=True)
class Clipping:
    """What a launch found for clipping: 0-d float32 tensors, and ``factors``, the backend's own.

    ``grad_scale`` is the scale over the clip coefficient: dividing by it unscales and clips.
    """

    found_inf: Any
    norm: Any
    grad_scale: Any
    factors: Any


class OneLaunch(Protocol):
    """What a backend can do beyond ``Backend`` when all gradients are within its reach; None where they are not."""

    def check_(
        self, grads: Sequence[Any], tensors: ScaleTensors, rule: LossScaleRule | None, *, write: bool
    ) -> Checked | None:
        """Check, unscale in place if ``write``, and apply the rule to the tensors if there is one."""

    def rewind_(self, tensors: ScaleTensors) -> None:
        """Put the tensors back to what they were before the last ``check_`` with a rule."""

    def norm(self, grads: Sequence[Any], tensors: ScaleTensors, max_norm: float) -> Clipping | None:
        """Check, and take the norm of the unscaled gradients, without writing to them."""

    def clip_(self, grads: Sequence[Any], tensors: ScaleTensors, clipping: Clipping) -> None:
        """Unscale and clip in place, after ``norm`` of the same gradients."""

    def capturing(self) -> bool:
        """Whether launches are being captured into a graph instead of run."""


class Backend(Protocol):
    """What a scaler needs done with tensors. ``found_inf`` is a 0-d float32 tensor, 0.0 or above."""

    name: str
    automatic: bool
    """Whether it may be taken without being asked for."""
    one_launch: OneLaunch | None

    def place(self, state: LossScaleState, device: Any) -> ScaleTensors:
        """The state as tensors on ``device`` (None: the framework's current one).

        Raises:
            BackendError: the backend turns out not to work there.
        """

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
    asked = asked_for(name)
    if asked:
        if asked not in _MODULES[framework]:
            origin = "backend" if name is not None else ENVIRONMENT_VARIABLE
            known = ", ".join(names(framework))
            raise BackendError(f"{origin}={asked!r}: no such backend for {framework} tensors; choose from {known}")
        return _make(framework, asked)
    return _best(framework, names(framework))


def asked_for(name: str | None) -> str | None:
    """The backend that the program or the environment asks for; None leaves the choice to ``choose``."""
    return name if name is not None else os.environ.get(ENVIRONMENT_VARIABLE)


def after(framework: Framework, failed: str) -> Backend:
    """The best backend below one that turned out not to work."""
    known = names(framework)
    return _best(framework, known[known.index(failed) + 1 :])


def _best(framework: Framework, candidates: Sequence[str]) -> Backend:
    for candidate in candidates:
        try:
            backend = _make(framework, candidate)
        except BackendError:
            continue
        if backend.automatic:
            return backend
    raise BackendError(f"no backend for {framework} tensors works here")


def _make(framework: Framework, name: str) -> Backend:
    try:
        module = import_module(_MODULES[framework][name])
    except ImportError as error:  # numpy, or something that this torch or Paddle lacks
        raise BackendError(f"backend {name!r} cannot be imported: {error}") from error
    backend: Backend = module.Backend()
    return backend
