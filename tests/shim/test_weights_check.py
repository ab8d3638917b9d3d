"""``paddletorch state convert`` for weights: in processes as users run it, and what ``--check`` finds."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import paddle
import pytest
import torch

from ..in_process import run_here

HERE = Path(__file__).parent / "weights_models"
nets: Any = SimpleNamespace(**runpy.run_path(str(HERE / "torch_side" / "nets.py")))


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, target_in_this_process: None) -> Run:
    """The command, without the two processes that it otherwise takes; models are found below the folder."""

    def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        sys.modules.pop("nets", None)
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(sys, "path", list(sys.path))
            done = run_here(patch, "state", "convert", *arguments)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


def run_in_processes(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a fresh process, which takes a second one for the target's model."""
    command = [sys.executable, "-m", "paddletorch", "state", "convert", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def saved(path: Path, name: str = "ConvNet") -> None:
    torch.manual_seed(5)
    model = getattr(nets, name)()
    for _ in range(3):  # running statistics that are not those of a fresh model
        model(torch.randn(4, 3, 17, 17)) if name == "ConvNet" else None
    torch.save(model.state_dict(), path)


def models(source: str = "ConvNet", target: str = "ConvNet") -> list[str]:
    return ["--model", f"torch_side/nets:{source}", "--target-model", f"paddle_side/nets:{target}"]


CHECK = ["--check", "--input-shape", "2x3x17x17"]


def test_equal_models(tmp_path: Path) -> None:
    saved(tmp_path / "in.pt")
    out = tmp_path / "out.pdparams"
    done = run_in_processes(HERE, str(tmp_path / "in.pt"), str(out), "--to", "paddle", *models(), *CHECK)
    assert done.returncode == 0, done.stderr
    assert "1 transposed" in done.stdout
    assert "left out: stem.1.num_batches_tracked" in done.stdout
    assert "check: largest difference" in done.stdout
    assert set(paddle.load(str(out))) >= {"stem.1._mean", "stem.2._weight", "instance.scale", "fc.weight"}


def test_models_that_differ(tmp_path: Path) -> None:
    saved(tmp_path / "in.pt")
    done = run_in_processes(
        HERE, str(tmp_path / "in.pt"), str(tmp_path / "out.pdparams"), "--to", "paddle", *models(target="Tanh"), *CHECK
    )
    assert done.returncode == 1, done.stderr
    assert "The outputs differ" in done.stdout
    assert "was not written" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["in.pt"]


def test_a_square_weight_that_is_not_transposed_is_found(run: Run, tmp_path: Path) -> None:
    """No shape tells here, only the outputs."""
    saved(tmp_path / "in.pt", "Tied")
    check = ["--check", "--input-shape", "2x5:int64"]
    wrong = run(
        HERE,
        str(tmp_path / "in.pt"), str(tmp_path / "wrong.pdparams"), "--to", "paddle", *models("Tied", "Tied"), *check,
        "--keep", "body.weight",
    )  # fmt: skip
    assert wrong.returncode == 1, wrong.stderr
    assert not (tmp_path / "wrong.pdparams").exists()
    right = run(
        HERE,
        str(tmp_path / "in.pt"),
        str(tmp_path / "right.pdparams"),
        "--to",
        "paddle",
        *models("Tied", "Tied"),
        *check,
    )
    assert right.returncode == 0, right.stdout + right.stderr
    assert "tied tensor under another key" in right.stdout


@pytest.mark.parametrize("to", ["paddle", "torch"])
def test_inputs_come_from_the_module(run: Run, tmp_path: Path, to: str) -> None:
    origin = "torch" if to == "paddle" else "paddle"
    source = tmp_path / "in"
    if origin == "torch":
        source = source.with_suffix(".pt")
        torch.save(nets.Classifier().state_dict(), source)
    else:
        source = source.with_suffix(".pdparams")
        code = f"import paddle, nets; paddle.save(nets.Classifier().state_dict(), {str(source)!r})"
        subprocess.run([sys.executable, "-c", code], cwd=HERE / "paddle_side", check=True, timeout=120)
    references = ["--model", f"{origin}_side/nets:Classifier", "--target-model", f"{to}_side/nets:Classifier"]
    done = run(HERE, str(source), str(tmp_path / "out"), "--to", to, *references, "--check")
    # torch's file would need a suffix that its loader knows; Paddle's is taken by its content
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(2 compared)" in done.stdout


def test_arguments_of_the_model(run: Run, tmp_path: Path) -> None:
    torch.save(nets.ConvNet(classes=7, hidden=4).state_dict(), tmp_path / "in.pt")
    call = [str(tmp_path / "in.pt"), str(tmp_path / "out.pdparams"), "--to", "paddle", *models(), *CHECK]
    wrong = run(HERE, *call)
    assert wrong.returncode == 2
    assert "has shape [4, 3, 3, 3] in the file and [6, 3, 3, 3] in the model" in wrong.stderr
    right = run(HERE, *call, "--model-args", '{"classes": 7, "hidden": 4}')
    assert right.returncode == 0, right.stdout + right.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--model", "torch_side/nets:ConvNet", *CHECK], "--check needs both models"),
        ([*models(), "--check", "--input-shape", "2,3"], "a shape is 2x3x32x32"),
        ([*models(), "--check", "--input-shape", "2x3"], "the torch model fails on the inputs"),
        ([*models(target="Absent"), *CHECK], "paddle_side/nets:Absent cannot be made: AttributeError"),
        ([*models(target="Classifier"), *CHECK], "the target's model does not fit"),
        (["--model", "torch_side/absent:ConvNet"], "torch_side/absent:ConvNet cannot be imported: ModuleNotFoundError"),
        (["--model", "paddle_side/nets:ConvNet"], "makes a ConvNet, not a module of torch"),
        (["--model", "torch_side/nets"], "names no model"),
        (["--model", "torch_side/nets:ConvNet", "--model-args", "{"], "is not JSON"),
        (["--model", "torch_side/nets:Tied"], "none of its keys"),
        (["--model", "torch_side/nets:ConvNet", "--keep", "absent*"], "no key matches --keep absent*"),
        ([], "give --model PACKAGE.MODULE:CLASS"),
    ],
)
def test_what_cannot_be_done_is_exit_code_2_and_writes_nothing(
    run: Run, tmp_path: Path, arguments: list[str], text: str
) -> None:
    saved(tmp_path / "in.pt")
    done = run(HERE, str(tmp_path / "in.pt"), str(tmp_path / "out.pdparams"), "--to", "paddle", *arguments)
    assert done.returncode == 2, done.stdout
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.pt"]


