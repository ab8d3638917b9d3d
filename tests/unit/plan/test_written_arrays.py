"""An array of NumPy that is written to: torch's tensor changes with it, Paddle's does not, and that is said."""

from __future__ import annotations

import numpy as np
import paddle
import torch
from paddletorch import convert

PROGRAM = """import torch


def made(x: torch.Tensor):
    y = x + 1
    array = y{0}.numpy()
    array[0] = 7
    return y
"""


def test_the_frameworks_differ_where_it_is_said() -> None:
    text = PROGRAM.format("")
    result = convert(text, to="paddle")
    assert [one.code for one in result.findings] == ["TEN214"]
    names: dict[str, object] = {}
    exec(text, names)
    changed = names["made"](torch.zeros(2))  # type: ignore[operator]
    exec(result.output, names)
    left = names["made"](paddle.zeros([2]))  # type: ignore[operator]
    assert (changed.tolist(), np.asarray(left).tolist()) == ([7.0, 1.0], [1.0, 1.0])


def test_a_copy_is_no_matter() -> None:
    for method in (".clone()", ".abs()", ".cpu()"):
        assert not convert(PROGRAM.format(method), to="paddle").findings
