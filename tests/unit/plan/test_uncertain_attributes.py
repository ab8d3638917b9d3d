"""A call of an attribute that may hold another library's class: left, as the call of such a variable is."""

from __future__ import annotations

import pytest
from paddletorch import convert

PROGRAM = """import torch
import other


class Trainer:
    def make(self, model, plain):
        {bound}
        return self.make_optimizer(params=model.parameters(), lr=0.1)
"""

OTHER = """

class Beside:
    def __init__(self):
        self.make_optimizer = {value}
"""


@pytest.mark.parametrize(
    "bound",
    [
        "self.make_optimizer = torch.optim.AdamW if plain else other.Optimizer",
        "self.make_optimizer = other.Optimizer\n        if plain:\n            self.make_optimizer = torch.optim.AdamW",
        "self.make_optimizer = {True: torch.optim.AdamW, False: other.Optimizer}[plain]",
        "self.make_optimizer = Own if plain else torch.optim.AdamW",
    ],
)
@pytest.mark.parametrize("beside", ["", OTHER.format(value="torch.optim.AdamW")])
def test_what_may_be_another_class_is_left(bound: str, beside: str) -> None:
    text = PROGRAM.format(bound=bound) + beside + "\n\nclass Own:\n    pass\n"
    result = convert(text, to="paddle")
    assert "self.make_optimizer(params=model.parameters(), lr=0.1)" in result.output
    assert "API201" in {found.code for found in result.findings}


@pytest.mark.parametrize(
    "bound", ["self.make_optimizer = torch.optim.AdamW", "self.make_optimizer = plain or torch.optim.AdamW"]
)
@pytest.mark.parametrize("beside", ["", OTHER.format(value="other.Optimizer")])
def test_what_is_one_class_or_the_callers_is_converted(bound: str, beside: str) -> None:
    result = convert(PROGRAM.format(bound=bound) + beside, to="paddle")
    assert "self.make_optimizer(parameters=model.parameters(), learning_rate=0.1)" in result.output
    assert not result.findings
