"""The Triton kernels of the fused backend on Paddle tensors, by address, on Paddle's stream, without torch."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import paddle

from paddletorch_shim.backends import BackendError, Checked, Clipping, ScaleTensors, kernels, paddle_native
from paddletorch_shim.backends.kernels import Kernels, StateAddresses
from paddletorch_shim.backends.table import CODES, Found, Table, Tables, dense, split, words
from paddletorch_shim.policy import LossScaleRule, LossScaleState

_log = logging.getLogger(__name__)

_CODES = {getattr(paddle, name): code for code, name in enumerate(CODES)}
_SIZES = (4, 2, 2, 8)


@dataclass(slots=True)
class FusedTensors(ScaleTensors):
    """The state, and a float32 tensor of 3 for what it was before the last rule; the first is the scale."""

    previous: paddle.Tensor

    def addresses(self) -> StateAddresses:
        """For the kernels."""
        return StateAddresses(*(t.data_ptr() for t in (self.scale, self.good, self.bad, self.previous)))


class Backend:
    """Gradients on the scale's device go through the kernel, all others through ``native``."""

    name = "fused"

    def __init__(self) -> None:
        self._interpreted = kernels.interpreter_asked()
        if not self._interpreted and not _has_device():
            raise BackendError(
                "backend 'fused' needs a CUDA build of Paddle and a device; "
                "TRITON_INTERPRET=1 runs its kernel on the CPU, slowly"
            )
        kernels.require_triton()
        self.automatic = not self._interpreted
        self.one_launch = self
        self._native = paddle_native.Backend()
        self._kernels: Kernels | None = None
        self._tried_out = False
        self._tables = Tables()

    def place(self, state: LossScaleState, device: None) -> ScaleTensors:
        """See ``paddletorch_shim.backends.Backend``; the kernel is tried out first."""
        plain = self._native.place(state, device)
        if not self._reaches(plain.scale):
            _log.debug("the scale is on %s: native operations", plain.scale.place)
            return plain
        if not self._tried_out:
            self._try_out()
            self._tried_out = True
        previous = paddle.zeros([3], "float32")
        return FusedTensors(plain.scale, plain.good, plain.bad, plain.bad_is_zero, previous)

    def write(self, tensors: ScaleTensors, state: LossScaleState) -> None:
        """See ``paddletorch_shim.backends.Backend``."""
        self._native.write(tensors, state)

    @paddle.no_grad()  # type: ignore[untyped-decorator]
    def unscale_(self, grads: Sequence[paddle.Tensor], scale: paddle.Tensor) -> paddle.Tensor:
        """See ``paddletorch_shim.backends.Backend``."""
        table = self._table(grads, scale)
        if table is None:
            return self._native.unscale_(grads, scale)
        found_inf = self._sweep(grads, table, StateAddresses(scale.data_ptr(), 0, 0, 0), write=True)
        for group in table.left:
            found_inf += self._native.unscale_([grads[i] for i in group], scale)
        return found_inf

    def update_(self, tensors: ScaleTensors, found_inf: paddle.Tensor, rule: LossScaleRule) -> None:
        """See ``paddletorch_shim.backends.Backend``."""
        if not isinstance(tensors, FusedTensors):
            self._native.update_(tensors, found_inf, rule)
        elif rule.dynamic:
            tensors.bad_is_zero &= rule.backoff_interval == 1
            self._launches.advance(found_inf.data_ptr(), tensors.addresses(), rule)

    # ------------------------------------------------------------------ one launch

    @paddle.no_grad()  # type: ignore[untyped-decorator]
    def check_(
        self, grads: Sequence[paddle.Tensor], tensors: ScaleTensors, rule: LossScaleRule | None, *, write: bool
    ) -> Checked | None:
        """See ``paddletorch_shim.backends.OneLaunch``."""
        table = self._whole_table(grads, tensors)
        if table is None or not isinstance(tensors, FusedTensors):
            return None
        found_inf = self._sweep(grads, table, tensors.addresses(), write=write, rule=rule)
        if rule is None:
            return Checked(found_inf, tensors.scale)
        tensors.bad_is_zero &= rule.backoff_interval == 1
        return Checked(found_inf, tensors.previous[0])

    def rewind_(self, tensors: ScaleTensors) -> None:
        """See ``paddletorch_shim.backends.OneLaunch``."""
        assert isinstance(tensors, FusedTensors)
        tensors.bad_is_zero = False
        self._launches.rewind(tensors.addresses())

    @paddle.no_grad()  # type: ignore[untyped-decorator]
    def norm(self, grads: Sequence[paddle.Tensor], tensors: ScaleTensors, max_norm: float) -> Clipping | None:
        """See ``paddletorch_shim.backends.OneLaunch``."""
        table = self._whole_table(grads, tensors)
        if table is None or table.double or not isinstance(tensors, FusedTensors):
            return None
        factors = paddle.empty([3], "float32")
        found_inf = self._sweep(
            grads, table, tensors.addresses(), write=False, clipping=factors.data_ptr(), max_norm=max_norm
        )
        return Clipping(found_inf, factors[0], factors[2], factors)

    @paddle.no_grad()  # type: ignore[untyped-decorator]
    def clip_(self, grads: Sequence[paddle.Tensor], tensors: ScaleTensors, clipping: Clipping) -> None:
        """See ``paddletorch_shim.backends.OneLaunch``."""
        table = self._whole_table(grads, tensors)
        assert table is not None
        _note_write(grads)
        self._launches.unscale_and_clip(table, tensors.scale.data_ptr(), clipping.factors.data_ptr())

    def capturing(self) -> bool:
        """See ``paddletorch_shim.backends.OneLaunch``; a Paddle step reads found_inf on the host, so never."""
        return False

    # ------------------------------------------------------------------ launches

    @property
    def _launches(self) -> Kernels:
        if self._kernels is None:
            self._kernels = Kernels() if self._interpreted else Kernels(_on_paddles_stream)
        return self._kernels

    def _sweep(
        self, grads: Sequence[paddle.Tensor], table: Table, state: StateAddresses, **asked: Any
    ) -> paddle.Tensor:
        if not table.programs:
            return paddle.zeros([], "float32")
        found_inf = paddle.empty([], "float32")
        if asked["write"]:
            _note_write(grads)
        self._launches.sweep(table, found_inf.data_ptr(), state, **asked)
        return found_inf

    def _reaches(self, tensor: paddle.Tensor) -> bool:
        """Whether a kernel can read it: launches go to Paddle's current device."""
        place = tensor.place
        if self._interpreted:
            return bool(place.is_cpu_place())
        current = paddle.framework._current_expected_place()
        return bool(
            place.is_gpu_place()
            and isinstance(current, paddle.CUDAPlace)
            and place.gpu_device_id() == current.get_device_id()
        )

    def _try_out(self) -> None:
        """Unscale known numbers: a compiler or a device it cannot work with must show before a training step."""
        numbers = paddle.arange(-20.0, 20.0)
        grads = [numbers.astype(dtype).clone() for dtype in _CODES]
        expected = [grad.clone() for grad in grads]
        grads[0][0] = expected[0][0] = float("inf")
        scale = paddle.full([], 4.0, "float32")  # exact: Paddle 2.6's CPU cuts bits off where it should round
        try:
            self._native.unscale_(expected, scale)
            overflowed = self.unscale_(grads, scale).item() == 1.0
            right = overflowed and all(bool((a == b).all()) for a, b in zip(grads, expected, strict=True))
        except BackendError:
            raise
        except Exception as error:  # whatever Triton, its compiler or the driver say
            raise BackendError(f"backend 'fused' does not work here: {error!r}") from error
        if not right:
            raise BackendError("backend 'fused' gives wrong results here; please report it, and use 'native'")

    # ------------------------------------------------------------------ tables

    def _whole_table(self, grads: Sequence[paddle.Tensor], tensors: ScaleTensors) -> Table | None:
        """The table, if every gradient is in it and there is a row."""
        table = self._table(grads, tensors.scale)
        return None if table is None or table.left or not table.programs else table

    def _table(self, grads: Sequence[paddle.Tensor], scale: paddle.Tensor) -> Table | None:
        """The table for the gradients; None if nothing of them can be in one."""
        if not self._reaches(scale):
            return None
        try:
            key: Any = (
                [grad.data_ptr() for grad in grads],
                [grad.size for grad in grads],
                [grad.dtype for grad in grads],
                [grad.is_contiguous() or (grad.shape, grad.strides) for grad in grads],
            )
        except RuntimeError as error:
            _log.debug("native operations for all gradients: one has no memory of its own (%s)", error)
            return None
        stream = None if self._interpreted else _stream()
        table = self._tables.find(key, stream)
        if table is None:
            found = [self._look(grad) for grad in grads]
            near, left = split(found, partial(_log.debug, "native operations: a gradient %s (%d such)"))
            rows, programs = words([found[i] for i in near])
            buffer = paddle.to_tensor(np.concatenate([rows, np.zeros(programs, np.int64)]))
            table = Table(key, stream, buffer, buffer.data_ptr(), programs, left, paddle.float64 in key[2])
            self._tables.add(table)
        return table

    def _look(self, grad: paddle.Tensor) -> Found:
        """The gradient as the table takes it, or the reason why it cannot."""
        if grad.is_dist():
            return Found(reason="is distributed")
        code = _CODES.get(grad.dtype)
        if code is None:
            return Found(reason=f"is {grad.dtype}")
        if not grad.size:
            return Found(code=code)
        if not self._reaches(grad):
            return Found(reason=f"is on {grad.place}")
        if grad.data_ptr() % _SIZES[code]:
            return Found(reason="is not aligned to its elements")
        if not (grad.is_contiguous() or dense(grad.shape, grad.strides)):
            return Found(reason=f"has gaps or repetitions: shape {grad.shape}, strides {grad.strides}")
        return Found(grad.data_ptr(), int(grad.size), code)