def test_neither_the_engine_nor_a_framework_is_imported_before_it_is_needed() -> None:
    code = "import sys, paddletorch_shim.weights.job; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert not set(done.stdout.split()) & {"libcst", "paddletorch", "torch", "paddle", "safetensors", "rich"}


def test_a_linear_of_paddle_cannot_share_an_embeddings_weight(run: Run, tmp_path: Path) -> None:
    """What a conversion of the code alone would give."""
    (tmp_path / "wrong.py").write_text(
        "from paddle import nn\n\n\nclass Tied(nn.Layer):\n    def __init__(self):\n        super().__init__()\n"
        "        self.embed, self.body = nn.Embedding(9, 4), nn.Linear(4, 4)\n"
        "        self.head = nn.Linear(4, 9, bias_attr=False)\n"
        "        self.head.weight = self.embed.weight\n"
    )
    saved(tmp_path / "in.pt", "Tied")
    target = ["--target-model", f"{tmp_path}/wrong:Tied"]
    done = run(HERE, str(tmp_path / "in.pt"), str(tmp_path / "out"), "--to", "paddle", *models("Tied")[:2], *target)
    assert done.returncode == 2
    assert "Paddle's Linear cannot share an Embedding's weight" in done.stderr
    (tmp_path / "right.py").write_text(
        "import functools, paddle\n"
        + (tmp_path / "wrong.py").read_text()
        + "        self.head.forward = functools.partial(paddle.matmul, y=self.head.weight, transpose_y=True)\n\n"
        "    def forward(self, tokens):\n        return self.head(paddle.tanh(self.body(self.embed(tokens))))\n"
    )
    target = ["--target-model", f"{tmp_path}/right:Tied", "--check", "--input-shape", "2x5:int64"]
    done = run(HERE, str(tmp_path / "in.pt"), str(tmp_path / "out"), "--to", "paddle", *models("Tied")[:2], *target)
    assert done.returncode == 0, done.stderr
