"""Keys of optimizers' and schedulers' states are reported where the other framework's state lacks them."""

from __future__ import annotations

from typing import Any

import pytest
from paddletorch import convert

TORCH = """import torch

optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3)
{line}
"""
PADDLE = """import paddle

scheduler = paddle.optimizer.lr.StepDecay(0.1, step_size=3)
optimizer = paddle.optimizer.Momentum(scheduler, parameters=[paddle.create_parameter([2], "float32")])
{line}
"""


@pytest.mark.parametrize(
    ("source", "code", "line"),
    [
        (TORCH, "LRS202", 'scheduler.state_dict()["gamma"]'),
        (TORCH, "LRS202", 'scheduler.state_dict()["_last_lr"]'),
        (TORCH, "OPT204", 'optimizer.state_dict()["param_groups"]'),
        (TORCH, "OPT204", 'state = optimizer.state_dict(); state["state"]'),
        (PADDLE, "LRS202", 'scheduler.state_dict()["last_lr"]'),
        (PADDLE, "OPT204", 'optimizer.state_dict()["LR_Scheduler"]'),
    ],
)
def test_a_key_that_the_other_state_lacks(source: str, code: str, line: str) -> None:
    text = source.format(line=line)
    result = convert(text, to="paddle" if source is TORCH else "torch")
    assert [(one.code, one.line) for one in result.findings if one.severity.value != "info"] == [(code, 5)]
    _run(text)
    with pytest.raises(KeyError):
        _run(result.output)


@pytest.mark.parametrize("source", [TORCH, PADDLE])
@pytest.mark.parametrize(
    "line",
    [
        'scheduler.state_dict()["last_epoch"]',
        'state = optimizer.state_dict(); state["epoch"] = 1; state["epoch"]',
        'state = {"a": optimizer.state_dict()}; state["a"]',
    ],
)
def test_a_key_that_it_has(source: str, line: str) -> None:
    result = convert(source.format(line=line), to="paddle" if source is TORCH else "torch")
    assert [one for one in result.findings if one.severity.value != "info"] == []
    _run(result.output)


def _run(text: str) -> None:
    names: dict[str, Any] = {}
    exec(text, names)
