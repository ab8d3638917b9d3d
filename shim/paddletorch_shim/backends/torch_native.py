"""torch's own foreach operations: one call per device and dtype, and no wait for the device."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from paddletorch_shim.backends import BackendError, ScaleTensors, torch_reference
from paddletorch_shim.backends.torch_reference import copied_to
from paddletorch_shim.policy import LossScaleRule, LossScaleState, float32

_FUSED_CHECK = frozenset({torch.float16, torch.float32, torch.float64})
"""Dtypes that the fused check takes on every device; it takes bfloat16 on the CPU only (torch 2.13)."""

_INT32_MAX = 2**31 - 1
"""The counters' range: torch would compare them with the low 32 bits of a longer interval."""


class Backend:
    """torch's foreach operations; scale and counters are updated on the device."""

    name = "native"
    automatic = True
    one_launch = None

    def __init__(self) -> None:
        for operation in ("_amp_foreach_non_finite_check_and_unscale_", "_amp_update_scale_"):
            if not hasattr(torch, operation):
                raise BackendError(
                    f"backend 'native' needs torch.{operation}, which torch {torch.__version__} lacks; use 'reference'"
                )

        self._plain = torch_reference.Backend()

    def place(self, state: LossScaleState, device: torch.device | None) -> ScaleTensors:
        """See ``paddletorch_shim.backends.Backend``."""
        return self._plain.place(state, device)

    def write(self, tensors: ScaleTensors, state: LossScaleState) -> None:
        """See ``paddletorch_shim.backends.Backend``."""
        self._plain.write(tensors, state)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def unscale_(self, grads: Sequence[torch.Tensor], scale: torch.Tensor) -> torch.Tensor:
        """See ``paddletorch_shim.backends.Backend``."""
        found_inf = torch.zeros_like(scale)
        if not grads:
            return found_inf
        # The reciprocal is taken in float64: a float32 division may be approximate on some devices.
        inverse = scale.double().reciprocal().float()
        groups: dict[tuple[torch.device, torch.dtype], list[torch.Tensor]] = {}
        for grad in grads:
            groups.setdefault((grad.device, grad.dtype), []).append(grad)
        for (device, dtype), group in groups.items():
            here = device == scale.device
            found_here = found_inf if here else torch.zeros((), device=device)
            inverse_here = inverse if here else copied_to(inverse, device)
            if dtype in _FUSED_CHECK or (dtype is torch.bfloat16 and device.type == "cpu"):
                torch._amp_foreach_non_finite_check_and_unscale_(group, found_here, inverse_here)
            else:
                found_here += self._plain.unscale_(group, copied_to(scale, device))
            if not here:
                found_inf += copied_to(found_here, scale.device)
        return found_inf

    def update_(self, tensors: ScaleTensors, found_inf: torch.Tensor, rule: LossScaleRule) -> None:
        """See ``paddletorch_shim.backends.Backend``."""
        if not rule.dynamic:
            return
        growth, backoff = rule.growth_factor, rule.backoff_factor
        if rule.float32_factors:
            growth, backoff = float32(growth), float32(backoff)
        if tensors.bad_is_zero and rule.backoff_interval == 1 and rule.growth_guard and rule.min_scale == 0.0:
            interval = min(rule.growth_interval, _INT32_MAX)
            torch._amp_update_scale_(tensors.scale, tensors.good, found_inf, growth, backoff, interval)
        else:
            tensors.bad_is_zero = False
            update_by_parts_(tensors, found_inf, rule, growth, backoff)


def update_by_parts_(
    tensors: ScaleTensors, found_inf: torch.Tensor, rule: LossScaleRule, growth: float, backoff: float
) -> None:
    """The whole rule in tensor operations, for what ``_amp_update_scale_`` cannot say."""
    found = found_inf > 0
    bad = (tensors.bad + 1) * found
    good = (tensors.good + 1) * ~found
    reduce = (bad == min(rule.backoff_interval, _INT32_MAX)) & found
    grow = (good == min(rule.growth_interval, _INT32_MAX)) & ~found
    scale = tensors.scale.double()
    grown = (scale * growth).float()
    if rule.growth_guard:
        grown = torch.where(torch.isfinite(grown), grown, tensors.scale)
    reduced = (scale * backoff).float().clamp_min(rule.min_scale)
    tensors.scale.copy_(torch.where(reduce, reduced, torch.where(grow, grown, tensors.scale)))
    tensors.good.copy_(good * ~grow)
    tensors.bad.copy_(bad * ~reduce)
