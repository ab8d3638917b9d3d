"""Members of the framework's classes that the target lacks are reported where the class is certain, and only there."""

from __future__ import annotations

import pytest
from paddletorch.model import Options

from ...fixture_files import engine_for

_HEAD = "import torch\n\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("act = torch.nn.ReLU()\nprint(act.inplace)\n", ["torch.nn.ReLU.inplace"]),
        ("pool = torch.nn.MaxPool2d(3)\nprint(pool.dilation, pool.padding)\n", ["torch.nn.MaxPool2d.dilation"]),
        ("def f(params):\n    return torch.optim.Adam(params).state\n", ["torch.optim.Optimizer.state"]),
        ("def f(act):\n    return act.inplace\n", []),
        ("class Own(torch.nn.ReLU):\n    inplace = 3\n\n\nprint(Own().inplace)\n", []),
        ("act = torch.nn.ReLU()\nact.inplace = 3\nprint(act.inplace)\n", []),
    ],
)
def test_only_what_is_certain_is_reported(code: str, said: list[str]) -> None:
    found = engine_for(Options(target="paddle")).convert((_HEAD + code).encode(), "f.py").diagnostics
    assert [one.name for one in found if one.code == "TRN201"] == said


def test_the_finding_has_the_reason_and_the_way_out() -> None:
    code = b"import paddle\n\nnet = paddle.nn.Dropout(0.5)\nprint(net.mode)\n"
    (found,) = engine_for(Options(target="torch")).convert(code, "f.py").diagnostics
    assert "torch's layer does not keep it" in found.message
    assert found.hint.startswith("Keep the value that the layer is made with")


def test_a_member_of_the_object_s_own_type_goes_before_one_that_shows_another_type() -> None:
    code = b"import torch\n\nnet = torch.nn.Bilinear(2, 3, 4)\nprint(net.out_features)\n"
    output = engine_for(Options(target="paddle")).convert(code, "f.py").output
    assert output is not None
    assert b"net._out_features" in output
