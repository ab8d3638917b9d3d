"""Arrays that walks set in linear layers: what is converted gives the same outputs, what is not is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from paddletorch import convert

PROGRAM = """import numpy as np
import paddle

nn = paddle.nn
net = nn.Sequential(nn.Linear(3, 3, bias_attr=False), nn.Linear(3, 3, bias_attr=False))
{lines}
output = net(paddle.ones([1, 3])).numpy()
"""
ARRAY = 'np.tri(3, dtype="float32")'
SAID = [
    f"for p in net.parameters():\n    p.set_value({ARRAY})",
    f"for layer in net.sublayers():\n    if hasattr(layer, 'weight'):\n        layer.weight.set_value({ARRAY})",
]
RIGHT = [
    f"for layer in net.sublayers():\n    if isinstance(layer, nn.Linear):\n        layer.weight.set_value({ARRAY})",
    "for p in net.parameters():\n    p.set_value(np.ones(p.shape, 'float32'))",
]


@pytest.mark.parametrize("lines", SAID)
def test_an_array_of_a_walk_is_reported(lines: str) -> None:
    found = convert(PROGRAM.format(lines=lines), to="torch").findings
    last = 5 + len(lines.splitlines())
    assert [(one.code, one.line) for one in found if one.severity.value != "info"] == [("NNL209", last)]


@pytest.mark.parametrize("lines", RIGHT)
def test_another_one_is_right(lines: str) -> None:
    text = PROGRAM.format(lines=lines)
    result = convert(text, to="torch")
    assert [one for one in result.findings if one.severity.value != "info"] == []
    np.testing.assert_allclose(_output(text), _output(result.output), rtol=1e-6)


def _output(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text.replace(".numpy()", ".detach().numpy()"), names)
    return names["output"]
