"""Imports of packages that are built on the source framework, and the uses that depend on them."""

from __future__ import annotations

from pathlib import Path

import paddletorch
import pytest

NEEDED, OPTIONAL = "API244", "API245"


def _found(text: str, path: str | Path = "<string>", to: str = "paddle") -> list[tuple[str, str, int]]:
    result = paddletorch.Converter(to).convert(text, path)  # type: ignore[arg-type]
    return [(d.code, d.name, d.line) for d in result.findings if d.code in (NEEDED, OPTIONAL)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import timm\n", (NEEDED, "timm", 1)),
        ("import timm.models as m\n", (NEEDED, "timm", 1)),
        ("from timm.models import layers\n", (NEEDED, "timm", 1)),
        ("from horovod import torch as hvd\n", (NEEDED, "horovod.torch", 1)),
        ("def f():\n    import torchaudio\n", (NEEDED, "torchaudio", 2)),
        ("import importlib\nx = importlib.import_module('timm')\n", (NEEDED, "timm", 2)),
        ("from importlib import import_module as load\nx = load('timm.models')\n", (NEEDED, "timm", 2)),
        ("x = __import__('timm')\n", (NEEDED, "timm", 1)),
        ("timm, found = optional_import('timm')\n", (OPTIONAL, "timm", 1)),
        ("try:\n    import timm\nexcept ImportError:\n    timm = None\n", (OPTIONAL, "timm", 2)),
        ("try:\n    import timm\nexcept ImportError:\n    raise SystemExit(1)\n", (NEEDED, "timm", 2)),
        ("if flag:\n    import timm\n", (OPTIONAL, "timm", 2)),
        ("try:\n    import timm\nexcept ImportError:\n    pass\nimport timm\n", (NEEDED, "timm", 5)),
    ],
)
def test_every_import_is_said_once(text: str, expected: tuple[str, str, int]) -> None:
    assert _found(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "from .timm import x\n",
        "import horovod.tensorflow\n",
        "import einops\n",
        "import paddlenlp\n",
        "x = 'timm'\n",
        "# import timm\n",
    ],
)
def test_nothing_is_said_of_others(text: str) -> None:
    assert _found(text) == []


def test_a_package_of_the_tree_itself_is_no_such_package(tmp_path: Path) -> None:
    package = tmp_path / "timm"
    package.mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    (package / "__init__.py").write_text("")
    text = "from timm.models import x\n"
    assert _found(text, package / "a.py") == []
    assert _found(text, tmp_path / "train.py") == []
    assert _found(text, tmp_path / "examples" / "a" / "b" / "c" / "d" / "train.py") == []
    (tmp_path / "pyproject.toml").unlink()  # an unpacked wheel
    assert _found(text, package / "tests" / "data" / "a.py") == []
    (package / "__init__.py").unlink()  # Python takes an installed package before a folder without it
    assert _found(text, tmp_path / "train.py") == [(NEEDED, "timm", 1)]


MODEL = """import timm
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = timm.create_model("resnet18")
        self.head = nn.Linear(2, 2)

    def forward(self, x):
        features = self.body(x)
        return features.mean(1), self.head(x).mean(1)
"""


def test_members_of_what_a_package_gives_are_not_the_same() -> None:
    uses = paddletorch.Converter("paddle").convert(MODEL).file.unlisted
    assert uses["timm.create_model"].needs_you == 1
    assert (uses["tensor.mean"].same, uses["tensor.mean"].not_examined) == (1, 1)


def test_members_of_a_class_that_derives_from_a_package_are_not_the_same() -> None:
    text = "import timm, torch\n\nclass A(timm.Net):\n    def go(self, x):\n        return self.stem(x).mean(1)\n"
    uses = paddletorch.Converter("paddle").convert(text).file.unlisted
    assert (uses["tensor.mean"].same, uses["tensor.mean"].not_examined) == (0, 1)


def test_the_finding_names_the_lines_of_what_depends_on_it() -> None:
    (found,) = [d for d in paddletorch.Converter("paddle").convert(MODEL).findings if d.code == NEEDED]
    assert "3 uses depend on it (lines 8, 12, 13)" in found.message


def test_uses_that_a_row_reports_are_not_reported_twice() -> None:
    assert _found("from apex import amp\nmodel, optimizer = amp.initialize(model, optimizer)\n") == []
    text = "import apex\napex.amp.initialize(model)\napex.optimizers.FusedAdam(p)\n"
    assert _found(text) == [(NEEDED, "apex", 1)]


def test_a_variable_made_of_itself_ends() -> None:
    text = "import timm\nx = timm.a()\nwhile x:\n    x = x.b(x)\ny = y if y else x\n"
    assert _found(text) == [(NEEDED, "timm", 1)]


def test_other_selected_codes_count_no_packages() -> None:
    result = paddletorch.Converter("paddle", select=["AMP"]).convert(MODEL)
    assert "timm.create_model" not in result.file.unlisted
