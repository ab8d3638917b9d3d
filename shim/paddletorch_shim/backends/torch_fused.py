"""One launch of a Triton kernel over all gradients of a device; ``docs/fused.md`` explains it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import increment_version

from paddletorch_shim.backends import BackendError, Checked, Clipping, ScaleTensors, kernels, torch_native
from paddletorch_shim.backends.kernels import Kernels, StateAddresses
from paddletorch_shim.backends.table import CODES, HEADER, ROW, Found, Table, Tables, dense, split, words
from paddletorch_shim.policy import LossScaleRule, LossScaleState

_log = logging.getLogger(__name__)

_CODES = {getattr(torch, name): code for code, name in enumerate(CODES)}

_address, _count, _contiguous = torch.Tensor.data_ptr, torch.Tensor.numel, torch.Tensor.is_contiguous
"""As plain functions: mapped over the gradients they cost half of what method calls do."""


@dataclass(slots=True)
class FusedTensors(ScaleTensors):
    """The state, and a float32 tensor of 3 for what it was before the last rule; the first is the scale."""

    previous: torch.Tensor

    def addresses(self) -> StateAddresses:
        """For the kernels."""
        return StateAddresses(*(t.data_ptr() for t in (self.scale, self.good, self.bad, self.previous)))


class Backend:
    """Gradients on the scale's device go through the kernel, all others through ``native``."""

    name = "fused"

    def __init__(self) -> None:
        self._interpreted = kernels.interpreter_asked()
        if not self._interpreted and not (torch.cuda.is_available() and torch.version.cuda):
            raise BackendError(
                "backend 'fused' needs a CUDA device; TRITON_INTERPRET=1 runs its kernel on the CPU, slowly"
            )
        kernels.require_triton()
        self.automatic = not self._interpreted
        self.one_launch = self
        self._native = torch_native.Backend()
        self._kernels: Kernels | None = None
        self._tried_out = False
        self._tables = Tables()
        self._captured: list[Table] = []
        """Tables that graphs read: they live as long as the backend."""
        self._spares: list[torch.Tensor] = []
        """Pinned memory for the tables of a capture, where none may be allocated."""

    def place(self, state: LossScaleState, device: torch.device | None) -> ScaleTensors:
        """See ``paddletorch_shim.backends.Backend``; the kernel is tried out on its first device."""
        plain = self._native.place(state, device)
        if not self._reaches(plain.scale.device):
            _log.debug("the scale is on %s: native operations", plain.scale.device)
            return plain
        tensors = FusedTensors(
            plain.scale, plain.good, plain.bad, plain.bad_is_zero, torch.zeros(3, device=plain.scale.device)
        )
        if not self._tried_out:
            self._try_out(tensors.scale.device)
            self._tried_out = True
        return tensors

    def write(self, tensors: ScaleTensors, state: LossScaleState) -> None:
        """See ``paddletorch_shim.backends.Backend``."""
        self._native.write(tensors, state)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def unscale_(self, grads: Sequence[torch.Tensor], scale: torch.Tensor) -> torch.Tensor:
        """See ``paddletorch_shim.backends.Backend``."""
        table = self._table(grads, scale.device)
        if table is None:
            found_inf: torch.Tensor = self._native.unscale_(grads, scale)
            return found_inf
        found_inf = self._sweep(grads, table, StateAddresses(scale.data_ptr(), 0, 0, 0), scale.device, write=True)
        for group in table.left:
            found_inf += self._native.unscale_([grads[i] for i in group], scale)
        return found_inf

    def update_(self, tensors: ScaleTensors, found_inf: torch.Tensor, rule: LossScaleRule) -> None:
        """See ``paddletorch_shim.backends.Backend``."""
        if not isinstance(tensors, FusedTensors):
            self._native.update_(tensors, found_inf, rule)
        elif rule.dynamic:
            tensors.bad_is_zero &= rule.backoff_interval == 1
            with self._on(tensors.scale.device):
                self._launches.advance(found_inf.data_ptr(), tensors.addresses(), rule)

    # ------------------------------------------------------------------ one launch

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def check_(
        self, grads: Sequence[torch.Tensor], tensors: ScaleTensors, rule: LossScaleRule | None, *, write: bool
    ) -> Checked | None:
        """See ``paddletorch_shim.backends.OneLaunch``."""
        table = self._whole_table(grads, tensors)
        if table is None or not isinstance(tensors, FusedTensors):
            return None
        found_inf = self._sweep(grads, table, tensors.addresses(), tensors.scale.device, write=write, rule=rule)
        if rule is None:
            return Checked(found_inf, tensors.scale)
        tensors.bad_is_zero &= rule.backoff_interval == 1
        return Checked(found_inf, tensors.previous[0])

    def rewind_(self, tensors: ScaleTensors) -> None:
        """See ``paddletorch_shim.backends.OneLaunch``."""
        assert isinstance(tensors, FusedTensors)
        tensors.bad_is_zero = False
        with self._on(tensors.scale.device):
            self._launches.rewind(tensors.addresses())

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def norm(self, grads: Sequence[torch.Tensor], tensors: ScaleTensors, max_norm: float) -> Clipping | None:
        """See ``paddletorch_shim.backends.OneLaunch``."""
        table = self._whole_table(grads, tensors)
        if table is None or table.double or not isinstance(tensors, FusedTensors):
            return None
        factors = torch.empty(3, device=tensors.scale.device)
        found_inf = self._sweep(
            grads,
            table,
            tensors.addresses(),
            tensors.scale.device,
            write=False,
            clipping=factors.data_ptr(),
            max_norm=max_norm,
        )
        return Clipping(found_inf, factors[0], factors[2], factors)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def clip_(self, grads: Sequence[torch.Tensor], tensors: ScaleTensors, clipping: Clipping) -> None:
        """See ``paddletorch_shim.backends.OneLaunch``."""
        table = self._whole_table(grads, tensors)
        assert table is not None
        increment_version(grads)
        with self._on(tensors.scale.device):
            self._launches.unscale_and_clip(table, tensors.scale.data_ptr(), clipping.factors.data_ptr())

    def capturing(self) -> bool:
        """See ``paddletorch_shim.backends.OneLaunch``."""
        return not self._interpreted and bool(torch.cuda.is_current_stream_capturing())

    # ------------------------------------------------------------------ launches

    @property
    def _launches(self) -> Kernels:
        if self._kernels is None:
            self._kernels = Kernels()
        return self._kernels

    def _on(self, device: torch.device) -> Any:
        return nullcontext() if self._interpreted else torch.cuda.device(device)

    def _sweep(
        self, grads: Sequence[torch.Tensor], table: Table, state: StateAddresses, device: torch.device, **asked: Any
    ) -> torch.Tensor:
        if not table.programs:
            return torch.zeros((), device=device)
        found_inf = torch.empty((), device=device)
        if asked["write"]:
            increment_version(grads)  # autograd must notice writes that it cannot see
        with self._on(device):
            self._launches.sweep(table, found_inf.data_ptr(), state, **asked)
        return found_inf

    def _reaches(self, device: torch.device) -> bool:
        return bool(device.type == ("cpu" if self._interpreted else "cuda"))

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _try_out(self, device: torch.device) -> None:
        """Unscale known numbers: a compiler or a device it cannot work with must show before a training step."""
        if self.capturing():
            raise BackendError("backend 'fused' cannot start inside a graph capture: run an iteration before it")
        grads = [torch.arange(-20.0, 21.0, device=device).to(dtype)[1:] for dtype in _CODES]
        grads[1][0] = torch.inf
        expected = [grad.clone() for grad in grads]
        scale = torch.tensor(3.0, device=device)
        try:
            self._native.unscale_(expected, scale)
            right = self.unscale_(grads, scale).item() == 1.0 and all(map(torch.equal, grads, expected))
        except BackendError:
            raise
        except Exception as error:  # whatever Triton, its compiler or the driver say
            raise BackendError(f"backend 'fused' does not work on {device}: {error!r}") from error
        if not right:
            raise BackendError(f"backend 'fused' gives wrong results on {device}; please report it, and use 'native'")

    # ------------------------------------------------------------------ tables

    def _whole_table(self, grads: Sequence[torch.Tensor], tensors: ScaleTensors) -> Table | None:
        """The table, if every gradient is in it and there is a row."""
        table = self._table(grads, tensors.scale.device)
        return None if table is None or table.left or not table.programs else table

    def _table(self, grads: Sequence[torch.Tensor], device: torch.device) -> Table | None:
        """The table for the gradients; None if nothing of them can be in one."""
        if not self._reaches(device):
            return None
        try:
            key: Any = (
                list(map(_address, grads)),
                list(map(_count, grads)),
                [grad.dtype for grad in grads],
                [flat or _layout(grad) for flat, grad in zip(map(_contiguous, grads), grads, strict=True)],
            )
        except RuntimeError as error:
            _log.debug("native operations for all gradients: one has no memory of its own (%s)", error)
            return None
        capturing = self.capturing()
        stream = None if self._interpreted else torch.cuda.current_stream(device).cuda_stream
        # Before a capture the device was waited for, so a table of another stream is complete.
        table = self._tables.find(key, stream, any_stream=capturing)
        if table is None:
            table = self._build(grads, device, key, stream, capturing)
            if not capturing:
                self._tables.add(table)
        if capturing:
            self._captured.append(table)
        elif stream is not None and len(self._spares) < len(self._tables):
            # A row more for each gradient than now: its alignment may differ in the capture.
            spare = HEADER + ROW * (table.programs + len(grads))
            self._spares.append(torch.empty(spare, dtype=torch.int64, pin_memory=True))
        return table

    def _build(
        self, grads: Sequence[torch.Tensor], device: torch.device, key: Any, stream: int | None, capturing: bool
    ) -> Table:
        found = [_look(grad, device) for grad in grads]
        near, left = split(found, partial(_log.debug, "native operations: a gradient %s (%d such)"))
        rows, programs = words([found[i] for i in near])
        host = torch.from_numpy(rows)
        buffer = torch.empty(len(rows) + programs, dtype=torch.int64, device=device)
        if stream is not None:
            # Pinned, so that the host need not wait; a captured copy reads it again at each replay.
            host = self._pinned(len(rows), capturing).copy_(host)
        buffer[: len(rows)].copy_(host, non_blocking=True)
        return Table(
            key,
            stream,
            (buffer, host if capturing else None),
            buffer.data_ptr(),
            programs,
            left,
            torch.float64 in key[2],
        )

    def _pinned(self, size: int, capturing: bool) -> torch.Tensor:
        if capturing:
            for position, spare in enumerate(self._spares):
                if len(spare) >= size:
                    return self._spares.pop(position)[:size]
        return torch.empty(size, dtype=torch.int64, pin_memory=True)


def _layout(grad: torch.Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(grad.shape), grad.stride()


def _look(grad: torch.Tensor, device: torch.device) -> Found:
    """The gradient as the table takes it, or the reason why it cannot."""
    if type(grad) not in (torch.Tensor, torch.nn.Parameter):
        return Found(reason=f"is a {type(grad).__name__}")
    if grad.device != device:
        return Found(reason=f"is on {grad.device}, the scale on {device}")
    if grad.dtype not in _CODES:
        return Found(reason=f"is {grad.dtype}")
    if grad.data_ptr() % grad.element_size():
        return Found(reason="is not aligned to its elements")
    if not (grad.is_contiguous() or dense(grad.shape, grad.stride())):
        return Found(reason=f"has gaps or repetitions: shape {tuple(grad.shape)}, strides {grad.stride()}")
    return Found(grad.data_ptr(), grad.numel(), _CODES[grad.dtype])
