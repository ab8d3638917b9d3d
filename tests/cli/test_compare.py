"""``paddletorch compare`` names the first layer in which a converted model differs from its source."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run, Tree

pytestmark = pytest.mark.usefixtures("forked_children")

NET = """import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.first = nn.Linear(width, width)
        self.drop = nn.Dropout(0.5)
        self.weight = nn.Parameter(torch.ones(width, width))

    def forward(self, x):
        y = self.norm(x)
        y = F.gelu(self.first(y))
        y = self.drop(y)
        y = F.linear(y, self.weight)
        return x + y


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3), nn.BatchNorm2d(width), nn.Hardswish())
        self.blocks = nn.ModuleList([Block(width) for _ in range(2)])
        self.head = nn.Linear(width, 5)

    def forward(self, image):
        x = self.stem(image).flatten(2).transpose(1, 2) * 1.0
        kept = x
        x.mul_(2.0)
        x = x + kept
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


def loss(outputs):
    return (outputs * outputs).mean()


def optimizer(model):
    return torch.optim.AdamW(model.parameters(), lr=0.01)


def example_inputs():
    return torch.randn(2, 3, 9, 9)
"""
TO_TORCH = """import paddle
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.lstm = nn.LSTM(6, 4, num_layers=2, direction="bidirect", dropout=0.3)
        self.heads = nn.LayerList([nn.Linear(8, 3), nn.Linear(8, 4)])

    def forward(self, words):
        x, (hidden, _) = self.lstm(self.embedding(words))
        return [head(x[:, -1]) for head in self.heads], hidden
"""
ONCE = """

MADE = []


class Once(Net):
    def __init__(self):
        MADE.append(1 / (1 - len(MADE)))
        super().__init__()


def wider():
    MADE.append(1)
    return Net(len(MADE))
"""
MIXED = """

def build():
    return Net(4)


def scaler():
    return torch.amp.GradScaler("cuda", init_scale=2.0**9, growth_interval=2)


def train_step(model, optimizer, scaler, image):
    optimizer.zero_grad()
    with torch.autocast(device_type="cuda", dtype=torch.float16):
        found = loss(model(image))
    scaler.scale(found).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    scaler.step(optimizer)
    scaler.update()
    return found
"""
MIXED_TO_TORCH = (
    TO_TORCH
    + """

def build():
    return Net()


def example_inputs():
    return paddle.randint(0, 11, [2, 5])


def loss(outputs):
    return outputs[1].square().mean()


def scaler():
    return paddle.amp.GradScaler(init_loss_scaling=8.0, incr_every_n_steps=2, decr_every_n_nan_or_inf=1)
"""
)
MODEL = ("--source", "src/net:Net", "--converted", "out/net:Net")
ONCE_ONLY = (*MODEL, "--no-second-look")
"""For faults that float32 shows as well."""


ATTENTION = """from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.gru = nn.GRU(8, 8, batch_first=True)

    def forward(self, x):
        y, _ = self.attention(x, x, x, need_weights=False)
        return self.gru(y)
"""


SCORE = """from torch import nn


class Score(nn.Module):
    def forward(self, x):
        return (x * x).mean()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.score = Score()

    def forward(self, x):
        return self.score(self.fc(x)) * 2
