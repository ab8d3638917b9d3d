"""``paddle.amp.GradScaler`` on torch tensors and optimizers: Paddle's API, Paddle's meaning."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import torch

from paddletorch_shim import checks, distributed, names, state
from paddletorch_shim.backends.torch_reference import copied_to
from paddletorch_shim.policy import LossScaleRule, LossScaleState
from paddletorch_shim.protocol import OptimizerRecord, ScalerCore, Stage
from paddletorch_shim.torch_optimizers import check_minimize, dense, pairs, reads_found_inf, step_with

__all__ = ["GradScaler"]

_NEVER_SCALED = (
    "gradients are divided by the loss scale although scale() was never called, as Paddle does it: "
    "call scaler.scale(loss).backward()"
)
_UPDATED_TWICE = (
    "update() was called without a step() since the last update() and counts again, as Paddle does it: "
    "call it once at the end of each iteration"
)


class GradScaler(ScalerCore):
    """Paddle's loss scaler for torch code, on CPU and CUDA, with plain, fused and capturable optimizers.

    It tolerates ``decr_every_n_nan_or_inf - 1`` overflows in a row before it lowers the scale, and keeps the
    scale fixed with ``use_dynamic_loss_scaling=False``: both things that torch's own scaler cannot do.

    Args:
        enable: scale at all; a disabled scaler passes everything through.
        init_loss_scaling: the scale to start from, positive and finite.
        incr_ratio: factor above 1 by which the scale grows.
        decr_ratio: factor below 1 by which it shrinks.
        incr_every_n_steps: finite steps in a row before it grows.
        decr_every_n_nan_or_inf: overflowed steps in a row before it shrinks.
        use_dynamic_loss_scaling: False keeps the scale fixed; overflowed steps are still skipped.
        min_scale: the scale never shrinks below it (the shim's own; Paddle has no floor).
        backend: where the arithmetic runs, see ``paddletorch_shim.backends``; None chooses.
        process_group: a ``torch.distributed`` group whose ranks step or skip together.

    torch's spellings (``init_scale``, ``growth_factor``, ``enabled`` …) are taken as well.

    Where Paddle 3.3.1 computes wrong results this class does not follow it: several optimizers on one scaler
    each keep their own overflow, any overflow lowers the scale, growth past float32 keeps the scale, float64
    and sparse gradients are unscaled and checked, and scaling does not depend on autocast's dtype.

    Raises:
        TypeError, ValueError, AssertionError: an argument is wrong; nothing has changed then.
    """

    _framework = "torch"
    __signature__ = names.signature("paddle")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = names.bind("paddle", args, kwargs)
        self._enable = checks.truth("enable", given["enable"], "a loss scale goes to init_loss_scaling=")
        self._use_dynamic_loss_scaling = False
        self._init_loss_scaling = 1.0
        self._found_inf: torch.Tensor | None = None  # of the last steps, kept after update() as Paddle does
        self._stepped = False
        self._scaled = False
        self._warned: set[str] = set()
        if self._enable:
            self._incr_ratio = checks.compared_growth(
                "The incr_ratio must be > 1.0.", "incr_ratio", given["incr_ratio"]
            )
            self._decr_ratio = checks.compared_backoff(
                "The decr_ratio must be < 1.0.", "decr_ratio", given["decr_ratio"]
            )
            self._incr_every_n_steps = checks.counted_interval("incr_every_n_steps", given["incr_every_n_steps"])
            self._decr_every_n_nan_or_inf = checks.counted_interval(
                "decr_every_n_nan_or_inf", given["decr_every_n_nan_or_inf"]
            )
            self._use_dynamic_loss_scaling = checks.truth(
                "use_dynamic_loss_scaling", given["use_dynamic_loss_scaling"], "False keeps the scale fixed"
            )
            self._init_loss_scaling = checks.array_scale("init_loss_scaling", given["init_loss_scaling"])
        self._min_scale = (
            checks.floor("min_scale", given["min_scale"], self._init_loss_scaling) if self._enable else 0.0
        )
        super().__init__(LossScaleState(self._init_loss_scaling), given["backend"], given["process_group"])

    # ------------------------------------------------------------------ one iteration

    def scale(self, var: torch.Tensor) -> torch.Tensor:
        """Multiply a floating tensor by the scale; a 0-d tensor comes back with shape [1], as in Paddle.

        Raises:
            AttributeError: not a tensor.
            TypeError: an integer one with dimensions.
        """
        if not self._enable:
            return var
        if not isinstance(var, torch.Tensor):
            raise AttributeError(
                f"scale() takes one torch.Tensor, got {type(var).__name__}; scale the losses of a list one by one"
            )
        if var.ndim and not (var.is_floating_point() or var.is_complex()):
            raise TypeError(f"scale() takes a floating tensor, got {var.dtype}; cast it with .float() first")
        self._scaled = True
        return var * copied_to(self._tensors_on(var.device).scale, var.device).view(1)

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divide the optimizer's gradients by the scale in place, and note whether any is infinite or NaN.

        Raises:
            RuntimeError: called twice for one optimizer, or after its step.
        """
        if not self._enable:
            return
        if not self._scaled:
            self._warn_once(_NEVER_SCALED)
        record = self._record(optimizer)
        record.require_unscalable()
        self._unscale(record)

    def unscale_and_clip_(self, optimizer: torch.optim.Optimizer, max_norm: float) -> torch.Tensor:
        """``unscale_(optimizer)`` and ``clip_grad_norm_`` of its parameters, in fewer passes where possible.

        With the ``fused`` backend one pass reads the gradients. An optimizer that takes ``grad_scale`` (torch's
        ``fused=True``) then unscales and clips in its own pass, and the gradients stay scaled until its step;
        for another one a second pass does it here. Other backends make the two calls.

        Args:
            max_norm: of all the optimizer's gradients together, as one vector (2-norm).

        Returns:
            The norm before clipping, a 0-d tensor; infinite or NaN at an overflow, when the step is skipped.

        Raises:
            RuntimeError: as ``unscale_``.
        """
        params = [param for group in optimizer.param_groups for param in group["params"] if param.grad is not None]
        if self._enable:
            if not self._scaled:
                self._warn_once(_NEVER_SCALED)
            record = self._record(optimizer)
            record.require_unscalable()
            grads = [param.grad for param in params]
            # A DTensor's norm is not that of its local part, and of a sparse gradient there is more than its values.
            if all(type(grad) is torch.Tensor and not grad.is_sparse for grad in grads):
                folds = reads_found_inf(optimizer)
                norm: torch.Tensor | None = self._norm_for_step(record, grads, float(max_norm), folds=folds)
                if norm is not None:
                    return norm
            self._unscale(record)
        return torch.nn.utils.clip_grad_norm_(params, max_norm)

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        """Unscale the gradients unless that was done, and call ``optimizer.step()`` unless one overflowed.

        Raises:
            RuntimeError: called twice for one optimizer in one iteration (with dynamic scaling).
        """
        if not self._enable:
            optimizer.step()
            return
        if not self._scaled:
            self._warn_once(_NEVER_SCALED)
        record = self._record(optimizer)
        record.require_steppable()
        self._step(record)
        if not self._use_dynamic_loss_scaling:
            self._end_iteration()  # a static scaler needs no update()

    def update(self) -> None:
        """End the iteration: follow the overflows of its steps with the scale."""
        if not self._enable or not self._use_dynamic_loss_scaling:
            return
        if not self._stepped:
            self._warn_once(_UPDATED_TWICE)
        if self._tensors is None:
            self._set_state(self._rule().advance(self._state(), False))
        else:
            self._advance(torch.zeros_like(self._tensors.scale) if self._found_inf is None else self._found_inf)
        self._end_iteration()

    def minimize(
        self, optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any
    ) -> tuple[list[Any], list[tuple[torch.Tensor, torch.Tensor]]]:
        """``step(optimizer)`` and ``update()`` in one call; the loss argument is not read.

        Returns:
            An empty list of operators and the pairs of parameter and gradient, as Paddle returns them.

        Raises:
            AssertionError: the loss is not a tensor.
            NotImplementedError: ``parameters`` or ``no_grad_set`` is given: torch optimizers step all.
        """
        if not self._enable:
            check_minimize(*args, **kwargs)
            optimizer.step()
            return [], pairs(optimizer)
        if not self._scaled:
            self._warn_once(_NEVER_SCALED)
        record = self._record(optimizer)
        self._check(record)
        check_minimize(*args, **kwargs)  # now only: Paddle leaves the gradients unscaled after such an error
        self._step(record)
        self.update()
        self._end_iteration()
        return [], pairs(optimizer)

    def _check(self, record: OptimizerRecord) -> bool:
        """Check the gradients unless that was done; whether the optimizer then skips and unscales by itself."""
        folds = record.grad_scale is not None or reads_found_inf(record.optimizer)
        if record.found_inf is None:
            self._check_for_step(record, folds=folds)
        return folds

    def _step(self, record: OptimizerRecord) -> None:
        folds = self._check(record)
        found_inf = record.found_inf
        if folds:
            step_with(record.optimizer, found_inf, record.grad_scale)
        elif not found_inf.item():
            record.optimizer.step()
        self._found_inf = torch.maximum(self._found_inf, found_inf) if self._stepped else found_inf
        self._stepped = True
        record.stage = Stage.STEPPED

    def _end_iteration(self) -> None:
        self._stepped = False
        self._records.clear()

    def _warn_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            warnings.warn(text, RuntimeWarning, stacklevel=3)

    def _rule(self) -> LossScaleRule:
        return LossScaleRule(
            self._incr_ratio,
            self._decr_ratio,
            self._incr_every_n_steps,
            self._decr_every_n_nan_or_inf,
            dynamic=self._use_dynamic_loss_scaling,
            min_scale=self._min_scale,
            float32_factors=True,
        )

    def _gradients(self, optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
        if not hasattr(optimizer, "param_groups"):
            raise AttributeError(f"a torch.optim.Optimizer is needed, got {type(optimizer).__name__}")
        return [
            grad if type(grad) is torch.Tensor and not grad.is_sparse else dense(param, grad)
            for group in optimizer.param_groups
            for param in group["params"]
            if (grad := param.grad) is not None
        ]

    def _agree(self, found_inf: torch.Tensor) -> None:
        distributed.agree_torch(found_inf, self._process_group)

    # ------------------------------------------------------------------ settings

    @property
    def _scale(self) -> torch.Tensor | None:
        """The scale as Paddle code reads it: float32, shape [1], None when disabled."""
        if not self._enable:
            return None
        self._scaled = True  # whoever reads it may scale the loss with it
        if self._tensors is None:
            return torch.full((1,), self._host_state.scale)
        self._settle()
        return self._tensors.scale.view(1)

    def is_enable(self) -> bool:
        """Whether the scaler scales."""
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        """Whether the scale follows the overflows."""
        return self._use_dynamic_loss_scaling

    def get_init_loss_scaling(self) -> float:
        """The scale given last, by the constructor, the setter or a state dict; not the current one."""
        return self._init_loss_scaling

    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        """Set the current scale; the counters stay."""
        new = checks.array_scale("new_init_loss_scaling", new_init_loss_scaling)
        now = self._state()
        self._set_state(LossScaleState(new, now.good, now.bad))
        self._init_loss_scaling = new_init_loss_scaling

    def get_incr_ratio(self) -> float:
        """The factor by which the scale grows."""
        return self._incr_ratio

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Set the factor by which the scale grows, above 1."""
        self._incr_ratio = checks.growth("The new_incr_ratio must be > 1.0.", "new_incr_ratio", new_incr_ratio)

    def get_decr_ratio(self) -> float:
        """The factor by which the scale shrinks."""
        return self._decr_ratio

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Set the factor by which the scale shrinks, below 1."""
        self._decr_ratio = checks.backoff("The new_decr_ratio must be < 1.0.", "new_decr_ratio", new_decr_ratio)

    def get_incr_every_n_steps(self) -> int:
        """Finite steps in a row before the scale grows."""
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        """Set the finite steps in a row before the scale grows."""
        self._incr_every_n_steps = checks.interval("new_incr_every_n_steps", new_incr_every_n_steps)

    def get_decr_every_n_nan_or_inf(self) -> int:
        """Overflowed steps in a row before the scale shrinks."""
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        """Set the overflowed steps in a row before the scale shrinks."""
        self._decr_every_n_nan_or_inf = checks.interval("new_decr_every_n_nan_or_inf", new_decr_every_n_nan_or_inf)

    # ------------------------------------------------------------------ checkpoints

    def state_dict(self) -> dict[str, Any]:
        """Paddle's state dict, empty when disabled; ``scale`` is a float32 CPU tensor of shape [1].

        A tensor where Paddle has a numpy array, so that ``torch.load(weights_only=True)`` reads it back;
        Paddle's own ``load_state_dict`` takes it too.
        """
        if not self._enable:
            return {}
        now = self._state()
        plain = state.write(
            "paddle",
            state.ScalerState(
                scale=now.scale,
                growth_factor=self._incr_ratio,
                backoff_factor=self._decr_ratio,
                growth_interval=self._incr_every_n_steps,
                good=now.good,
                backoff_interval=self._decr_every_n_nan_or_inf,
                bad=now.bad,
                dynamic=self._use_dynamic_loss_scaling,
            ),
        )
        return {**plain, "scale": torch.tensor(plain["scale"], dtype=torch.float32)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over a state that Paddle's scaler or this one saved; nothing changes when it is refused.

        Raises:
            RuntimeError, KeyError, TypeError, ValueError: see ``paddletorch_shim.state.read``.
        """
        if not self._enable:
            return
        loaded = state.read("paddle", state_dict)
        self._init_loss_scaling = loaded.scale
        self._incr_ratio = loaded.growth_factor
        self._decr_ratio = loaded.backoff_factor
        self._incr_every_n_steps = loaded.growth_interval
        self._decr_every_n_nan_or_inf = loaded.backoff_interval
        self._use_dynamic_loss_scaling = loaded.dynamic
        self._set_state(LossScaleState(loaded.scale, loaded.good, loaded.bad))
