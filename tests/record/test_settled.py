"""Each kind of question on the real frameworks: a finding asks, a run answers, and the finding is gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

TORCH = {
    "receiver": "def halves(make):\n    x = make(4)\n    return x.split(2)\n",
    "operands": "def weigh(x, table):\n    n = torch.arange(4)\n    return n * table.weights(x).unsqueeze(0)\n",
    "held": "def flat(x: torch.Tensor):\n    y = x.permute(1, 0).reshape(-1)\n    y += 1\n    return y.sum()\n",
    "layers": "def block(norm_layer, width):\n    return norm_layer(width, eps=1e-3)\n",
    "options": "def optimizer(model, **given):\n    return torch.optim.SGD(model.parameters(), **given)\n",
    "losses": "smooth = torch.nn.CrossEntropyLoss(label_smoothing=0.1)\n\n\ndef loss(y, t):\n    return smooth(y, t)\n",
    "program": """\
import held, layers, losses, operands, options, receiver


class Table:
    def weights(self, x):
        return x


net = layers.block(torch.nn.LayerNorm, 4)
optimizer = options.optimizer(net, lr=0.1)
y = net(torch.ones(2, 4))
loss = losses.loss(y, torch.tensor([1, 3])) + operands.weigh(torch.ones(4), Table()).sum()
loss.backward()
optimizer.step()
print(len(receiver.halves(torch.ones)), held.flat(torch.ones(2, 3)).item())
""",
}
PADDLE = {
    "receiver": "def parts(make):\n    x = make([4])\n    return x.split(2)\n",
    "ranks": "norm = paddle.nn.BatchNorm(4)\n\n\ndef normal(x):\n    return norm(x)\n",
    "layers": "def block(norm_layer, width):\n    return norm_layer(width, epsilon=1e-3)\n",
    "options": "def norm(width, **given):\n    return paddle.nn.BatchNorm2D(width, **given)\n",
    "program": """\
import layers, options, ranks, receiver

layers.block(paddle.nn.LayerNorm, 4)
options.norm(4)
ranks.normal(paddle.ones([2, 4, 3, 3]))
print(len(receiver.parts(paddle.ones)))
""",
}
PROGRAMS = {"torch": (TORCH, "2 12.0\n"), "paddle": (PADDLE, "2\n")}


@pytest.fixture(scope="module", params=["torch", "paddle"])
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A program of each framework after one recorded run, and where it is to go."""
    framework = request.param
    folder = tmp_path_factory.mktemp(framework)
    (folder / "pyproject.toml").touch()
    modules, printed = PROGRAMS[framework]
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(f"import {framework}\n{text}")
    done = _paddletorch(folder, "record", "--", "program.py")
    assert (done.returncode, done.stdout) == (0, printed), done.stderr
    return folder, "paddle" if framework == "torch" else "torch"


def _paddletorch(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "paddletorch", *arguments],
        cwd=folder,
        env={**os.environ, "GLOG_minloglevel": "2", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def _report(programs: tuple[Path, str], *options: str) -> Mapping[str, Any]:
    folder, target = programs
    done = _paddletorch(folder, "convert", "--to", target, "--format", "json", *options, ".")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _asked(report: Mapping[str, Any]) -> dict[str, set[tuple[str, str]]]:
    """For each module, the codes of findings with a question, and what is asked."""
    found: dict[str, set[tuple[str, str]]] = {}
    for one in report["diagnostics"]:
        for question in one["questions"]:
            found.setdefault(Path(one["path"]).stem, set()).add((one["code"], question["ask"]))
    return found


OPEN = {
    "paddle": {
        "receiver": {("API212", "type")},
        "operands": {("DTY202", "dtype")},
        "held": {("TEN214", "shared")},
        "layers": {("API226", "class")},
        "options": {("API240", "keys")},
        "losses": {("NNF203", "rank")},
    },
    "torch": {
        "receiver": {("API212", "type")},
        "ranks": {("NNL202", "rank")},
        "layers": {("API226", "class")},
        "options": {("API240", "keys")},
    },
}


def test_a_run_settles_each_kind_of_question(programs: tuple[Path, str]) -> None:
    plain, settled = _report(programs, "--no-evidence"), _report(programs)
    assert _asked(plain) == OPEN[programs[1]]
    assert _asked(settled) == {}
    for module, asked in OPEN[programs[1]].items():
        left = {one["code"] for one in settled["diagnostics"] if Path(one["path"]).stem == module}
        assert not left & {code for code, _ in asked}, module
    count = sum(bool(one["questions"]) for one in plain["diagnostics"])
    assert plain["summary"]["evidence"] == {"open": count, "answered": 0, "settled": 0}
    assert settled["summary"]["evidence"] == {"open": 0, "answered": count, "settled": count}
