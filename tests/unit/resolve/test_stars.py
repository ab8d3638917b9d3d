"""``from module import *``: which names it may bind, as far as the module can be read."""

from __future__ import annotations

import builtins
import importlib
from pathlib import Path

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
from paddletorch.resolve.scopes.public_modules import HIDDEN

SOURCE = """\
from {module} import *
import paddle


def make(rate, parameters, clip):
    return paddle.optimizer.Adam(rate, parameters=parameters, grad_clip=clip)
"""

WRITTEN = "paddle_clipped(paddle_scheduled("


def _output(folder: Path, module: str, files: dict[str, str]) -> str:
    for name, text in {"pyproject.toml": "", "train.py": SOURCE.format(module=module), **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    file = folder / "train.py"
    return Engine(Options(target="torch"), tree=True).convert(file.read_bytes(), str(file)).output.decode()


@pytest.mark.parametrize("module", ["paddle.nn", "math", "layers", "package", "cycle"])
def test_a_function_is_written_beside_the_star_of_a_module_that_can_be_read(tmp_path: Path, module: str) -> None:
    files = {
        "layers.py": "from paddle.nn import *\nfrom math import *\n\nwidth = 3\n",
        "package/__init__.py": "from .parts import *\n",
        "package/parts.py": "from ..layers import *\n",
        "cycle.py": "from cycle import *\n",
    }
    assert WRITTEN in _output(tmp_path, module, files)


@pytest.mark.parametrize(
    "text",
    [
        "from unseen import *\n",
        "def paddle_clipped(optimizer, clip): pass\n",
        "paddle_clipped = None\n",
        "from elsewhere import paddle_clipped\n",
        "def isinstance(value, kind): pass\n",
        "x = (\n",
    ],
)
def test_no_function_is_written_where_the_star_may_bind_a_name_of_it(tmp_path: Path, text: str) -> None:
    output = _output(tmp_path, "layers", {"layers.py": text + "# paddle_clipped isinstance\n"})
    assert WRITTEN not in output and "paddle.optimizer.Adam(" in output


@pytest.mark.parametrize(
    "module", ["paddle", "paddle.nn", "paddle.nn.functional", "paddle.tensor", "paddle.io", "torch", "torch.nn"]
)
def test_the_builtins_that_modules_of_the_frameworks_hide_are_known(module: str) -> None:
    found = importlib.import_module(module)
    names = getattr(found, "__all__", None) or [name for name in vars(found) if not name.startswith("_")]
    hidden = {n for n in names if hasattr(builtins, n) and getattr(found, n) is not getattr(builtins, n)}
    assert hidden <= HIDDEN
