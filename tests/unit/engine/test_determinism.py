"""What comes out of a file does not depend on how this process hashes strings, nor on where its objects lie."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import pytest
from paddletorch.model import Framework

FOLDERS: dict[Framework, tuple[str, ...]] = {
    "paddle": ("torch/nn/utils", "torch/optim", "torch/utils/data"),
    "torch": ("paddle/audio", "paddle/hapi", "paddle/optimizer", "paddle/vision/models"),
}
"""Folders of the installed frameworks, whose files are converted to the other one."""

CHILD = """
import sys
from pathlib import Path
import paddletorch
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
target, *folders = sys.argv[1:]
engine = Engine(Options(target), tree=True)
files = sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
padding = [object() for _ in range(hash("x") % 9999)]  # other addresses, too
for path in files[:60]:
    print(ascii(engine.convert(path.read_bytes(), str(path))))
"""

BRANCHES = """
from torch._dynamo import is_compiling
import torch
def f(x, y):
    if x:
        return is_compiling()
    elif y:
        z = 1
        return is_compiling()
    while x:
        return [is_compiling(), torch.relu(x)]
"""

LAYERS = """
from torch import nn
def reset(m):
    if isinstance(m, (nn.Linear, nn.Embedding)):
        m.reset_parameters()
    elif isinstance(m, (nn.LayerNorm, nn.BatchNorm2d)):
        m.reset_parameters()
    elif isinstance(m, (nn.Conv2d, nn.LSTM, nn.GroupNorm)):
        m.reset_parameters()
"""


def converted(target: Framework, folders: list[str], seed: int) -> list[str]:
    """All of each file's result, converted in a process of its own."""
    command = [sys.executable, "-c", CHILD, target, *folders]
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.splitlines()


@pytest.mark.parametrize("target", FOLDERS)
def test_results_are_the_same_in_every_process(target: Framework, tmp_path: Path) -> None:
    (tmp_path / "branches.py").write_text(BRANCHES)
    (tmp_path / "layers.py").write_text(LAYERS)
    packages = [Path(folder) for folder in sys.path if (Path(folder) / "torch/optim").is_dir()]
    folders = [str(tmp_path), *(str(packages[0] / folder) for folder in FOLDERS[target])]
    first, second = (converted(target, folders, seed) for seed in (1, 2))
    assert len(first) > 40
    different = [one for one, other in zip_longest(first, second) if one != other]
    assert different == []
