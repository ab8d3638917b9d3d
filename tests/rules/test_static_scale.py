"""``paddle_loss_scaling`` of ``adapters/functions_to_torch.toml``: torch's scaler keeps a scale that is not dynamic."""

from __future__ import annotations

import pytest
import torch
from paddletorch_rules.adapters import functions


def scaled_by(use_dynamic_loss_scaling: bool) -> torch.amp.GradScaler:
    """A scaler for the CPU, as the written function makes it."""
    names: dict[str, object] = {"torch": torch}
    exec(functions("torch")["paddle_loss_scaling"].text, names)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0 + 1 / 3, growth_interval=2)
    return names["paddle_loss_scaling"](scaler, use_dynamic_loss_scaling)  # type: ignore[operator, no-any-return]


@pytest.mark.parametrize(("is_dynamic", "stays"), [(False, True), (True, False)])
def test_the_scale_stays_over_finite_steps_and_overflows(is_dynamic: bool, stays: bool) -> None:
    scaler, weight = scaled_by(is_dynamic), torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scales = []
    for step in range(60):
        optimizer.zero_grad()
        factor = float("inf") if step % 5 == 0 else 1.0
        scaler.scale((weight * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    assert (len(set(scales)) == 1) is stays
    assert weight.allclose(torch.tensor(1.0 - 0.1 * 48))  # steps with an overflow are left out
