"""What a class of another file may derive from, and memory that modules of a tree leave."""

from __future__ import annotations

import gc
import textwrap
from pathlib import Path

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
from paddletorch.resolve.project import project_index
from paddletorch.resolve.project.project_index import ProjectIndex
from paddletorch.resolve.values import Values
from paddletorch.text.long_literals import parse
from paddletorch_rules import load

MAIN = b"""\
import torch.cuda.amp
from scalers import Scaler

scaler = Scaler(backoff_factor=0.25)
"""


def converted(folder: Path, scalers: str, **others: str) -> str:
    """The last line of a program that makes an object of ``scalers.Scaler``, with the tables of mixed precision."""
    for name, text in {"setup": "", "scalers": scalers, **others}.items():
        Path(folder, f"{name}.py").write_text(textwrap.dedent(text))
    result = Engine(Options("paddle", select=("AMP",)), tree=True).convert(MAIN, str(folder / "main.py"))
    return result.output.decode().splitlines()[-1]


@pytest.mark.parametrize(
    "scalers",
    [
        "from torch.cuda.amp import GradScaler\nclass Scaler(GradScaler): pass",
        "from torch.cuda.amp import GradScaler as Base\nclass Scaler(Base): pass",
        "import torch.cuda.amp as a\nclass Scaler(a.GradScaler): pass",
        "import torch\nclass Inner(torch.cuda.amp.GradScaler): pass\nclass Scaler(Inner): pass",
        "from torch.cuda.amp import GradScaler\nBase = GradScaler\nclass Scaler(Base): pass",
        "from others import Scaler",
        "from others import *",
        "import others\nclass Scaler(others.Scaler): pass",
        "from others import *\nclass Scaler(Other): pass",
        "from torch.cuda.amp import GradScaler\nif GradScaler:\n    class Scaler(GradScaler): pass",
    ],
)
def test_arguments_of_an_inherited_constructor(tmp_path: Path, scalers: str) -> None:
    others = "from torch.cuda.amp import GradScaler\nclass Scaler(GradScaler): pass\nclass Other(GradScaler): pass"
    assert "decr_ratio=0.25" in converted(tmp_path, scalers, others=others)


@pytest.mark.parametrize(
    "scalers",
    [
        "class Scaler: pass",
        "from torch import nn\nclass Scaler(nn.Module): pass",
        "from sklearn.preprocessing import StandardScaler\nclass Scaler(StandardScaler): pass",
        "from torch.cuda.amp import GradScaler\nclass Scaler(GradScaler):\n  def __init__(self, backoff_factor): pass",
        "class Scaler(Scaler): pass",
        "from scalers import Scaler",
    ],
)
def test_arguments_of_an_own_constructor_stay(tmp_path: Path, scalers: str) -> None:
    assert converted(tmp_path, scalers) == "scaler = Scaler(backoff_factor=0.25)"


@pytest.mark.parametrize(
    ("module", "found"),
    [
        ("class A: pass", frozenset()),
        ("import torch\nclass A(torch.nn.Module): pass", frozenset({"torch.nn.Module"})),
        ("from torch.nn import Module\nclass A(Module): pass", frozenset({"torch.nn.Module"})),
        ("from typing import Generic\nclass A(Generic[int]): pass", frozenset()),
        ("class A(make()): pass", None),
        ("A = make()", None),
        ("def A(): pass", None),
        ("for A in range(3): pass", None),
        ("try: pass\nexcept ValueError as A: pass", None),
        ("match 1:\n    case A: pass", None),
        ("match {}:\n    case {**A}: pass", None),
        ("class A: pass\ndef f():\n    global A\n    A = 1", None),
        ("from os.path import *", None),
        ("B = 1", frozenset()),
        ("class A(A): pass", frozenset()),
        ("class A(B): pass\nclass B(A): pass", frozenset()),
    ],
)
def test_ancestors_by_syntax(tmp_path: Path, module: str, found: frozenset[str] | None) -> None:
    Path(tmp_path, "setup.py").touch()
    Path(tmp_path, "zoo.py").write_text(module + "\n# A\n")
    index = ProjectIndex(("torch", "paddle"), load(()))
    assert index.ancestors("zoo.A", str(tmp_path / "main.py")) == found


def test_modules_that_are_dropped_leave_no_cycles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_index, "_CACHED", 1_000)
    Path(tmp_path, "setup.py").touch()
    for number in range(8):  # each imports the next one, the last one the first one
        following = (number + 1) % 8
        text = f"""
            import torch
            from zoo{following} import Net{following}

            class Net{number}(torch.nn.Module):
                def __init__(self, inner: "Net{following}"):
                    super().__init__()
                    self.inner = inner
                    self.layer = torch.nn.Linear(2, 2)

                def forward(self, x):
                    y = self.inner(self.layer(x))
                    for _ in range(3):
                        y = y.sum(dim=1, keepdim=True) + Net{following}(self.inner)(y)
                        y += x
                    return y
        """
        Path(tmp_path, f"zoo{number}.py").write_text(textwrap.dedent(text))
    engine = Engine(Options("paddle"), tree=True)

    def convert() -> None:
        for file in sorted(tmp_path.glob("zoo*.py")):
            engine.convert(file.read_bytes(), str(file))

    convert()
    engine = engine.renewed()
    gc.collect()
    gc.disable()
    try:
        convert()
        assert gc.collect() < 2_000  # the pass over an own file leaves some
    finally:
        gc.enable()


def test_modules_that_import_each_other_in_a_ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(tmp_path, "setup.py").touch()
    for number in range(14):
        following = (number + 1) % 14
        uses = "\n".join(f"    y{n} = Net{following}(x)(y{n - 1})" for n in range(1, 4))
        text = f"from zoo{following} import Net{following}\nclass Net{number}:\n  def __call__(self, y0):\n{uses}\n"
        text += f"    return Net{following}(y3)(y3)\n"
        Path(tmp_path, f"zoo{number}.py").write_text(text)
    asked = 0
    look_up = ProjectIndex._look_up

    def counted(index: ProjectIndex, question: project_index._Question) -> Values:
        nonlocal asked
        asked += 1
        return look_up(index, question)

    monkeypatch.setattr(ProjectIndex, "_look_up", counted)
    code = b"import torch\nfrom zoo0 import Net0\ny = Net0(1)(torch.zeros(2)).unsqueeze(0)\n"
    Engine(Options("paddle"), tree=True).convert(code, str(tmp_path / "main.py"))
    assert asked < 20_000


def test_names_outlive_the_syntax_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one file asks of a module's classes is known when the next file asks, also where the tree is gone."""
    (tmp_path / "setup.py").touch()
    (tmp_path / "layers.py").write_text(
        "from torch import nn\nclass One(nn.Module): pass\nclass Two(nn.Module): pass\n"
    )
    parsed: list[str] = []
    monkeypatch.setattr(project_index, "_CACHED", 0)
    monkeypatch.setattr(project_index, "parse", lambda text: parsed.append(text) or parse(text))
    engine = Engine(Options("paddle", select=("AMP",)), tree=True)
    for name in ("One", "Two"):
        code = f"import torch.cuda.amp\nfrom layers import {name}\nmodel = {name}(1)\n"
        engine.convert(code.encode(), str(tmp_path / f"{name}.py"))
    assert len(parsed) == 1