"""


def compared(run: Run, *arguments: str, to: str = "paddle", code: int = 1) -> dict[str, Any]:
    """What became of the one pair."""
    made = run("compare", "--to", to, "--format", "json", *arguments)
    assert made.returncode == code, (made.stderr + made.stdout).decode()
    report = json.loads(made.stdout)
    assert report["exit_code"] == code
    (pair,) = report["pairs"]
    return dict(pair)


@pytest.fixture
def converted(tree: Tree, paddletorch: Run) -> Path:
    """The converted file of ``src/net.py``."""
    tree({"src/net.py": NET})
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    return Path("out/net.py")


def plant(file: Path, old: str, new: str) -> int:
    """Put a fault into a file; gives its line."""
    text = file.read_text()
    assert text.count(old) == 1, text
    file.write_text(text.replace(old, new))
    return text[: text.index(old)].count("\n") + 1


def test_a_conversion_computes_the_same(converted: Path, paddletorch: Run) -> None:
    made = paddletorch("compare", "--to", "paddle", *MODEL, "--report", "page.html", "--report", "report.json")
    assert made.returncode == 0, made.stdout.decode()
    assert made.stdout.decode().startswith("torch src/net:Net, paddle out/net:Net: equal\n")
    (pair,) = json.loads(Path("report.json").read_text())["pairs"]
    assert [look["dtype"] for look in pair["looks"]] == ["float32", "float64"]
    for look in pair["looks"]:
        assert look["stages"] == ["eval", "eval_grad", "train", "train_grad", "steps"]
        assert set(look["layers"]) >= {"", "stem.0", "stem.1", "blocks.0", "blocks.0.norm", "blocks.1.first", "head"}
    assert max(row["error"] for row in pair["looks"][1]["tensors"]) < 1e-6
    page = Path("page.html").read_text()
    assert "blocks.0.norm" in page and "http" not in page.replace("http-equiv", "")


def test_a_conversion_to_torch(tree: Tree, paddletorch: Run) -> None:
    tree({"src/net.py": TO_TORCH})
    paddletorch("convert", "--to", "torch", "--output", "out", "src")
    found = compared(paddletorch, *MODEL, "--input", "2x5:int64", to="torch", code=0)
    assert found["outcome"] == "equal"
    assert set(found["looks"][1]["layers"]) >= {"embedding", "lstm", "heads.0", "heads.1"}


def test_layers_of_the_frameworks_may_return_more(tree: Tree, paddletorch: Run) -> None:
    tree({"src/net.py": ATTENTION})
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    found = compared(paddletorch, *ONCE_ONLY, "--input", "2x5x8", code=0)
    assert set(found["looks"][0]["layers"]) >= {"attention", "gru"}
    assert "the converted model fails there" in found["looks"][0]["left_out"]["eval_grad"]  # Paddle's GRU
    assert {row["stage"] for row in found["looks"][0]["tensors"]} == {"eval", "train", "train_grad", "steps"}


def test_a_wrong_epsilon_in_one_layer(converted: Path, paddletorch: Run) -> None:
    line = plant(
        converted,
        "        self.head = nn.Linear(width, 5)\n",
        "        self.head = nn.Linear(width, 5)\n        self.blocks[1].norm = nn.LayerNorm(width, epsilon=1e-5)\n",
    )
    fault = compared(paddletorch, *MODEL)["fault"]
    assert (fault["layer"], fault["what"], fault["stage"]) == ("blocks.1.norm", "out", "eval")
    assert fault["source"]["text"] == "self.norm = nn.LayerNorm(width, eps=1e-6)"
    assert (Path(fault["converted"]["path"]).resolve(), fault["converted"]["line"]) == (converted.resolve(), line + 1)


def test_a_small_fault_shows_in_float64_only(converted: Path, paddletorch: Run) -> None:
    plant(converted, "epsilon=1e-6", "epsilon=1e-5")
    found = compared(paddletorch, *MODEL)
    assert [look["outcome"] for look in found["looks"]] == ["equal", "differs"]
    assert found["decided_in"] == "float64"
    assert found["fault"]["layer"] == "blocks.0.norm"
    assert compared(paddletorch, *MODEL, "--no-second-look", code=0)["outcome"] == "equal"
    assert compared(paddletorch, *MODEL, "--tolerance", "0.01", code=0)["outcome"] == "equal"


def test_a_transposed_weight(converted: Path, paddletorch: Run) -> None:
    line = plant(converted, "F.linear(y, self.weight.t())", "F.linear(y, self.weight)")
    fault = compared(paddletorch, *ONCE_ONLY)["fault"]
    assert (fault["layer"], fault["what"]) == ("blocks.0", "out")  # after its inner layers, all of which are the same
    assert fault["converted"]["line"] <= line <= fault["converted"]["end_line"]
    assert "y = F.linear(y, self.weight)" in fault["source"]["text"]
    assert "self.norm(x)" not in fault["source"]["text"]  # before the last layer that is the same


def test_a_missed_alias(converted: Path, paddletorch: Run) -> None:
    line = plant(converted, "paddle.assign(x * 2.0, x)", "x = x * 2.0")
    fault = compared(paddletorch, *ONCE_ONLY)["fault"]
    assert (fault["layer"], fault["what"]) == ("blocks.0", "in")
    assert fault["converted"]["line"] <= line <= fault["converted"]["end_line"]
    assert "x.mul_(2.0)" in fault["source"]["text"]


def test_a_gradient_that_is_lost(converted: Path, paddletorch: Run) -> None:
    plant(converted, "return x + y", "return x + y * 0.5 + (y * 0.5).detach()")
    fault = compared(paddletorch, *ONCE_ONLY)["fault"]
    assert (fault["stage"], fault["what"], fault["layer"]) == ("eval_grad", "gradient", "blocks.1")


def test_another_momentum(converted: Path, process: Run) -> None:
    plant(converted, "nn.BatchNorm2D(width)", "nn.BatchNorm2D(width, momentum=0.1)")
    fault = compared(process, *ONCE_ONLY)["fault"]  # as a user runs it: neither it nor its children are forked here
    assert (fault["stage"], fault["what"], fault["layer"]) == ("train", "buffer", "stem.1")


def test_the_programs_own_optimizer_and_loss(converted: Path, paddletorch: Run) -> None:
    # AdamW makes steps of one size, however small a gradient is, so that rounding grows in float32
    own = (*MODEL, "--optimizer", "optimizer", "--loss", "loss")
    assert compared(paddletorch, *own, code=0)["outcome"] == "equal"
    plant(converted, "learning_rate=0.01", "learning_rate=0.01, weight_decay=0.2")
    fault = compared(paddletorch, *own)["fault"]
    assert (fault["stage"], fault["what"]) == ("steps", "loss")


def test_a_converted_model_that_fails_is_told_with_its_finding(tree: Tree, paddletorch: Run) -> None:
    tree({"src/net.py": NET.replace("        kept = x\n", "        kept = x\n        torch._C._get_tracing_state()\n")})
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    text = Path("out/net.py").read_text()
    Path("out/net.py").write_text("".join(line for line in text.splitlines(True) if line.strip() != "import torch"))
    found = compared(paddletorch, *ONCE_ONLY)
    fault = found["fault"]
    assert (found["outcome"], fault["stage"]) == ("fails", "eval")
    assert fault["message"] == "NameError: name 'torch' is not defined"
    assert fault["source"]["text"] == fault["converted"]["text"] == "torch._C._get_tracing_state()"
    assert (fault["source"]["path"], fault["converted"]["path"]) == ("src/net.py", "out/net.py")
    assert [(one["path"], one["code"]) for one in fault["diagnostics"]] == [("src/net.py", "TRN201")]


def test_what_fails_in_a_written_function_is_told_where_it_is_called(tree: Tree, paddletorch: Run) -> None:
    net = ATTENTION.replace("from torch import nn\n", "import torch.nn.functional as F\nfrom torch import nn\n")
    body = net[net.index("        self.attention") :]
    made = "        self.fc = nn.Linear(8, 8)\n\n    def forward(self, x):\n        return F.softmax(self.fc(x))\n"
    tree({"src/net.py": net.replace(body, made)})
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    plant(Path("out/net.py"), "if input.ndim in", "if input.no_such_member in")
    once = "--source", "src/net:Net", "--converted", "out/net:Net", "--input", "2x8", "--no-second-look"
    fault = compared(paddletorch, *once)["fault"]
    assert "no_such_member" in fault["converted"]["text"]
    assert fault["source"]["text"] == "return F.softmax(self.fc(x))"


def test_a_converted_model_that_still_imports_the_source_framework(tree: Tree, paddletorch: Run) -> None:
    tree({"src/net.py": NET.replace("class Net(", "MODE = torch._C._get_tracing_state()\n\n\nclass Net(")})
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    found = compared(paddletorch, *ONCE_ONLY)
    fault = found["fault"]
    assert (found["outcome"], fault["stage"]) == ("fails", "import")
    said = "ModuleNotFoundError: No module named 'torch': it still imports torch, for what was left"
    assert fault["message"] == said
    assert fault["converted"]["text"] == "import torch"
    assert [(one["path"], one["code"]) for one in fault["diagnostics"]] == [("src/net.py", "TRN201")]


def test_a_converted_model_that_is_not_whole(converted: Path, paddletorch: Run) -> None:
    plant(converted, "self.head = nn.Linear(width, 5)", "self.head = nn.Linear(width, 6)")
    found = compared(paddletorch, *ONCE_ONLY)
    assert (found["outcome"], found["fault"]["stage"]) == ("fails", "weights")
    assert "head.weight: [8, 5] when converted, [8, 6] in the target's model" in found["fault"]["message"]


def test_a_converted_model_that_ends_the_process(converted: Path, paddletorch: Run) -> None:
    plant(converted, "        kept = x\n", "        kept = __import__('os').abort()\n")
    found = compared(paddletorch, *ONCE_ONLY)
    assert (found["outcome"], found["fault"]["message"]) == ("fails", "the process was ended by SIGABRT")


def test_a_finding_on_the_lines_that_differ_is_named(converted: Path, paddletorch: Run) -> None:
    plant(converted, "nn.BatchNorm2D(width)", "nn.BatchNorm2D(width, epsilon=0.1)")
    fault = compared(paddletorch, *ONCE_ONLY)["fault"]
    assert fault["layer"] == "stem.1"
    assert "NNL208" in [one["code"] for one in fault["diagnostics"]]


def test_modules_of_two_folders(tree: Tree, paddletorch: Run) -> None:
    tree({"src/pkg/__init__.py": "", "src/pkg/net.py": NET})
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    plant(Path("out/pkg/net.py"), "F.gelu", "F.relu")
    both = ("--source", "src", "--converted", "out", "--module", "pkg.net:Block", "--module", "pkg.net:Net")
    made = paddletorch("compare", "--to", "paddle", *both, "--args", "[3]", "--input", "2x3x9x3", "--no-second-look")
    assert made.returncode == 1
    text = made.stdout.decode()
    assert "torch src/pkg.net:Block, paddle out/pkg.net:Block: differs" in text
    assert "what goes into layer drop (Dropout)" in text


def test_files_that_say_themselves_how_they_are_compared(tree: Tree, paddletorch: Run) -> None:
    tree({"src/one.py": f"{NET}\n\ndef build():\n    return Net(4)\n", "src/other.py": "def build():\n    return 1\n"})
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    plant(Path("out/one.py"), "learning_rate=0.01", "learning_rate=0.02")
    found = compared(paddletorch, "--source", "src", "--converted", "out")
    assert found["source"]["model"] == "src/one:build"
    assert found["fault"]["stage"] == "steps"


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("incr_every_n_steps=2", "incr_every_n_steps=3", "the loss scale after each step", "GradScaler("),
        ("2.0**9", "2.0**10", "the loss scale after each step", "GradScaler("),
        ("parameters(), 0.5", "parameters(), 0.0005", "the loss", "def train_step"),
    ],
)
def test_a_training_step_with_a_scaler(
    old: str, new: str, message: str, line: str, tree: Tree, paddletorch: Run
) -> None:
    tree({"src/net.py": NET.replace("AdamW", "SGD") + MIXED})
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    found = compared(paddletorch, "--source", "src", "--converted", "out", code=0)
    rows = {row["what"]: row for row in found["looks"][0]["tensors"] if row["stage"] == "steps"}
    assert rows["loss scale"]["size"] == 2.0**10, "it has grown, so the scaler does scale"
    assert rows["growth tracker"]["error"] == 0
    assert "not compared: optimizer steps, in float64: Paddle's loss scaler" in found["notes"][0]
    plant(Path("out/net.py"), old, new)
    found = compared(paddletorch, "--source", "src", "--converted", "out")
    assert (found["decided_in"], found["fault"]["stage"]) == ("float32", "steps")
    assert message in found["fault"]["message"]
    assert all(line in found["fault"][side]["text"] for side in ("source", "converted"))


def test_a_scaler_towards_torch(tree: Tree, paddletorch: Run) -> None:
    tree({"src/net.py": MIXED_TO_TORCH})
    paddletorch("convert", "--to", "torch", "--output", "out", "src")
    found = compared(paddletorch, "--source", "src", "--converted", "out", to="torch", code=0)
    scales = [row["size"] for row in found["looks"][0]["tensors"] if row["what"] == "loss scale"]
    assert scales == [16.0]


def test_a_layer_that_returns_a_number(tree: Tree, paddletorch: Run) -> None:
    tree({"src/net.py": SCORE})
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    model = (*ONCE_ONLY, "--input", "2x4")
    assert compared(paddletorch, *model, code=0)["looks"][0]["layers"]["score"]
    line = plant(Path("out/net.py"), "(x * x).mean()", "(x * x).mean() * 1.5")
    fault = compared(paddletorch, *model)["fault"]
    assert (fault["layer"], fault["what"], fault["converted"]["end_line"]) == ("score", "out", line)


def test_random_numbers_are_left_out(tree: Tree, paddletorch: Run) -> None:
    noisy = NET.replace("return x + y", "return x + y + torch.rand_like(y) * float(self.training)")
    tree({"src/net.py": noisy})
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    found = compared(paddletorch, *ONCE_ONLY, code=0)
    assert "two runs of the source differ: it draws random numbers" in found["notes"][0]
    assert found["looks"][0]["stages"] == ["eval", "eval_grad"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--source", "src", "--converted", "out"), "no file in src has functions build() and example_inputs()"),
        (("--source", "src/net", "--converted", "out/net"), "say which model"),
        (("--source", "src/net:Net", "--converted", "out", "--module", "net:Net"), "must be these"),
        (("--source", "src/net:Nothing", "--converted", "out/net:Net"), "has no attribute 'Nothing'"),
        (("--source", "src/nowhere:Net", "--converted", "out/net:Net"), "src/nowhere:Net cannot be imported"),
        (("--source", "src/nowhere.py:Net", "--converted", "out/net:Net"), "no such file: src/nowhere.py"),
        (("--source", "src/net.py:Once", "--converted", "out/net:Net"), "the model cannot be built twice"),
        (("--source", "src/net.py:loss", "--converted", "out/net:Net"), "src/net:loss cannot be made"),
        ((*MODEL, "--input", "2x3x2x2"), "the source itself fails there"),
        ((*MODEL, "--input", "2x3x9x9:int64"), "the source itself fails there"),
        ((*MODEL, "--input", "2x3x9x9", "--input", "3"), "the source itself fails there"),
        (("--source", "src/bare:Net", "--converted", "out/net:Net"), "no inputs: give --input, or write"),
        (("--source", "src/net.py:wider", "--converted", "out/net:Net"), "twice: stem.0.weight is [1, 3, 3, 3] the"),
        ((*MODEL, "--input", "two"), "a shape is 2x3x32x32"),
        ((*MODEL, "--args", "{"), "is not JSON"),
        ((*MODEL, "--optimizer", "nothing"), "has no attribute 'nothing'"),
        ((*MODEL, "--report", "page.txt"), "must end in .html or .json"),
        ((*MODEL, "--report", "no/page.html"), "no such folder: no"),
        ((*MODEL, "--seconds", "0.01"), "not done after 0.01 s"),
    ],
)
def test_what_cannot_be_compared(arguments: tuple[str, ...], message: str, tree: Tree, paddletorch: Run) -> None:
    tree({"src/net.py": NET + ONCE, "out/net.py": NET, "src/bare.py": NET.partition("def example_inputs")[0]})
    made = paddletorch("compare", "--to", "paddle", *arguments)
    assert made.returncode == 2, made.stdout
    assert message in made.stderr.decode()


@pytest.mark.parametrize("missing", ["torch", "paddle"])
def test_without_a_framework(missing: str, tree: Tree, tmp_path: Path, process: Run) -> None:
    tree({"src/net.py": NET, "out/net.py": NET})
    (tmp_path / f"{missing}.py").write_text("raise ImportError('it is not here')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    made = process("compare", "--to", "paddle", *MODEL, PYTHONPATH=path)
    assert made.returncode == 2
    assert f"{missing} is not usable here (ImportError: it is not here): pip install" in made.stderr.decode()
