"""``explain``, ``rules`` and ``version``."""

from __future__ import annotations

import json
import subprocess
import sys

import paddletorch
import pytest
from click.testing import CliRunner
from paddletorch.cli.main import cli
from paddletorch_rules import Framework, load
from paddletorch_rules.adapters import adapters

from .conftest import Run, Tree


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_explain_lists_every_code() -> None:
    lines = invoke("explain").splitlines()
    table = load()
    assert [line.split()[0] for line in lines] == sorted({row.code for row in table.rows} | set(table.diagnostics))
    assert all(len(line.split()) > 1 for line in lines)


@pytest.mark.parametrize("code", sorted({row.code for row in load().rows} | set(load().diagnostics)))
def test_explain_knows_every_code(code: str) -> None:
    assert code in invoke("explain", code.lower())


def test_explain_unknown_code_names_the_nearest(paddletorch: Run) -> None:
    result = paddletorch("explain", "AMP10")
    assert result.returncode == 2
    assert b"did you mean 'AMP10" in result.stderr
    assert paddletorch("explain", "../../README").returncode == 2


def test_rules_list() -> None:
    rows = load().rows
    assert len(invoke("rules", "list").splitlines()) == len(rows)
    listed = json.loads(invoke("rules", "list", "--area", "amp", "--format", "json"))
    assert {row["id"] for row in listed} == {row.id for row in rows if row.area == "AMP"}
    scaler = next(row for row in listed if row["id"] == "GradScaler")
    assert "torch.amp.GradScaler" in scaler["torch"] and "paddle.amp.GradScaler" in scaler["paddle"]


@pytest.mark.parametrize(
    "key", ["GradScaler", "AMP101", "amp101", "torch.cuda.amp.GradScaler", "paddle.amp.GradScaler"]
)
def test_rules_show(key: str) -> None:
    shown = invoke("rules", "show", key)
    assert "AMP101 GradScaler" in shown
    assert "incr_every_n_steps" in shown


def test_rules_show_diagnostic() -> None:
    assert "numpy" in invoke("rules", "show", "AMP240")


def test_rules_unknown(paddletorch: Run) -> None:
    for arguments in (("rules", "show", "torch.amp.GradScalar"), ("rules", "list", "--area", "AMPS")):
        result = paddletorch(*arguments)
        assert result.returncode == 2
        assert b"did you mean" in result.stderr


def test_rules_check(process: Run, tree: Tree) -> None:
    result = process("rules", "check")
    assert result.returncode == 0, result.stdout
    assert b"as written in torch 2.13.0 and paddle 3.3.1" in result.stdout
    tree({"my.toml": '[[row]]\nid = "mine"\ncode = "amp"\ntitle = "t"\n'})
    result = process("rules", "check", "--tables", "my.toml")
    assert result.returncode == 2
    assert b"my.toml" in result.stderr and b"mine" in result.stderr and b"code" in result.stderr


def test_version() -> None:
    assert f"paddletorch {paddletorch.__version__}" in invoke("version")
    assert paddletorch.__version__ in invoke("--version")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["explain", "AMP101"], ["rules", "list"], ["convert", "--to", "paddle"]]
)
def test_start_imports_nothing_heavy(arguments: list[str], folder: object) -> None:
    """Neither a framework nor, where nothing is converted, libcst or rich."""
    script = (
        "import sys\nfrom paddletorch.cli.main import cli\n"
        f"try: cli.main({arguments!r})\nexcept SystemExit: pass\n"
        "print([name for name in ('torch', 'paddle', 'libcst', 'rich', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("torch.gather", ["becomes, in paddle", "paddle.take_along_axis", "dim -> axis", "proven both ways"]),
        ("torch.nn.modules.conv.Conv2d", ["(the same as torch.nn.Conv2d)", "bias=True -> bias_attr=None"]),
        ("torch.Tensor.add_", ["alpha=1 -> alpha (from 3.3: 1)"]),
        ("paddle.nn.BatchNorm2D", ["becomes, in torch", "momentum=0.9 -> momentum=0.1, values by 'one_minus'"]),
        ("gather", ["torch.gather becomes", "torch.Tensor.gather becomes", "paddle.gather becomes"]),
        ("torch.nn.RMSNorm", ["becomes, in paddle", "TorchRMSNorm, a class that the file gets: torch.nn.RMSNorm"]),
        ("torch.nn.modules.normalization.RMSNorm", ["(the same as torch.nn.RMSNorm) becomes, in paddle"]),
        ("torch.fx.symbolic_trace", ["has no counterpart in paddle", "why: ", "way out: "]),
    ],
)
def test_lookup(name: str, says: list[str]) -> None:
    shown = invoke("lookup", name)
    assert [text for text in says if text not in shown] == []


@pytest.mark.parametrize("target", ["paddle", "torch"])
def test_what_has_a_written_class_is_not_said_to_lack_a_counterpart(target: Framework) -> None:
    """Held for each class that the converter writes where the other framework has none."""
    written = [name for name, one in adapters(target).items() if one.alone]
    assert target == "torch" or written
    assert [name for name in written if "has no counterpart" in invoke("lookup", name)] == []


def test_lookup_as_json() -> None:
    (found,) = json.loads(invoke("lookup", "torch.cumsum", "--format", "json"))
    assert found["becomes"][0]["written"] == "paddle.cumsum"
    assert {"name": "dim", "becomes": "axis", "default_there": "None"} in found["parameters"]
    (found,) = json.loads(invoke("lookup", "torch.fx.Graph", "--format", "json"))
    assert found["becomes"] is None and found["reason"] and found["way_out"]


def test_lookup_suggests_near_names(paddletorch: Run) -> None:
    result = paddletorch("lookup", "torch.gathr")
    assert result.returncode == 2
    assert b"near are torch.gather" in result.stderr
    assert b"torch.nn.Conv2d" in paddletorch("lookup", "torch.Conv2d").stderr


def test_lookup_imports_neither_framework_nor_engine() -> None:
    program = (
        "import sys\nfrom paddletorch.cli.main import cli\n"
        "try:\n    cli(['lookup', 'torch.gather'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('torch', 'paddle', 'numpy', 'libcst', 'paddletorch.engine') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
