"""Where a file sets torch's default dtype, what is cast gets that one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import paddle
import pytest
import torch
from paddletorch.engine.engine import Engine
from paddletorch.model import Options

ENGINE = Engine(Options(target="paddle"))

BODY = """
m = torch.ones(4) > 0.5
i = torch.arange(1, 5)
result = [
    torch.cat([m, torch.ones(4)]), m * torch.ones(4), i / torch.ones(4), i * 0.5, torch.tensor([0.5]) * m, i / 2, m / 2,
    torch.full((4,), 0.5) * i, torch.where(m, torch.ones(4), i), i ** 0.5, torch.true_divide(i, i), i / i, i.sqrt() * i,
]
"""


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    torch.set_default_dtype(torch.float32)
    paddle.set_default_dtype("float32")


@pytest.mark.parametrize(
    "head",
    [
        "torch.set_default_dtype(torch.float64)",
        "torch.set_default_dtype(torch.double)",
        "def main():\n    torch.set_default_dtype(torch.float64)\n\nmain()",
        "torch.set_default_dtype(torch.float32)",
    ],
)
def test_casts_name_the_default_dtype(head: str) -> None:
    code = f"import torch\n\n{head}\n{BODY}"
    converted = ENGINE.convert(code.encode(), "defaults.py")
    assert [d.code for d in converted.diagnostics] == []
    for mine, its in zip(_result(converted.output.decode()), _result(code), strict=True):
        assert str(mine.dtype).partition(".")[2] == str(its.dtype).partition(".")[2]
        assert mine.numpy().tolist() == pytest.approx(its.numpy().tolist(), rel=1e-6)


def test_of_several_defaults_none_is_written() -> None:
    head = "torch.set_default_dtype(torch.float64)\na = torch.ones(4)\ntorch.set_default_dtype(torch.float32)"
    code = f"import torch\n\n{head}\nb = (a > 0) * a\nc = torch.arange(4) * 0.5\n"
    converted = ENGINE.convert(code.encode(), "defaults.py").output.decode()
    assert "(a > 0).astype(a.dtype) * a" in converted
    assert "paddle.arange(4).astype(paddle.get_default_dtype()) * 0.5" in converted


def _result(code: str) -> Any:
    names: dict[str, Any] = {}
    exec(code, names)
    return names["result"]
