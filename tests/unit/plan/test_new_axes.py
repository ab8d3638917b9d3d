"""New axes before an index give torch's values and shapes on Paddle."""

from __future__ import annotations

from typing import Any

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
from paddletorch.proof.compare import difference

ENGINE = Engine(Options(target="paddle"))

SUBSCRIPTS = [
    "x[None, i]",
    "x[:, None, i]",
    "x[None, :, None, [0, 2], 1:]",
    "x[None, i, 1]",
    "x[1, None, i]",
    "x[None, 2]",
    "x[None, x[:, 0, 0] > 20]",
    "x[i, None]",
    "x[..., None]",
]


@pytest.mark.parametrize("subscript", SUBSCRIPTS)
def test_values_and_shapes_are_torchs(subscript: str) -> None:
    code = f"import torch\n\nx = torch.arange(60.0).reshape(3, 5, 4)\ni = torch.tensor([2, 0])\nresult = {subscript}\n"
    converted = ENGINE.convert(code.encode(), "axes.py")
    assert [d.code for d in converted.diagnostics] == []
    assert difference(_result(code), _result(converted.output.decode())) is None


@pytest.mark.parametrize("statement", ["x[None, i] = 0", "result = x[..., None, i]", "result = x[i, None, i]"])
def test_what_cannot_be_written_is_reported(statement: str) -> None:
    code = f"import torch\n\nx = torch.zeros(3, 3, 3)\ni = torch.tensor([2, 0])\n{statement}\n"
    assert [d.code for d in ENGINE.convert(code.encode(), "axes.py").diagnostics] == ["TEN213"]


def _result(code: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(code, "<axes>", "exec"), names)
    return names["result"]