def _has_device() -> bool:
    return (
        paddle.is_compiled_with_cuda() and not paddle.is_compiled_with_rocm() and paddle.device.cuda.device_count() > 0
    )


def _stream() -> int:
    stream: int = paddle.device.current_stream().stream_base.cuda_stream
    return stream


def _note_write(grads: Sequence[paddle.Tensor]) -> None:
    """Autograd must notice writes that it cannot see."""
    for grad in grads:
        grad._bump_inplace_version()


@lru_cache(maxsize=1)
def _driver() -> Any:
    """Triton's CUDA driver with Paddle's device and stream; Triton's own takes torch's."""
    from triton.backends.nvidia.driver import CudaDriver, CudaLauncher, CudaUtils

    class PaddleDriver(CudaDriver):  # type: ignore[misc]
        def __init__(self) -> None:  # not super's: it takes these four from torch
            self.utils = CudaUtils()
            self.launcher_cls = CudaLauncher
            self.get_current_device = lambda: paddle.framework._current_expected_place().get_device_id()
            self.set_current_device = lambda device: paddle.device.set_device(f"gpu:{device}")
            self.get_current_stream = lambda device: _stream()
            self.get_device_capability = paddle.device.cuda.get_device_capability

    return PaddleDriver()


@contextmanager
def _on_paddles_stream() -> Iterator[None]:
    """Triton launches on Paddle's current device and stream; torch's programs in this process keep theirs."""
    from triton.runtime import driver

    try:
        before = driver.active
    except RuntimeError:  # no torch with CUDA: Triton finds no driver of its own
        before = None
    driver.set_active(_driver())
    try:
        yield
    finally:
        driver.set_active(before)
