"""The part of a scaler that both frameworks share: per-optimizer stages, state on the device, pickling.

The order of calls is checked as both frameworks do, with their texts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import Any

from paddletorch_rules import Framework

from paddletorch_shim.backends import Backend, ScaleTensors, choose
from paddletorch_shim.policy import LossScaleRule, LossScaleState

UNSCALED_TWICE = (
    "unscale_() has already been called on this optimizer since the last update(). "
    "Call it once for each optimizer, after all its gradients are there, and call update() at the end."
)
UNSCALED_AFTER_STEP = "unscale_() is being called after step(). Call it before step(), or call update() first."
STEPPED_TWICE = (
    "step() has already been called since the last update(). "
    "Call update() once at the end of each iteration, after the last step()."
)


class Stage(Enum):
    """How far an optimizer is within the current iteration."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


@dataclass(slots=True)
class OptimizerRecord:
    """One optimizer's part of the current iteration. The reference keeps its ``id`` from being reused."""

    optimizer: Any
    stage: Stage = Stage.READY
    found_inf: Any = None
    """0-d float32 tensor, above zero if a gradient overflowed; None until the gradients were checked."""

    def require_unscalable(self) -> None:
        """Raise unless ``unscale_`` may be called now."""
        if self.stage is Stage.UNSCALED:
            raise RuntimeError(UNSCALED_TWICE)
        if self.stage is Stage.STEPPED:
            raise RuntimeError(UNSCALED_AFTER_STEP)

    def require_steppable(self) -> None:
        """Raise unless ``step`` may be called now."""
        if self.stage is Stage.STEPPED:
            raise RuntimeError(STEPPED_TWICE)


class ScalerCore(ABC):
    """A loss scaler on one framework's tensors, without an API of its own."""

    _framework: Framework

    def __init__(self, state: LossScaleState, backend: str | None, process_group: Any) -> None:
        self._backend: Backend = choose(self._framework, backend)
        self._host_state = state
        self._tensors: ScaleTensors | None = None
        self._records: dict[int, OptimizerRecord] = {}
        self._process_group = process_group

    @property
    def backend(self) -> str:
        """Name of the backend in use."""
        return self._backend.name

    @abstractmethod
    def _rule(self) -> LossScaleRule:
        """The rule under the current settings."""

    @abstractmethod
    def _gradients(self, optimizer: Any) -> list[Any]:
        """The dense gradient tensors of an optimizer, sparse ones as their values."""

    @abstractmethod
    def _agree(self, found_inf: Any) -> None:
        """Make ``found_inf`` the same on every rank of the process group, in place."""

    def _state(self) -> LossScaleState:
        return self._host_state if self._tensors is None else self._tensors.read()

    def _set_state(self, state: LossScaleState) -> None:
        self._host_state = state
        if self._tensors is not None:
            self._backend.write(self._tensors, state)

    def _tensors_on(self, device: Any) -> ScaleTensors:
        """The state's tensors; they are placed at the first call, on ``device``."""
        if self._tensors is None:
            self._tensors = self._backend.place(self._host_state, device)
        return self._tensors

    def _record(self, optimizer: Any) -> OptimizerRecord:
        record = self._records.get(id(optimizer))
        if record is None:
            record = self._records[id(optimizer)] = OptimizerRecord(optimizer)
        return record

    def _unscale(self, record: OptimizerRecord) -> int:
        """Unscale in place and record whether anything overflowed; the number of gradients."""
        grads = self._gradients(record.optimizer)
        tensors = self._tensors_on(grads[0].device if grads and self._framework == "torch" else None)
        record.found_inf = self._backend.unscale_(grads, tensors.scale)
        if self._process_group is not None:
            self._agree(record.found_inf)
        record.stage = Stage.UNSCALED
        return len(grads)

    def __getstate__(self) -> dict[str, Any]:
        if self._records:
            raise AssertionError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, "
                "or at the end after scaler.update()."
            )
        if self._process_group is not None:
            raise TypeError("a GradScaler with a process_group cannot be pickled; save its state_dict() instead")
        return {
            **self.__dict__,
            "_backend": self._backend.name,
            "_host_state": self._state(),
            "_tensors": None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _backend=choose(self._framework, state["_backend"]))
