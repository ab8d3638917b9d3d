"""A device that may be None stays None on the other side, and comes back as it was."""

from __future__ import annotations

import pytest
from paddletorch.model import Framework, Options

from ...fixture_files import engine_for


def convert(text: str, target: Framework) -> str:
    return engine_for(Options(target=target)).convert(text.encode(), "x.py").output.decode()


FUNCTION = """import torch


def make(device{default}):
    return torch.nn.LayerNorm(3).to(device)


make("cuda")
make(name() + "0")
"""


@pytest.mark.parametrize(
    ("default", "written"),
    [("=None", 'device and device.replace("cuda", "gpu")'), ('="cuda:0"', 'device.replace("cuda", "gpu")')],
)
def test_device(default: str, written: str) -> None:
    text = FUNCTION.replace("{default}", default)
    there = convert(text, "paddle")
    assert f".to({written})" in there
    assert ".to(device)" in convert(there, "torch")
    assert convert(there, "paddle") == there
