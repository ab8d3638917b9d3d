"""Names that one file imports from the framework and others import from there."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import FileResult, Framework, Options

COMPAT = """
    try:
        from torch.cuda.amp import GradScaler, autocast
    except ImportError:
        GradScaler = autocast = None
    from torch import nn
    from torch.utils.data import Dataset
"""


def convert(
    folder: Path, code: str, target: Framework = "paddle", compat: str = COMPAT, unsafe: bool = False
) -> FileResult:
    files = {"__init__.py": "", "compat.py": compat, "again.py": "from .compat import *\n", "train.py": code}
    for name, text in files.items():
        path = folder / "pkg" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
    path = folder / "pkg" / "train.py"
    return Engine(Options(target=target, unsafe=unsafe), tree=True).convert(path.read_bytes(), str(path))


@pytest.mark.parametrize("imports", ["from .compat import {}", "from pkg.again import {}", "from .again import *"])
@pytest.mark.parametrize(
    ("name", "code", "column"),
    [
        ("GradScaler", "s = GradScaler(enabled=True)", 5),
        ("autocast", "with autocast(enabled=False):\n    pass", 6),
        ("nn", "layer = nn.Conv2d(3, 4, 1)", 9),
    ],
)
def test_a_call_that_the_other_file_breaks_is_reported(
    tmp_path: Path, imports: str, name: str, code: str, column: int
) -> None:
    if imports.endswith("*") and name != "nn":
        pytest.skip("a name that is the framework's alone needs no import")
    source = f"import torch\n{imports.format(name)}\n{code}\n"
    result = convert(tmp_path, source)
    assert [(d.code, d.line, d.column) for d in result.diagnostics] == [("API201", 3, column)]
    assert code in result.output.decode()


@pytest.mark.parametrize(
    "code",
    [
        "from .compat import autocast\nwith autocast(False):\n    torch.zeros(3)",
        "from .compat import Dataset\nclass Clips(Dataset):\n    x = torch.zeros(3)",
        "from .compat import nn\ndef size(net: nn.Linear):\n    return torch.zeros(3)",
        "from .compat import GradScaler\ndef keep(scaler: GradScaler | None):\n    return torch.zeros(3)",
        "from numpy import nn\nlayer = nn.Conv2d(3, 4, 1)\ntorch.zeros(3)",
    ],
)
def test_a_use_that_reads_alike_needs_no_finding(tmp_path: Path, code: str) -> None:
    result = convert(tmp_path, f"import torch\n{code}\n")
    assert [d.code for d in result.diagnostics] == []
    expected = f"import paddle\n{code}\n".replace("torch.zeros(3)", "paddle.zeros([3])")
    assert result.output.decode() == expected


def test_unsafe_converts_the_call(tmp_path: Path) -> None:
    result = convert(tmp_path, "from .compat import GradScaler\ns = GradScaler(init_scale=2.0)\n", unsafe=True)
    assert "s = paddle.amp.GradScaler(init_loss_scaling=2.0" in result.output.decode()


def test_to_torch_as_well(tmp_path: Path) -> None:
    compat = "from paddle.amp import GradScaler\n"
    code = "import paddle\nfrom .compat import GradScaler\ns = GradScaler(init_loss_scaling=2.0)\n"
    assert [d.code for d in convert(tmp_path, code, "torch", compat).diagnostics] == ["API201"]


def test_what_is_converted_already_is_no_longer_found(tmp_path: Path) -> None:
    compat = COMPAT.replace("torch.cuda.amp", "paddle.amp").replace("autocast", "auto_cast as autocast", 1)
    code = "import torch\nfrom .compat import GradScaler\ns = GradScaler(enable=True)\n"
    assert [d.code for d in convert(tmp_path, code, compat=compat).diagnostics] == []


@pytest.mark.parametrize("target", ["paddle", "torch"])
@pytest.mark.parametrize("alias", ["Tensor = {0}.Tensor", "from {0} import Tensor"])
def test_the_tensor_class_under_a_name_of_another_file_stays(tmp_path: Path, target: Framework, alias: str) -> None:
    source = "torch" if target == "paddle" else "paddle"
    code = f"import {source}\nfrom .compat import Tensor\ndef f(x: Tensor) -> Tensor:\n    return {source}.abs(x)\n"
    compat = f"import {source}\n{alias.format(source)}\n"
    result = convert(tmp_path, code, target, compat)
    assert not result.diagnostics
    assert "def f(x: Tensor) -> Tensor:" in result.output.decode()
    other = Engine(Options(target=target)).convert(compat.encode(), "compat.py")
    assert alias.format(target) in other.output.decode()
    assert not other.diagnostics
