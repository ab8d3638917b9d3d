"""The four scalers under one set of verbs: torch's and Paddle's own, and the shim's two."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

from paddletorch_rules import Framework, other_framework

from paddletorch_shim.parity.engines import Engine
from paddletorch_shim.parity.schedules import Field, Iteration, Settings
from paddletorch_shim.policy import LossScaleState

_TORCH_SETTERS = {
    "scale": "update",
    "growth_factor": "set_growth_factor",
    "backoff_factor": "set_backoff_factor",
    "growth_interval": "set_growth_interval",
}
_PADDLE_SETTERS = {
    "scale": "set_init_loss_scaling",
    "growth_factor": "set_incr_ratio",
    "backoff_factor": "set_decr_ratio",
    "growth_interval": "set_incr_every_n_steps",
    "backoff_interval": "set_decr_every_n_nan_or_inf",
}


class Scaler:
    """A scaler of one API, real or shim, and how to drive it.

    Args:
        api: whose API it has. The shim's scaler with torch's API works on Paddle tensors, and vice versa.
        backend: the shim's backend; None is the framework's own scaler.
    """

    def __init__(self, api: Framework, backend: str | None, settings: Settings) -> None:
        self.api = api
        self.backend = backend
        self._settings = settings
        self._scaler = self._make(settings)
        self._used = False

    @property
    def framework(self) -> Framework:
        """Whose tensors it works on."""
        if self.backend is None:
            return self.api
        return other_framework(self.api)

    def iterate(self, engine: Engine, iteration: Iteration) -> None:
        """One training step; the gradients stay on the parameters."""
        if iteration.reload:
            self._reload()
        engine.clear()
        self._scaler.scale(engine.loss(iteration.coefficients)).backward()
        self._used = True
        if iteration.unscale_first:
            self._scaler.unscale_(engine.optimizer)
        if iteration.minimize and self.api == "paddle":
            self._scaler.minimize(engine.optimizer, engine.loss(iteration.coefficients))
        else:
            self._scaler.step(engine.optimizer)
            self._scaler.update()

    def change(self, field: Field, value: float) -> bool:
        """Change a setting between steps; False if this API has no such setting (yet)."""
        setters = _TORCH_SETTERS if self.api == "torch" else _PADDLE_SETTERS
        if field not in setters or (field == "scale" and self.api == "torch" and not self._used):
            return False
        getattr(self._scaler, setters[field])(value)
        if field != "scale":
            self._settings = self._settings.changed(field, value)
        return True

    def state(self) -> LossScaleState:
        """Scale and counters as its state dict says."""
        saved = self._scaler.state_dict()
        if self.api == "torch":
            return LossScaleState(saved["scale"], saved["_growth_tracker"])
        return LossScaleState(float(saved["scale"][0]), saved["incr_count"], saved["decr_count"])

    def _reload(self) -> None:
        saved = self._scaler.state_dict()
        self._scaler = self._make(self._settings)
        self._scaler.load_state_dict(saved)
        self._used = False

    def _make(self, s: Settings) -> Any:
        if self.api == "torch":
            values = {
                "init_scale": s.init_scale,
                "growth_factor": s.growth_factor,
                "backoff_factor": s.backoff_factor,
                "growth_interval": s.growth_interval,
            }
            if self.backend is None:
                import torch

                return torch.amp.GradScaler("cpu", **values)
            from paddletorch_shim.paddle import GradScaler as OnPaddle

            return OnPaddle("cpu", backend=self.backend, **values)
        values = {
            "init_loss_scaling": s.init_scale,
            "incr_ratio": s.growth_factor,
            "decr_ratio": s.backoff_factor,
            "incr_every_n_steps": s.growth_interval,
            "decr_every_n_nan_or_inf": s.backoff_interval,
            "use_dynamic_loss_scaling": s.dynamic,
        }
        if self.backend is None:
            import paddle

            return paddle.amp.GradScaler(**values)
        from paddletorch_shim.torch import GradScaler as OnTorch

        return OnTorch(backend=self.backend, **values)


@contextmanager
def active(frameworks: Sequence[Framework]) -> Iterator[None]:
    """Make the own scalers of ``frameworks`` run on this machine's CPU."""
    with ExitStack() as stack:
        if "torch" in frameworks:
            stack.enter_context(one_torch_thread())
        if "paddle" in frameworks:
            stack.enter_context(paddle_scaler_active())
        yield


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Tensors this small are faster without threads."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def paddle_scaler_active() -> Iterator[None]:
    """Make Paddle's own scaler work on the CPU, quietly and under any numpy.

    It prints at each backoff, and crashes there with numpy 2.4 or later: it makes a float of a 1-d tensor (S0).
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import paddle
        import paddle.amp.grad_scaler as module

        device = paddle.device.get_device()
        module.print, module.float = _print_nothing, _float  # shadow the builtins in that module alone
        paddle.device.set_device("cpu")
        try:
            with paddle_scaler_scales():
                yield
        finally:
            paddle.device.set_device(device)
            del module.print, module.float


@contextmanager
def paddle_scaler_scales() -> Iterator[None]:
    """Keep Paddle's own scaler from turning itself off on the CPU.

    It asks the tracer for its place when it is made, and the global AMP dtype at each ``scale``.
    """
    import paddle.amp.grad_scaler as module
    from paddle.amp.auto_cast import amp_global_state

    place = SimpleNamespace(is_gpu_place=lambda: True, is_xpu_place=lambda: False, is_custom_place=lambda: False)
    tracer, dtype = module._dygraph_tracer, amp_global_state().amp_dtype
    module._dygraph_tracer = lambda: SimpleNamespace(_expected_place=place)
    amp_global_state().amp_dtype = "float16"
    try:
        yield
    finally:
        amp_global_state().amp_dtype = dtype
        module._dygraph_tracer = tracer


@contextmanager
def paddle_float_unmended() -> Iterator[None]:
    """Inside ``paddle_scaler_active``: let the scaler meet numpy as it does in a user's program."""
    import paddle.amp.grad_scaler as module

    del module.float
    try:
        yield
    finally:
        module.float = _float


def _print_nothing(*values: object) -> None:
    pass


def _float(value: Any) -> float:
    return float(value.item() if hasattr(value, "item") else value)
