"""``paddletorch.codemod``: by LibCST's own test class, by its tool, and in a chain with other codemods."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import libcst as cst
import paddletorch
import pytest
from libcst.codemod import Codemod, CodemodContext, CodemodTest, VisitorBasedCodemodCommand
from libcst.codemod.visitors import AddImportsVisitor
from paddletorch.codemod import ToPaddle, ToTorch

LEFT = "import torch\n\nx = torch.empty_quantized(a, b)\n"


class TestToPaddle(CodemodTest):
    TRANSFORM = ToPaddle

    def test_converts(self) -> None:
        self.assertCodemod("import torch\nx = torch.zeros(2, 3)", "import paddle\nx = paddle.zeros([2, 3])")

    def test_what_is_left_is_a_warning(self) -> None:
        finding = paddletorch.convert(LEFT, to="paddle").findings[0]
        warning = f"3:5: {finding.code} {finding.message}. {finding.hint}"
        self.assertCodemod(LEFT, LEFT, expected_warnings=[warning])

    def test_takes_options(self) -> None:
        text = "import torch\nx = torch.zeros(2, 3)\ny = torch.sum(x, dim=1)"
        after = "import paddle\nimport torch\nx = paddle.zeros([2, 3])\ny = torch.sum(x, dim=1)"
        self.assertCodemod(text, after, ignore=["TEN103"])

    def test_a_module_without_torch_is_returned_as_it_is(self) -> None:
        self.assertCodemod("x = 1", "x = 1", expected_warnings=[])


class TestToTorch(CodemodTest):
    TRANSFORM = ToTorch

    def test_converts(self) -> None:
        before = "import paddle\nx = paddle.concat([a, b], axis=1)"
        self.assertCodemod(before, "import torch\nx = torch.cat([a, b], dim=1)", expected_warnings=[])


def converted(data: bytes, **options: object) -> bytes:
    context = CodemodContext()
    return ToPaddle(context, **options).transform_module(cst.parse_module(data)).bytes  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfimport torch\r\nx = torch.rand(2, 3)\r\n",
        "# coding: latin-1\nimport torch\nx = torch.rand(2, 3)  # é\n".encode("latin-1"),
        b"import torch\rx = torch.rand(2, 3)",
        "import torch\nx = torch.rand(2, 3); y = '𝛼'\n".encode(),
    ],
)
def test_encoding_and_line_ends_stay(data: bytes) -> None:
    assert converted(data) == paddletorch.convert(data, to="paddle").output != data


def test_a_wrong_option_is_an_error() -> None:
    with pytest.raises(ValueError, match="no such code"):
        ToPaddle(CodemodContext(), select=["XYZ"])


def test_a_module_that_cannot_be_converted_comes_back_with_the_reason() -> None:
    tree = cst.parse_module('import torch\nx = torch.rand(2, 3), "\\N{no such character}"\n')  # no string to Python
    context = CodemodContext()
    assert ToPaddle(context).transform_module(tree).code == tree.code
    assert len(context.warnings) == 1 and "SRC001" in context.warnings[0]


class _Renamed(VisitorBasedCodemodCommand):
    """Another project's codemod, which adds an import."""

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        AddImportsVisitor.add_needed_import(self.context, "os")
        return updated_node.with_changes(value="y") if original_node.value == "x" else updated_node


class _Chained(Codemod):
    TRANSFORMS: ClassVar = (_Renamed, ToPaddle, _Renamed)

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        for transform in self.TRANSFORMS:
            tree = transform(self.context).transform_module(tree)
        return tree


def test_other_codemods_can_chain_it() -> None:
    context = CodemodContext()
    tree = _Chained(context).transform_module(cst.parse_module("import torch\nx = torch.empty_quantized(x, x)\n"))
    assert tree.code == "import torch\nimport os\n\ny = torch.empty_quantized(y, y)\n"
    assert len(context.warnings) == 1 and "TRN201" in context.warnings[0]


TREE = {
    "pkg/__init__.py": "",
    "pkg/model.py": (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, width: int):\n"
        "        super().__init__()\n        self.fc = nn.Linear(width, 2)\n\n    def forward(self, x):\n"
        "        return torch.sum(self.fc(x), dim=1)\n"
    ),
    "pkg/train.py": (
        "import torch\n\nfrom .model import Net\n\n\ndef train(batches):\n    net = Net(3)\n"
        "    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n    for x in batches:\n"
        "        optimizer.zero_grad()\n        net(x).sum().backward()\n        optimizer.step()\n"
    ),
    "pkg/user.py": (
        "from torch import nn\n\nfrom .model import Net\n\n\nclass Pooled(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.net = Net(3)\n\n    def forward(self, x):\n"
        "        x = self.net(x)\n        return x.view(x.size(0), -1)\n\n    def train(self, mode=True):\n"
        "        self.net.train(mode)\n"
    ),
    "left.py": LEFT,
    "other.py": "x = 1\n",
}


def write(folder: Path) -> None:
    for name, text in TREE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def texts(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in TREE}


def run(folder: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env=dict(os.environ, NO_COLOR="1"),
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("form", ["external", "configured"])
def test_the_tool_writes_what_convert_writes(tmp_path: Path, form: str) -> None:
    by_tool, by_convert = tmp_path / "tool", tmp_path / "convert"
    write(by_tool)
    write(by_convert)
    command = ["-x", "paddletorch.codemod.ToPaddle"]
    if form == "configured":
        (by_tool / ".libcst.codemod.yaml").write_text("modules: ['paddletorch']\nformatter: []\n")
        command = ["codemod.ToPaddle"]
    arguments = ("codemod", *command, "-j", "1", "--no-format", "--target-version", ">=3.0", ".")
    ran = run(by_tool, "libcst.tool", *arguments)
    assert ran.returncode == 0, ran.stderr
    assert "TRN201 torch.empty_quantized has no counterpart" in ran.stdout + ran.stderr
    convert = run(by_convert, "paddletorch", "convert", "--to", "paddle", "--target-version", ">=3.0", "--write", ".")
    assert convert.returncode == 1, convert.stderr
    assert texts(by_tool) == texts(by_convert)
    assert "clear_grad" in texts(by_tool)["pkg/train.py"]


def test_the_tool_lists_the_options() -> None:
    shown = run(Path(), "libcst.tool", "codemod", "-x", "paddletorch.codemod.ToTorch", "--help")
    assert "Convert PaddlePaddle code to PyTorch" in shown.stdout
    for option in ("--target-version", "--unsafe", "--shim", "--select", "--tables"):
        assert option in shown.stdout
