"""What benchmarks/gpu_scaler.py checks before it measures: equal results on fresh random inputs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

MAX_NORM = 1.0


def check(device: str) -> list[str]:
    """Compare on fresh random inputs; what was compared.

    Raises:
        AssertionError: something is not equal.
    """
    import torch
    from paddletorch_shim import backends
    from paddletorch_shim.torch import GradScaler

    seed = int.from_bytes(os.urandom(4), "little")
    torch.manual_seed(seed)
    lengths = [1, 17, 333, 2049, 40_001] if device == "cpu" else [1, 17, 333, 2049, 40_001, 1_000_003] * 20
    dtypes = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
    reference = backends.choose("torch", "reference")
    for name in ("native", "fused"):
        for bad in (None, float("inf"), float("-inf"), float("nan")):
            grads = [torch.randn(n + 3, device=device).to(dtypes[i % 4])[i % 3 :] for i, n in enumerate(lengths)]
            if bad is not None:
                victim = grads[int(torch.randint(len(grads), ()))]
                victim[int(torch.randint(len(victim), ()))] = bad
            expected, scale = [grad.clone() for grad in grads], torch.rand((), device=device) * 1000 + 1
            found = backends.choose("torch", name).unscale_(grads, scale)
            assert bool(found) == bool(reference.unscale_(expected, scale)) == (bad is not None), (seed, name, bad)
            for ours, theirs in zip(grads, expected, strict=True):
                assert torch.equal(ours.nan_to_num(), theirs.nan_to_num()), (seed, name, ours.dtype)

    def train(make: Callable[[], Any], clip: bool) -> Any:
        torch.manual_seed(seed)
        params = [torch.nn.Parameter(torch.randn(n, device=device)) for n in lengths[:5]]
        optimizer, scaler = torch.optim.Adam(params, lr=0.1, fused=True), make()
        for step in range(12):
            optimizer.zero_grad()
            weight = float("inf") if step in (3, 4, 9) else 1.0 + step
            scaler.scale(sum((p * torch.randn_like(p) * weight).sum() for p in params)).backward()
            if clip and hasattr(scaler, "unscale_and_clip_"):
                scaler.unscale_and_clip_(optimizer, MAX_NORM)
            elif clip:
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(params, MAX_NORM)
            scaler.step(optimizer)
            scaler.update()
        return params, float(scaler.state_dict()["scale"])

    for clip in (False, True):
        own, scale = train(lambda: torch.amp.GradScaler(device, init_scale=4096.0, growth_interval=3), clip)
        for name in ("native", "fused"):
            ours, our_scale = train(
                lambda name=name: GradScaler(
                    init_loss_scaling=4096.0, incr_every_n_steps=3, decr_every_n_nan_or_inf=1, backend=name
                ),
                clip,
            )
            assert our_scale == scale, (seed, name, clip)
            for a, b in zip(ours, own, strict=True):
                if clip:  # the norm's sum is rounded in another order
                    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
                else:
                    assert torch.equal(a, b), (seed, name)
    return [
        f"seed {seed}",
        "native and fused against reference: float32, float16, bfloat16, float64; inf, -inf, NaN; misaligned",
        "12 steps of fused Adam with overflows against torch's GradScaler, with and without clipping",
    ]
