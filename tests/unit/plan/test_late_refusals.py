"""A use that a late pass leaves: what is edited beside it is what would be edited had it been left at first."""

from __future__ import annotations

import pytest
from paddletorch.model import Framework, Options
from paddletorch.plan import planner
from paddletorch.plan.model.changes import Changes, Pass, Planned
from paddletorch.plan.model.use import Draft
from paddletorch.plan.model.view import FileView

from ...fixture_files import engine_for

SOURCES: dict[str, tuple[Framework, str]] = {
    "a scheduler that moves": (
        "torch",
        "import paddle\n\ndef make(model):\n    rate = paddle.optimizer.lr.StepDecay(0.1, 30)\n    x = 1\n"
        "    optimizer = paddle.optimizer.SGD(rate, parameters=model.parameters())\n    return optimizer, rate\n",
    ),
    "a scheduler that is set": (
        "torch",
        "import paddle\n\noptimizer = paddle.optimizer.SGD(1.0, parameters=model.parameters())\n"
        "rate = paddle.optimizer.lr.StepDecay(1.0, 30)\noptimizer.set_lr_scheduler(rate)\n",
    ),
    "a scheduler in the optimizer's call": (
        "torch",
        "import paddle\n\noptimizer = paddle.optimizer.SGD(paddle.optimizer.lr.StepDecay(0.1, 30), "
        "parameters=model.parameters())\nprint(optimizer._learning_rate)\n",
    ),
    "a clip of gradients": (
        "torch",
        "import paddle\n\nclip = paddle.nn.ClipGradByGlobalNorm(1.0)\n"
        "optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters(), grad_clip=clip)\noptimizer.step()\n",
    ),
    "a scheduler with its optimizer": (
        "paddle",
        "import torch\n\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30)\nscheduler.step()\n",
    ),
    "a sampler of a loader": (
        "paddle",
        "from torch.utils.data import DataLoader, DistributedSampler\n\nsampler = DistributedSampler(data)\n"
        "loader = DataLoader(data, batch_size=4, sampler=sampler)\n",
    ),
    "a base class": (
        "paddle",
        "import torch\n\nclass Net(torch.nn.GRU):\n    def __init__(self, n):\n        super().__init__(n, n)\n",
    ),
}


@pytest.mark.parametrize(("target", "source"), SOURCES.values(), ids=SOURCES)
def test_late_is_as_good_as_early(monkeypatch: pytest.MonkeyPatch, target: Framework, source: str) -> None:
    passes = planner.PASSES
    names = [one.name for one in passes]
    first, last = names.index("sites") + 1, names.index("names") + 1
    for number in range(len(_converted(source, target))):
        outputs = []
        for place in (first, last):
            leaving = Pass("leaves one use", _leaving(number), leaves_uses=True)
            monkeypatch.setattr(planner, "PASSES", (*passes[:place], leaving, *passes[place:]))
            outputs.append(engine_for(Options(target)).convert(source.encode(), "a.py").output.decode())
        monkeypatch.setattr(planner, "PASSES", passes)
        assert outputs[0] == outputs[1], f"without {_converted(source, target)[number]}"


def _leaving(number: int):  # type: ignore[no-untyped-def]
    """A pass that leaves the call, base class or value of this number."""

    def plan(view: FileView, planned: Planned) -> Changes:
        draft = Draft(planned.uses)
        sites = [use.site for use in draft if use.row.kind != "module"]
        if number < len(sites):
            draft.refuse(sites[number], None)
        return Changes(uses=draft.revised)

    return plan


def _converted(source: str, target: Framework) -> list[str]:
    result = engine_for(Options(target)).convert(source.encode(), "a.py")
    assert result.conversions
    return [conversion.name for conversion in result.conversions]
