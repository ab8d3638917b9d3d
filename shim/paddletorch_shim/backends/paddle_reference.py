"""The plainest arithmetic on Paddle tensors: one gradient at a time, the rule on the host."""

from __future__ import annotations

from collections.abc import Sequence

import paddle

from paddletorch_shim.backends import ScaleTensors
from paddletorch_shim.policy import LossScaleRule, LossScaleState


class Backend:
    """Plain Paddle operations; any place and floating dtype. Its update waits for the device."""

    name = "reference"
    automatic = True
    one_launch = None

    def place(self, state: LossScaleState, device: None) -> ScaleTensors:
        """See ``paddletorch_shim.backends.Backend``; ``device`` is None, Paddle has one current place."""
        return ScaleTensors(
            paddle.full([], state.scale, "float32"),
            paddle.full([], state.good, "int32"),
            paddle.full([], state.bad, "int32"),
            state.bad == 0,
        )

    def write(self, tensors: ScaleTensors, state: LossScaleState) -> None:
        """See ``paddletorch_shim.backends.Backend``."""
        tensors.scale.fill_(state.scale)
        tensors.good.fill_(state.good)
        tensors.bad.fill_(state.bad)
        tensors.bad_is_zero = state.bad == 0

    @paddle.no_grad()  # type: ignore[untyped-decorator]
    def unscale_(self, grads: Sequence[paddle.Tensor], scale: paddle.Tensor) -> paddle.Tensor:
        """See ``paddletorch_shim.backends.Backend``."""
        inverse = (1.0 / scale.astype("float64")).astype("float32")
        found_inf = paddle.zeros([], "float32")
        for grad in grads:
            if not grad.size:
                continue  # Paddle 2.6 has no isfinite of nothing
            found_inf += paddle.logical_not(paddle.isfinite(grad).all()).astype("float32")
            multiply_(grad, inverse)
        return found_inf

    def update_(self, tensors: ScaleTensors, found_inf: paddle.Tensor, rule: LossScaleRule) -> None:
        """See ``paddletorch_shim.backends.Backend``."""
        self.write(tensors, rule.advance(tensors.read(), bool(found_inf.item())))


def multiply_(grad: paddle.Tensor, inverse: paddle.Tensor) -> None:
    """``grad *= inverse`` in place, rounded once; not ``scale_``, whose added bias turns -0.0 into 0.0."""
    if grad.dtype == paddle.float32:
        grad.multiply_(inverse)
    elif grad.dtype == paddle.float64:
        grad.multiply_(inverse.astype("float64"))
    else:
        paddle.assign((grad.astype("float32") * inverse).astype(grad.dtype), output=grad)
