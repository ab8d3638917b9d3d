"""Programs of both frameworks with what the converter itself asks: training, compiled functions, workers of loaders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddletorch.model import Ask

if TYPE_CHECKING:
    from .conftest import Run, Seen, Write

NET = """import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, norm_layer, **options):
        super().__init__()
        self.norm = norm_layer(dim, **options)
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        return self.fc(self.norm(x))


smooth = nn.CrossEntropyLoss(label_smoothing=0.1)


def size(values):
    return smooth(values, values.argmax(1))
"""

TRAIN = """import torch, net
from torch import nn

model = net.Block(8, nn.LayerNorm, eps=1e-3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.ones(4, 8)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("trained", loss.item() < 100, net.size(torch.zeros(2, 4)).item() > 1)
"""


def test_training_with_the_converters_own_questions(
    project: Path, python: Run, record: Run, seen: Seen, evidence: Any
) -> None:
    (project / "net.py").write_text(NET)
    (project / "train.py").write_text(TRAIN)
    for _ in range(2):  # the second run takes the questions from where the first has kept them
        done = record("python", "train.py")
        assert (done.returncode, done.stdout) == (0, "trained True True\n"), done.stderr
    layer = "torch.nn.modules.normalization.LayerNorm"
    assert seen("net.py", Ask.CLASS, "norm_layer") == {layer: 2}
    assert seen("net.py", Ask.KEYS, "options") == {"eps": 2}
    assert seen("net.py", Ask.RANK, "values") == {"2": 2}
    assert evidence()["framework"] == "torch"
    plain = python("-m", "paddletorch", "convert", "--to", "paddle", "--no-evidence", "net.py")
    informed = python("-m", "paddletorch", "convert", "--to", "paddle", "net.py")
    for code in ("NNF203", "API226"):
        assert code in plain.stdout
        assert code not in informed.stdout


def test_a_program_on_paddle(project: Path, record: Run, seen: Seen, evidence: Any) -> None:
    (project / "net.py").write_text(
        "import paddle\n\n\ndef norm(width, **options):\n    return paddle.nn.BatchNorm2D(width, **options)\n\n\n"
        "print(type(norm(3, epsilon=0.1)).__name__)\n"
    )
    done = record("net.py")
    assert (done.returncode, done.stdout) == (0, "BatchNorm2D\n"), done.stderr
    assert evidence()["framework"] == "paddle"
    assert seen("net.py", Ask.KEYS, "options") == {"epsilon": 1}


def test_compiled_functions_and_loaders(record: Run, write: Write, seen: Seen) -> None:
    write(
        "train.py",
        "import torch\nfrom torch.utils.data import DataLoader\n\n"
        "class Numbers(torch.utils.data.Dataset):\n"
        "    def __len__(self):\n        return 4\n\n"
        "    def __getitem__(self, index):\n        return torch.ones(2) * <<type:index>>\n\n"
        "@torch.compile(backend='eager', fullgraph=True)\n"
        "def twice(x):\n    return <<dtype:x>> * 2\n\n"
        "@torch.jit.script\n"
        "def thrice(x):\n    return <<type:x>> * 3\n\n"
        "if __name__ == '__main__':\n"
        "    for batch in DataLoader(Numbers(), batch_size=2, num_workers=1):\n"
        "        print(twice(batch).sum().item(), thrice(<<rank:batch>>).sum().item())\n",
    )
    done = record("train.py")
    assert (done.returncode, done.stdout) == (0, "4.0 6.0\n20.0 30.0\n"), done.stderr
    assert seen("train.py", Ask.TYPE, "index") == {"builtins.int": 4}
    assert seen("train.py", Ask.RANK, "batch") == {"2": 2}
    assert seen("train.py", Ask.DTYPE, "x") == {}
