"""The torch scaler on CUDA tensors. Needs a device."""

from __future__ import annotations

import math

import pytest
import torch
from paddletorch_shim.policy import LossScaleRule, LossScaleState
from paddletorch_shim.torch import GradScaler

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device"),
]

SCHEDULE = [1.0, math.inf, 1.0, 1.0, math.nan, math.inf, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("backend", ["fused", "native", "reference"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("tolerated", [1, 2])
def test_dtypes_follow_the_policy(dtype: torch.dtype, backend: str, tolerated: int) -> None:
    param = torch.nn.Parameter(torch.ones(3, dtype=dtype, device="cuda"))
    optimizer = torch.optim.SGD([param], lr=0.5)
    scaler = GradScaler(
        init_loss_scaling=64.0, incr_every_n_steps=2, decr_every_n_nan_or_inf=tolerated, backend=backend
    )
    rule, state = LossScaleRule(2.0, 0.5, 2, tolerated), LossScaleState(64.0)
    expected = 1.0
    for gradient in SCHEDULE:
        optimizer.zero_grad()
        scaler.scale((param * gradient).sum().float()).backward()
        scaler.step(optimizer)
        scaler.update()
        state = rule.advance(state, not math.isfinite(gradient))
        expected -= 0.5 * gradient if math.isfinite(gradient) else 0.0
        saved = scaler.state_dict()
        assert (saved["scale"].item(), saved["incr_count"], saved["decr_count"]) == (
            state.scale,
            state.good,
            state.bad,
        )
        assert param.tolist() == [expected] * 3


@pytest.mark.parametrize("devices", [("cpu", "cuda"), ("cuda", "cpu")])
@pytest.mark.parametrize("backend", ["fused", "native", "reference"])
def test_parameters_on_two_devices(backend: str, devices: tuple[str, str]) -> None:
    """A number that one device found is not read on the other before it is there, whichever holds the scale."""
    params = [torch.nn.Parameter(torch.zeros(1, device=device)) for device in devices]
    scaler, optimizer = GradScaler(init_loss_scaling=64.0, backend=backend), torch.optim.SGD(params, lr=1.0)
    finite, scale = 0, 64.0
    for overflow_on in [None, "cuda", None, "cpu", None, None, "cuda", "cpu", None] * 3:
        if scale < 1.0:
            scale = 64.0
            scaler.set_init_loss_scaling(scale)
        optimizer.zero_grad()
        for param in params:
            scaler.scale((param * (math.inf if param.device.type == overflow_on else 1.0)).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        finite += overflow_on is None
        scale *= 1.0 if overflow_on is None else 0.5
        assert [param.item() for param in params] == [-finite] * 2
        assert scaler.state_dict()["scale"].item() == scale


@pytest.mark.parametrize("backend", ["fused", "native"])
@pytest.mark.parametrize("tolerated", [1, 2])
def test_a_fused_optimizer_makes_no_host_wait(tolerated: int, backend: str) -> None:
    param = torch.nn.Parameter(torch.ones(3, device="cuda"))
    optimizer = torch.optim.Adam([param], lr=0.5, fused=True)
    scaler = GradScaler(init_loss_scaling=64.0, decr_every_n_nan_or_inf=tolerated, backend=backend)
    loss = (param * 2).sum()
    scaler.scale(loss).backward()  # the first scale() places the state
    torch.cuda.set_sync_debug_mode("error")
    try:
        scaler.step(optimizer)
        scaler.update()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert scaler.state_dict()["incr_count"] == 1
