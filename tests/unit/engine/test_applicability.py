"""What ``--unsafe`` is offered for: places that it would convert, not those that are converted already."""

from __future__ import annotations

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Applicability, Options

SAMPLER = """import torch
from torch.utils.data import DataLoader
sampler = torch.utils.data.distributed.DistributedSampler(data, shuffle=False, drop_last=True)
loader = DataLoader(data, batch_size=4, sampler=sampler)
"""
TOLERANT = "import paddle\nscaler = paddle.amp.GradScaler(decr_every_n_nan_or_inf=2)\n"


def test_nothing_is_offered_for_what_is_converted() -> None:
    result = Engine(Options(target="paddle")).convert(SAMPLER.encode(), "train.py")
    assert b"paddle.io.DistributedBatchSampler" in result.output
    (found,) = [d for d in result.diagnostics if d.code == "API221"]
    assert "drop_last=True" in found.message
    assert found.applicability is Applicability.DISPLAY
    assert "--unsafe" not in found.hint


@pytest.mark.parametrize("unsafe", [False, True])
def test_the_option_is_offered_until_it_is_given(unsafe: bool) -> None:
    result = Engine(Options(target="torch", unsafe=unsafe)).convert(TOLERANT.encode(), "train.py")
    assert (b"torch.amp.GradScaler" in result.output) is unsafe
    offered = [d.code for d in result.diagnostics if d.applicability is Applicability.UNSAFE]
    assert bool(offered) is not unsafe
