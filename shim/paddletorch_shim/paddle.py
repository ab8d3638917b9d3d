"""``torch.amp.GradScaler`` on Paddle tensors and optimizers: torch's API, torch's meaning.

``autocast``, ``custom_fwd`` and ``custom_bwd`` with torch's meaning are here too.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import paddle

from paddletorch_shim import checks, distributed, names, state
from paddletorch_shim.autocast import autocast, custom_bwd, custom_fwd
from paddletorch_shim.backends import ScaleTensors
from paddletorch_shim.policy import LossScaleRule, LossScaleState
from paddletorch_shim.protocol import OptimizerRecord, ScalerCore, Stage
from paddletorch_shim.torch_args import torch_args

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "torch_args"]

_CALL_SCALE_FIRST = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
_NEW_SCALE = "new_scale should be a float or a 1-element float paddle.Tensor with stop_gradient=True."


class GradScaler(ScalerCore):
    """torch's loss scaler for Paddle code. Works on every place, the CPU too, whatever autocast's dtype is.

    Each optimizer keeps its own overflow, one overflow anywhere lowers the scale, float64, bfloat16 and
    sparse gradients are unscaled and checked, growth past float32 keeps the scale, and a ``found_inf`` that
    another scaler left on the optimizer does not block its steps.

    Args:
        device: taken for torch's sake; the scaler follows its tensors.
        init_scale: the scale to start from, positive and finite.
        growth_factor: factor above 1 by which the scale grows.
        backoff_factor: factor below 1 by which it shrinks at an overflow.
        growth_interval: finite steps in a row before it grows.
        enabled: scale at all; a disabled scaler passes everything through.
        min_scale: the scale never shrinks below it (the shim's own; torch has no floor).
        backend: where the arithmetic runs, see ``paddletorch_shim.backends``; None chooses.
        process_group: a ``paddle.distributed`` group whose ranks step or skip together.

    Paddle's spellings (``init_loss_scaling``, ``incr_ratio``, ``enable`` …) are taken as well.

    Unlike torch's, a scaler for ``"cuda"`` does not turn itself off where there is no CUDA device.

    Raises:
        TypeError, ValueError, AssertionError: an argument is wrong; nothing has changed then.
    """

    _framework = "paddle"
    __signature__ = names.signature("torch")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = names.bind("torch", args, kwargs)
        if isinstance(given["device"], numbers.Number):
            raise TypeError(
                f"device must be a str such as 'cuda', got {given['device']!r}: a loss scale goes to init_scale="
            )
        self._enabled = checks.truth("enabled", given["enabled"], "a loss scale goes to init_scale=")
        init_scale = 1.0
        if self._enabled:
            self._growth_factor: float = checks.growth_used_later(
                "The growth factor must be > 1.0.", "growth_factor", given["growth_factor"]
            )
            self._backoff_factor: float = checks.backoff_used_later(
                "The backoff factor must be < 1.0.", "backoff_factor", given["backoff_factor"]
            )
            self._growth_interval: int = checks.interval_used_later(given["growth_interval"])
            init_scale = checks.scale_placed_later("init_scale", given["init_scale"])
        highest = init_scale if isinstance(init_scale, float) else math.inf
        self._min_scale = checks.floor("min_scale", given["min_scale"], highest) if self._enabled else 0.0
        super().__init__(LossScaleState(init_scale), given["backend"], given["process_group"])

    # ------------------------------------------------------------------ one iteration

    def scale(self, outputs: Any) -> Any:
        """Multiply a tensor, or every tensor in nested lists, tuples and iterables, by the scale.

        Dtypes and shapes are torch's: a tensor with dimensions keeps its floating dtype, a 0-d one of less
        than float32 becomes float32, integers become float32, and a 0-d tensor stays 0-d.

        Raises:
            ValueError: something in it is neither a tensor nor an iterable.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, paddle.Tensor):
            return _times(outputs, self._tensors_on(None).scale)
        if isinstance(outputs, Iterable) and not isinstance(outputs, (str, bytes)):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError(f"outputs must be a Tensor or an iterable of Tensors, got {type(outputs).__name__}")

    def unscale_(self, optimizer: paddle.optimizer.Optimizer) -> None:
        """Divide the optimizer's gradients by the scale in place, and note whether any is infinite or NaN.

        Raises:
            AssertionError: nothing was scaled yet.
            RuntimeError: called twice for one optimizer, or after its step.
            ValueError: a gradient is float16.
        """
        if not self._enabled:
            return
        self._require_scaled("unscale_")
        record = self._record(optimizer)
        record.require_unscalable()
        self._note_count(record, self._unscale(record))

    def unscale_and_clip_(self, optimizer: paddle.optimizer.Optimizer, max_norm: float) -> paddle.Tensor:
        """``unscale_(optimizer)`` and ``paddle.nn.utils.clip_grad_norm_`` of its parameters.

        With the ``fused`` backend one pass takes the norm and another unscales and clips; other backends make
        the two calls.

        Args:
            max_norm: of all the optimizer's gradients together, as one vector (2-norm).

        Returns:
            The norm before clipping, a 0-d tensor; infinite or NaN at an overflow, when the step is skipped.

        Raises:
            AssertionError, RuntimeError, ValueError: as ``unscale_``.
        """
        params = [param for param in _parameters(optimizer) if param._grad_ivar() is not None]
        if self._enabled:
            self._require_scaled("unscale_and_clip_")
            record = self._record(optimizer)
            record.require_unscalable()
            # A sparse or master gradient is not what clip_grad_norm_ looks at, or needs its own treatment.
            if not any(param._grad_ivar().is_selected_rows() or hasattr(param, "main_grad") for param in params):
                norm = self._norm_for_step(record, self._gradients(optimizer), float(max_norm), folds=False)
                if norm is not None:
                    return norm
            self._note_count(record, self._unscale(record))
        return paddle.nn.utils.clip_grad_norm_(params, max_norm)

    def step(self, optimizer: paddle.optimizer.Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Unscale the gradients unless that was done, and step the optimizer unless one overflowed.

        Returns:
            What ``optimizer.step(*args, **kwargs)`` returns; None when the step is skipped.

        Raises:
            AssertionError: nothing was scaled yet, or the optimizer has no gradients.
            RuntimeError: called twice for one optimizer in one iteration, or with a closure.
        """
        if not self._enabled:
            _forget_found_inf(optimizer)
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError(
                "Closure use is not currently supported if GradScaler is enabled. "
                "Compute the loss before step() and call step(optimizer)."
            )
        self._require_scaled("step")
        record = self._record(optimizer)
        record.require_steppable()
        if record.stage is Stage.READY:
            self._note_count(record, self._check_for_step(record, folds=False))
        if record.found_inf is None:  # and the optimizer stays unscaled, as torch leaves it
            raise AssertionError(
                "No inf checks were recorded for this optimizer. None of its parameters has a gradient: "
                "call backward() on a scaled loss that depends on them."
            )
        result = None
        if not record.found_inf.item():
            _forget_found_inf(optimizer)
            result = optimizer.step(*args, **kwargs)
        record.stage = Stage.STEPPED
        return result

    def update(self, new_scale: float | paddle.Tensor | None = None) -> None:
        """End the iteration: let the scale follow its overflows, or set it to ``new_scale``.

        Raises:
            AssertionError: nothing was scaled or no gradient was checked since the last update, or
                ``new_scale`` is not a tensor of one element without gradient.
            AttributeError: ``new_scale`` is neither a float nor a tensor.
            ValueError: it is zero, negative, infinite or NaN.
        """
        if not self._enabled:
            return
        self._require_scaled("update")
        if new_scale is not None:
            self._set_state(LossScaleState(_new_scale(new_scale), self._state().good))
        else:
            checked = [r.found_inf for r in self._records.values() if r.found_inf is not None]
            if not checked:
                raise AssertionError(
                    "No inf checks were recorded prior to update. "
                    "Call step(optimizer) in each iteration before update()."
                )
            self._advance(sum(checked[1:], checked[0]))
        self._records.clear()

    def _note_count(self, record: OptimizerRecord, gradients: int) -> None:
        if not gradients and self._process_group is None:
            record.found_inf = None  # torch records no check then, and step() says so

    def _require_scaled(self, called: str) -> None:
        if self._tensors is None:
            raise AssertionError(f"Attempted {called} but _scale is None.  {_CALL_SCALE_FIRST}")

    def _rule(self) -> LossScaleRule:
        return LossScaleRule(
            checks.used_factor("growth_factor", self._growth_factor),
            checks.used_factor("backoff_factor", self._backoff_factor),
            checks.used_interval(self._growth_interval),
            min_scale=self._min_scale,
        )

    def _tensors_on(self, device: Any) -> ScaleTensors:
        if self._tensors is None:
            checks.placed_scale("init_scale", self._host_state.scale)
        return super()._tensors_on(device)

    def _gradients(self, optimizer: paddle.optimizer.Optimizer) -> list[paddle.Tensor]:
        grads = [grad for param in _parameters(optimizer) for grad in _gradients_of(param)]
        # Identity first: comparing Paddle's dtypes costs more than everything else in this loop.
        if any(grad.dtype is not paddle.float32 and grad.dtype == paddle.float16 for grad in grads):
            raise ValueError(
                "Attempting to unscale FP16 gradients. Keep float32 gradients: "
                "paddle.amp.decorate(..., master_grad=True), or autocast with float32 parameters."
            )
        return grads

    def _agree(self, found_inf: paddle.Tensor) -> None:
        distributed.agree_paddle(found_inf, self._process_group)

    # ------------------------------------------------------------------ settings

    @property
    def _scale(self) -> paddle.Tensor | None:
        """The scale as torch code reads it: 0-d float32, None before the first ``scale()``."""
        self._settle()
        return None if self._tensors is None else self._tensors.scale

    def is_enabled(self) -> bool:
        """Whether the scaler scales."""
        return self._enabled

    def get_scale(self) -> float:
        """The current scale, 1.0 when disabled; waits for the device."""
        return self._state().scale

    def get_growth_factor(self) -> float:
        """The factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale grows; 1.0 keeps it from growing."""
        self._growth_factor = checks.growth(
            "The growth factor must be > 1.0.", "new_factor", new_factor, allow_one=True
        )

    def get_backoff_factor(self) -> float:
        """The factor by which the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale shrinks; 1.0 keeps it from shrinking."""
        self._backoff_factor = checks.backoff(
            "The backoff factor must be < 1.0.", "new_factor", new_factor, allow_one=True
        )

    def get_growth_interval(self) -> int:
        """Finite steps in a row before the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the finite steps in a row before the scale grows."""
        self._growth_interval = checks.integer_interval("new_interval", new_interval)

    # ------------------------------------------------------------------ checkpoints

    def state_dict(self) -> dict[str, Any]:
        """torch's state dict, of plain Python numbers; empty when disabled."""
        if not self._enabled:
            return {}
        now = self._state()
        return state.write(
            "torch",
            state.ScalerState(
                scale=now.scale,
                growth_factor=self._growth_factor,
                backoff_factor=self._backoff_factor,
                growth_interval=self._growth_interval,
                good=now.good,
            ),
        )

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over a state that torch's scaler or this one saved; nothing changes when it is refused.

        Raises:
            RuntimeError, KeyError, TypeError, ValueError: see ``paddletorch_shim.state.read``.
        """
        if not self._enabled:
            return
        loaded = state.read("torch", state_dict)
        self._growth_factor = loaded.growth_factor
        self._backoff_factor = loaded.backoff_factor
        self._growth_interval = loaded.growth_interval
        self._set_state(LossScaleState(loaded.scale, loaded.good))


def _times(outputs: paddle.Tensor, scale: paddle.Tensor) -> paddle.Tensor:
    """``outputs * scale`` with torch's promotion between a tensor and a 0-d float32 tensor."""
    if outputs.dtype in (paddle.float16, paddle.bfloat16):
        product = outputs.astype("float32") * scale
        return product.astype(outputs.dtype) if outputs.ndim else product
    if outputs.is_floating_point() or outputs.is_complex():
        return outputs * scale.astype(outputs.dtype)
    return outputs.astype("float32") * scale


def _parameters(optimizer: paddle.optimizer.Optimizer) -> list[paddle.Tensor]:
    groups = getattr(optimizer, "_param_groups", None)
    if groups is None:
        raise AttributeError(f"a paddle.optimizer.Optimizer with parameters is needed, got {type(optimizer).__name__}")
    return [param for group in groups for param in (group["params"] if isinstance(group, dict) else (group,))]


def _gradients_of(param: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
    """The dense gradients of a parameter; of a sparse one its values, shared with it.

    Master gradients live in ``main_grad``; which of the two an optimizer uses depends on Paddle's release.
    """
    grad, main = param._grad_ivar(), getattr(param, "main_grad", None)
    if main is not None:
        return (main,) if grad is None or not grad._is_initialized() else (main, grad)
    if grad is None:
        return ()
    return (grad._get_tensor_from_selected_rows() if grad.is_selected_rows() else grad,)


def _forget_found_inf(optimizer: paddle.optimizer.Optimizer) -> None:
    """Drop a found_inf that Paddle's own scaler left behind: the optimizer would skip its steps for ever."""
    get = getattr(optimizer, "_get_auxiliary_var", None)
    if get is not None and get("found_inf") is not None:
        optimizer._set_auxiliary_var("found_inf", False)


def _new_scale(new_scale: float | paddle.Tensor) -> float:
    if isinstance(new_scale, float):
        return checks.scale("new_scale", new_scale)
    if not isinstance(new_scale, paddle.Tensor):
        raise AttributeError(f"{_NEW_SCALE} Got {type(new_scale).__name__}: pass float(new_scale).")
    if new_scale.size != 1 or not new_scale.stop_gradient:
        raise AssertionError(f"{_NEW_SCALE} Got shape {list(new_scale.shape)}; pass new_scale.detach() of one element.")
    return checks.scale("new_scale", float(new_scale.item()))
