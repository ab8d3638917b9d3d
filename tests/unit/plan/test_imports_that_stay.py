"""An import of the source framework that stays is said, also where nothing in the file uses it by its name."""

from __future__ import annotations

import pytest
from paddletorch import convert
from paddletorch.model import Framework


@pytest.mark.parametrize(
    ("to", "line", "code", "name"),
    [
        ("paddle", "from torch.nosuch import *", "API225", "torch.nosuch"),
        ("paddle", "from torch.nosuch import a", "API225", "torch.nosuch.a"),
        ("paddle", "import torch.nosuch as ns", "API225", "torch.nosuch"),
        ("paddle", "from torch.jit import script", "NNM204", "torch.jit.script"),
        ("torch", "from paddle.fluid.layers import *", "TRN201", "paddle.fluid.layers"),
        ("torch", "from paddle.fluid import layers", "TRN201", "paddle.fluid.layers"),
    ],
)
def test_an_import_without_a_counterpart(to: Framework, line: str, code: str, name: str) -> None:
    result = convert(f"{line}\n\ny = fc(1)\n", to=to)
    assert line in result.output
    assert [(found.code, found.name, found.line) for found in result.findings] == [(code, name, 1)]
    assert result.fates.left == 1


@pytest.mark.parametrize(
    ("to", "line"),
    [
        ("paddle", "from torch.nn.functional import *"),
        ("paddle", "import torch.nn.functional as F"),
        ("paddle", "import torch.distributed.rpc as rpc"),
        ("torch", "import paddle.fluid as fluid"),
        ("torch", "import paddle.fluid.layers"),
    ],
)
def test_an_import_that_goes_is_not_said(to: Framework, line: str) -> None:
    source = "torch" if to == "paddle" else "paddle"
    result = convert(f"import {source}\n{line}\n\ny = {source}.tanh({source}.ones([1]))\nz = relu(y)\n", to=to)
    assert source not in result.output
    assert result.findings == ()


def test_a_module_that_only_stands_there_becomes_the_target() -> None:
    result = convert("import paddle.fluid.layers\n\ny = 1\n", to="torch")
    assert (result.output, result.findings) == ("import torch\n\ny = 1\n", ())
