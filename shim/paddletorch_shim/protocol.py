"""The part of a scaler that both frameworks share: per-optimizer stages, state on the device, pickling.

The order of calls is checked as both frameworks do, with their texts.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import Any

from paddletorch_rules import Framework

from paddletorch_shim.backends import Backend, BackendError, Clipping, ScaleTensors, after, asked_for, choose
from paddletorch_shim.policy import LossScaleRule, LossScaleState

_log = logging.getLogger(__name__)

UNSCALED_TWICE = (
    "unscale_() has already been called on this optimizer since the last update(). "
    "Call it once for each optimizer, after all its gradients are there, and call update() at the end."
)
UNSCALED_AFTER_STEP = "unscale_() is being called after step(). Call it before step(), or call update() first."
STEPPED_TWICE = (
    "step() has already been called since the last update(). "
    "Call update() once at the end of each iteration, after the last step()."
)

CAPTURED_APART = (
    "One of step() and update() is being captured into a CUDA graph and the other is not. "
    "Capture both or none: with one optimizer they are a single launch."
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
    grad_scale: Any = None
    """0-d float32 tensor by which the optimizer must divide its gradients; None if they are unscaled."""

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
        self._asked_for_backend = asked_for(backend) is not None
        self._ahead: LossScaleRule | None = None
        """The rule by which the last check has already advanced the tensors; update() has yet to confirm it."""
        self._ahead_captured = False
        self._looks_ahead = True
        """Whether checks may do that: until a program does something else between a step and its update."""

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
        self._settle()
        return self._host_state if self._tensors is None else self._tensors.read()

    def _set_state(self, state: LossScaleState) -> None:
        self._settle()
        self._host_state = state
        if self._tensors is not None:
            self._backend.write(self._tensors, state)

    def _tensors_on(self, device: Any) -> ScaleTensors:
        """The state's tensors; they are placed at the first call, on ``device``."""
        self._settle()
        if self._tensors is None:
            try:
                self._tensors = self._backend.place(self._host_state, device)
            except BackendError as error:
                if self._asked_for_backend:
                    raise
                self._backend = after(self._framework, self._backend.name)
                _log.warning("%s: using %r", error, self._backend.name)
                self._tensors = self._backend.place(self._host_state, device)
        return self._tensors

    def _settle(self) -> None:
        """Undo an update that was made ahead and did not come."""
        if self._ahead is not None:
            one_launch, tensors = self._backend.one_launch, self._tensors
            assert one_launch is not None and tensors is not None
            self._ahead = None
            self._looks_ahead = False
            one_launch.rewind_(tensors)

    def _record(self, optimizer: Any) -> OptimizerRecord:
        record = self._records.get(id(optimizer))
        if record is None:
            record = self._records[id(optimizer)] = OptimizerRecord(optimizer)
        return record

    def _gradients_and_tensors(self, record: OptimizerRecord) -> tuple[list[Any], ScaleTensors]:
        grads = self._gradients(record.optimizer)
        return grads, self._tensors_on(grads[0].device if grads and self._framework == "torch" else None)

    def _unscale(self, record: OptimizerRecord) -> int:
        """Unscale in place and record whether anything overflowed; the number of gradients."""
        grads, tensors = self._gradients_and_tensors(record)
        self._set_found(record, self._backend.unscale_(grads, tensors.scale))
        return len(grads)

    def _check_for_step(self, record: OptimizerRecord, *, folds: bool) -> int:
        """``_unscale`` just before a step, in one launch with the rule where that can be; the number of gradients.

        Args:
            folds: the optimizer divides by a ``grad_scale`` itself: leave the gradients scaled if possible.
        """
        one_launch = self._backend.one_launch
        if one_launch is None:
            return self._unscale(record)
        grads, tensors = self._gradients_and_tensors(record)
        rule = self._rule()
        alone = self._looks_ahead and self._process_group is None and len(self._records) == 1 and rule.dynamic
        checked = one_launch.check_(grads, tensors, rule if alone else None, write=not folds)
        if checked is None:
            self._set_found(record, self._backend.unscale_(grads, tensors.scale))
            return len(grads)
        self._set_found(record, checked.found_inf)
        if folds:
            record.grad_scale = checked.scale
        if alone:
            self._ahead, self._ahead_captured = rule, one_launch.capturing()
        return len(grads)

    def _norm_for_step(self, record: OptimizerRecord, grads: list[Any], max_norm: float, *, folds: bool) -> Any:
        """The norm of the unscaled gradients, which are clipped to it, as a 0-d tensor; None if not in one pass.

        Args:
            folds: the optimizer divides by a ``grad_scale`` itself: leave the gradients as they are.
        """
        one_launch = self._backend.one_launch
        if one_launch is None or self._process_group is not None or not grads:
            return None
        tensors = self._tensors_on(grads[0].device if self._framework == "torch" else None)
        clipping: Clipping | None = one_launch.norm(grads, tensors, max_norm)
        if clipping is None:
            return None
        if folds:
            record.grad_scale = clipping.grad_scale
        else:
            one_launch.clip_(grads, tensors, clipping)
        self._set_found(record, clipping.found_inf)
        return clipping.norm

    def _set_found(self, record: OptimizerRecord, found_inf: Any) -> None:
        record.found_inf = found_inf
        if self._process_group is not None:
            self._agree(found_inf)
        record.stage = Stage.UNSCALED

    def _advance(self, found_inf: Any) -> None:
        """Let the state follow the iteration's overflows."""
        rule = self._rule()
        if self._ahead is not None:
            one_launch = self._backend.one_launch
            assert one_launch is not None
            if one_launch.capturing() != self._ahead_captured:
                raise RuntimeError(CAPTURED_APART)
            if rule == self._ahead:
                self._ahead = None
                return
        self._backend.update_(self._tensors_on(None), found_inf, rule)

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
