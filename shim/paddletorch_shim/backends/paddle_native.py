"""Paddle's own single-pass operations: a norm to check a gradient, an in-place scale to unscale it.

Not Paddle's ``check_finite_and_unscale``: on the CPU it zeroes every gradient after the first infinity, takes
float32 and float64 only, and was slower than the two operations here (161 gradients of ResNet-50's shapes).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import paddle
from paddle import _C_ops

from paddletorch_shim.backends import BackendError, ScaleTensors, paddle_reference
from paddletorch_shim.policy import LossScaleRule, LossScaleState, float32


class Backend:
    """Paddle's fast operations for float32 and float64, plain ones for the rest. Waits for the device."""

    name = "native"
    automatic = True
    one_launch = None

    def __init__(self) -> None:
        for operation in ("squared_l2_norm", "scale_"):
            if not hasattr(_C_ops, operation):
                raise BackendError(
                    f"backend 'native' needs paddle's {operation}, which paddle {paddle.__version__} lacks; "
                    "use 'reference'"
                )
        self._plain = paddle_reference.Backend()

    def place(self, state: LossScaleState, device: None) -> ScaleTensors:
        """See ``paddletorch_shim.backends.Backend``."""
        return self._plain.place(state, device)

    def write(self, tensors: ScaleTensors, state: LossScaleState) -> None:
        """See ``paddletorch_shim.backends.Backend``."""
        self._plain.write(tensors, state)

    @paddle.no_grad()  # type: ignore[untyped-decorator]
    def unscale_(self, grads: Sequence[paddle.Tensor], scale: paddle.Tensor) -> paddle.Tensor:
        """See ``paddletorch_shim.backends.Backend``."""
        single, double, rest = _by_dtype(grads)
        overflow = [_overflowed(group) for group in (single, double) if group]
        factor = scale.item()
        inverse = float32(1.0 / factor) if factor else math.inf  # many overflows make it zero, as torch's
        for grad in (*single, *double):
            # A bias of -0.0 is the only one that changes no value: 0.0 would turn -0.0 into 0.0.
            _C_ops.scale_(grad, inverse, -0.0, True)  # type: ignore[attr-defined]
        found_inf = self._plain.unscale_(rest, scale) if rest else paddle.zeros([], "float32")
        return found_inf.fill_(1.0) if any(overflow) else found_inf

    def update_(self, tensors: ScaleTensors, found_inf: paddle.Tensor, rule: LossScaleRule) -> None:
        """See ``paddletorch_shim.backends.Backend``."""
        self._plain.update_(tensors, found_inf, rule)


def _by_dtype(
    grads: Sequence[paddle.Tensor],
) -> tuple[list[paddle.Tensor], list[paddle.Tensor], list[paddle.Tensor]]:
    """float32, float64 and other gradients. Dtypes are compared by identity first, which is much cheaper."""
    groups: tuple[list[paddle.Tensor], list[paddle.Tensor], list[paddle.Tensor]] = ([], [], [])
    single = paddle.float32
    for grad in grads:
        dtype = grad.dtype
        if dtype is single or dtype == single:
            groups[0].append(grad)
        else:
            groups[1 if dtype == paddle.float64 else 2].append(grad)
    return groups


def _overflowed(group: Sequence[paddle.Tensor]) -> bool:
    """Whether any element of gradients of one dtype is infinite or NaN; reads one number."""
    squares = paddle.add_n([_C_ops.squared_l2_norm(grad) for grad in group])
    if bool(paddle.isfinite(squares).item()):
        return False
    # Squares of finite numbers overflow too, so now every gradient is looked at by itself.
    return not all(bool(paddle.isfinite(grad).all().item()) for grad in group)
