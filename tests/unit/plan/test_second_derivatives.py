"""Derivatives with a graph of models that the file does not show: said once, since Paddle may raise there."""

from __future__ import annotations

import pytest
from paddletorch import convert

SOURCE = """import torch


def penalty({model}, x):
    x = x.requires_grad_(True)
    y = {model}(x)
    (gradient,) = torch.autograd.grad(y.sum(), x, create_graph={graph})
    return (gradient * gradient).mean()
"""
OWN = """

class Critic(torch.nn.Module):
    def forward(self, x):
        return x * x


penalty(Critic(), torch.ones(2))
"""


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        (SOURCE.format(model="critic", graph=True), True),
        (SOURCE.format(model="loss_fn", graph=True), False),
        (SOURCE.format(model="critic", graph=False), False),
        (SOURCE.format(model="critic", graph=True) + OWN, False),
    ],
)
def test_a_model_of_another_file(text: str, is_said: bool) -> None:
    found = [(one.code, one.line) for one in convert(text, to="paddle").findings if one.code == "AGD203"]
    assert found == ([("AGD203", 7)] if is_said else [])
