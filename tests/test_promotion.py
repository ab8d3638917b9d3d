"""Operations of two dtypes: what torch promotes is cast, and gives the same values and dtypes on Paddle."""

from __future__ import annotations

from typing import Any

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
from paddletorch.proof.compare import difference

ENGINE = Engine(Options(target="paddle"))

OPERATIONS = [
    "torch.arange(3) * torch.ones(3)",
    "torch.ones(3) / torch.tensor([1, 2, 4])",
    "torch.divide(torch.arange(3), 2) * torch.ones(3)",
    "torch.DoubleTensor([0.5, 1.5]) * torch.arange(2)",
    "torch.tensor([1, 2, 3]) ** torch.full((3,), 0.5)",
    "torch.tensor([1, 2, 3]) % torch.tensor([2.5, 1.5, 0.5])",
    "(torch.ones(3) > 0.5) * torch.arange(3)",
    "(torch.ones(3) > 0.5) + 1",
    "torch.tensor([True, False, True]) & torch.tensor([1, 1, 2])",
    "torch.arange(3, dtype=torch.int32) + torch.arange(3)",
    "torch.ones(3, dtype=torch.float64) - torch.ones(3)",
    "torch.arange(3) == torch.tensor([0.0, 1.5, 2.0])",
    "torch.outer(torch.arange(3), torch.tensor([0.5, 1.5]))",
    "torch.where(torch.tensor([True, False]), torch.tensor([1, 2]), torch.tensor([0.5, 0.5]))",
    "torch.maximum(torch.arange(3), torch.full((3,), 1.5))",
    "torch.cat([torch.arange(2), torch.zeros(2)])",
    "torch.stack((torch.tensor([True, False]), torch.tensor([2, 3])))",
    "torch.zeros(3).add_(torch.arange(3))",
    "torch.ones(2).mul(torch.tensor([True, False]))",
    "torch.nn.functional.one_hot(torch.tensor([0, 2]), 3) * torch.full((3,), 0.5)",
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_values_and_dtypes_are_torchs(operation: str) -> None:
    code = f"import torch\n\nresult = {operation}\n"
    converted = ENGINE.convert(code.encode(), "promotion.py")
    assert [d.code for d in converted.diagnostics] == []
    assert difference(_result(code), _result(converted.output.decode())) is None


def test_in_place_keeps_the_dtype() -> None:
    code = "import torch\n\nresult = torch.zeros(3)\nresult += torch.arange(3)\nresult *= torch.ones(3) > 0\n"
    converted = ENGINE.convert(code.encode(), "promotion.py").output.decode()
    assert difference(_result(code), _result(converted)) is None


def test_nothing_is_cast_where_dtypes_agree_or_are_not_seen() -> None:
    code = (
        b"import torch\n\n\ndef f(x: torch.Tensor, y):\n    return torch.rand(3) * 2 + x, x * y, torch.arange(3) + 1\n"
    )
    assert b"astype" not in ENGINE.convert(code, "promotion.py").output


def _result(code: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(code, "<promotion>", "exec"), names)
    return names["result"]
