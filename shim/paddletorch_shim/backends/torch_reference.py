"""The plainest arithmetic on torch tensors: one gradient at a time, the rule on the host."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from paddletorch_shim.backends import ScaleTensors
from paddletorch_shim.policy import LossScaleRule, LossScaleState


class Backend:
    """Plain torch operations; any device and floating dtype. Its update waits for the device."""

    name = "reference"
    automatic = True
    one_launch = None

    def place(self, state: LossScaleState, device: torch.device | None) -> ScaleTensors:
        """See ``paddletorch_shim.backends.Backend``."""
        return ScaleTensors(
            torch.full((), state.scale, dtype=torch.float32, device=device),
            torch.full((), state.good, dtype=torch.int32, device=device),
            torch.full((), state.bad, dtype=torch.int32, device=device),
            state.bad == 0,
        )

    def write(self, tensors: ScaleTensors, state: LossScaleState) -> None:
        """See ``paddletorch_shim.backends.Backend``."""
        tensors.scale.fill_(state.scale)
        tensors.good.fill_(state.good)
        tensors.bad.fill_(state.bad)
        tensors.bad_is_zero = state.bad == 0

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def unscale_(self, grads: Sequence[torch.Tensor], scale: torch.Tensor) -> torch.Tensor:
        """See ``paddletorch_shim.backends.Backend``."""
        inverse = scale.double().reciprocal().float()
        found_inf = torch.zeros_like(scale)
        for grad in grads:
            found_inf += (~torch.isfinite(grad)).any().to(found_inf)
            # float16 and bfloat16 are multiplied in float32 and rounded once, as the framework's kernels do.
            grad.copy_(grad.to(torch.promote_types(grad.dtype, torch.float32)) * inverse.to(grad.device))
        return found_inf

    def update_(self, tensors: ScaleTensors, found_inf: torch.Tensor, rule: LossScaleRule) -> None:
        """See ``paddletorch_shim.backends.Backend``."""
        self.write(tensors, rule.advance(tensors.read(), bool(found_inf.item())))


def copied_to(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The tensor on ``device``. Only a copy to the host is waited for: read before its end, it is any number."""
    return tensor.to(device, non_blocking=device.type != "cpu")
