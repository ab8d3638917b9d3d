"""The proof fails on rows that are wrong: it is run on tables that say untrue things."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from paddletorch.proof.names import leftovers, members
from paddletorch.proof.proof import Proof, Verdict
from paddletorch.proof.worker import Prover
from paddletorch_rules import load

from ..once import once

TABLES = """
[defaults]
code = "ZZZ101"
gives = "tensor"
override = true

[[row]]  # right
id = "right"
torch = "torch.sin(input, *, out=None)"
paddle = "paddle.sin(x, name=None)"
pairs = ["input/x"]
example = ["torch.sin(x)", "y = torch.sin(input=x)\\ny + 1"]

[[row]]
id = "one way"
direction = "paddle"
torch = "torch.arcsinh(input, *, out=None)"
paddle = "paddle.asinh(x, name=None)"
pairs = ["input/x"]
example = "torch.arcsinh(x)"

[[row]]
id = "one way, and nothing brings it back"
direction = "paddle"
example = "torch.i0(x)"
[[row.torch]]
names = ["torch.i0"]
signature = "(input)"
[[row.paddle]]
signature = "(input)"
template = "paddle.i0({input}) if paddle.get_flags('FLAGS_check_nan_inf') else None"

[[row]]
id = "value"
torch = "torch.tan(input, *, out=None)"
paddle = "paddle.sinh(x, name=None)"
pairs = ["input/x"]
example = "torch.tan(x)"

[[row]]
id = "value within its tolerance"
torch = "torch.expm1(input, *, out=None)"
paddle = "paddle.exp(x, name=None)"
pairs = ["input/x"]
example = "torch.expm1(x)"
tolerance = 1.1

[[row]]
id = "random"
prove = "shape"
torch = "torch.cosh(input, *, out=None)"
paddle = "paddle.acosh(x, name=None)"
pairs = ["input/x"]
example = "torch.cosh(x)"

[[row]]
id = "dtype"
pairs = ["input/x"]
direction = "paddle"
example = "torch.floor(x)"
[[row.torch]]
names = ["torch.floor"]
signature = "(input)"
[[row.paddle]]
signature = "(x)"
template = "paddle.floor({x}).astype('float64')"

[[row]]
id = "shape"
pairs = ["input/x"]
direction = "paddle"
example = "torch.ceil(x)"
[[row.torch]]
names = ["torch.ceil"]
signature = "(input)"
[[row.paddle]]
signature = "(x)"
template = "paddle.ceil({x}).unsqueeze(0)"

[[row]]
id = "raises"
torch = "torch.erf(input, *, out=None)"
paddle = "paddle.inverse(x, name=None)"
pairs = ["input/x"]
example = "torch.erf(v)"

[[row]]
id = "left over"
torch = "torch.erfinv(input, *, out=None)"
paddle = "paddle.erfinv(x, name=None)"
pairs = ["input/x"]
example = "torch.erfinv(u) + torch.no_such_function(u)"

[[row]]
id = "other row"
torch = "torch.trunc(input, *, out=None)"
paddle = "paddle.trunc(input, name=None)"
example = "torch.sin(x)"

[[row]]
id = "way back by another row"
torch = "torch.sin_(input)"
paddle = "paddle.sin(x, name=None)"
pairs = ["input/x"]
example = "torch.sin_(x)"

[[row]]
id = "no expression"
torch = "torch.cos(input, *, out=None)"
paddle = "paddle.cos(x, name=None)"
pairs = ["input/x"]
example = "y = torch.cos(x)"

[[row]]
id = "incomparable"
torch = "torch.asin(input, *, out=None)"
paddle = "paddle.asin(x, name=None)"
pairs = ["input/x"]
example = "torch.asin(u)\\niter([1])"

[[row]]
id = "crash"
torch = "torch.atan(input, *, out=None)"
paddle = "paddle.atan(x, name=None)"
pairs = ["input/x"]
example = "import ctypes\\nctypes.string_at(0)\\ntorch.atan(x)"

[[row]]
id = "hang"
torch = "torch.acos(input, *, out=None)"
paddle = "paddle.acos(x, name=None)"
pairs = ["input/x"]
example = "import time\\ntime.sleep(600)\\ntorch.acos(x)"

[[row]]
id = "after"
torch = "torch.rsqrt(input, *, out=None)"
paddle = "paddle.rsqrt(x, name=None)"
pairs = ["input/x"]
example = "torch.rsqrt(p)"

[[row]]
id = "unverified"
torch = "torch.log2(input, *, out=None)"
paddle = "paddle.log2(x, name=None)"
pairs = ["input/x"]
unverified = "needs a cluster"

[[row]]
id = "without"
torch = "torch.log10(input, *, out=None)"
paddle = "paddle.log10(x, name=None)"
pairs = ["input/x"]
"""


@pytest.fixture(scope="module")
def proofs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Proof]:
    path = tmp_path_factory.mktemp("tables") / "wrong.toml"
    path.write_text(TABLES)
    tables = (str(path),)

    def made() -> dict[str, Proof]:
        with Prover(tables) as prover, Prover(tables, seconds=3) as impatient:
            rows = [row for row in load(tables).rows if row.file == path.name]
            return {row.id: (impatient if row.id == "hang" else prover).prove(row) for row in rows}

    return once(tmp_path_factory, "proofs_that_fail", made)


@pytest.mark.parametrize(
    ("row", "verdict", "reason"),
    [
        ("right", Verdict.BOTH, ""),
        ("one way", Verdict.BOTH, "the row serves conversion to paddle only, and other rows bring it back"),
        (
            "one way, and nothing brings it back",
            Verdict.ONE,
            "no other row brings it back: DEV201: paddle.get",
        ),
        ("value within its tolerance", Verdict.BOTH, ""),
        ("random", Verdict.BOTH, ""),
        ("after", Verdict.BOTH, ""),
        ("unverified", Verdict.UNVERIFIABLE, "needs a cluster"),
        ("without", Verdict.NO_EXAMPLE, ""),
    ],
)
def test_verdicts(proofs: dict[str, Proof], row: str, verdict: Verdict, reason: str) -> None:
    assert proofs[row].verdict is verdict
    assert reason in proofs[row].reason if reason else not proofs[row].reason
    assert proofs[row].failure is None


@pytest.mark.parametrize(
    ("row", "stage", "message"),
    [
        ("value", "compare torch with paddle", "11 of 12 values differ"),
        ("dtype", "compare torch with paddle", "dtype float32 became float64"),
        ("shape", "compare torch with paddle", "shape [3, 4] became [1, 3, 4]"),
        ("raises", "run on paddle", "Error"),
        ("left over", "convert to paddle", "torch.no_such_function"),
        ("other row", "convert to paddle", "another row was used"),
        ("way back by another row", "convert to torch", "another row was used"),
        ("no expression", "read the example", "no expression"),
        ("incomparable", "compare torch with paddle", "a list_iterator cannot be compared"),
        ("crash", "run", "SIGSEGV"),
        ("hang", "run", "took longer than 3 seconds"),
    ],
)
def test_failures(proofs: dict[str, Proof], row: str, stage: str, message: str) -> None:
    failure = proofs[row].failure
    assert proofs[row].verdict is Verdict.FAILING and failure is not None
    assert failure.stage == stage
    assert message in failure.message
    assert failure.example


def test_leftovers() -> None:
    text = "import torch\nimport torch.nn.functional as F\nimport paddle\n\ntorch.sin(F.relu(paddle.ones([2])))\n"
    assert sorted(leftovers(text, "torch")) == ["F.relu", "torch.sin"]
    assert not list(leftovers("import torch\nimport paddle\n\npaddle.sin(x)\n", "torch"))


def test_members_are_not_what_is_imported() -> None:
    text = "import paddle\nfrom paddle import nn\n\nnn.functional.relu(x.abs()).sum(paddle.float32)\n"
    assert set(members(text)) >= {"abs", "sum"}
    assert not {"float32", "functional"} & set(members(text))


def test_command(tmp_path: Path) -> None:
    from click.testing import CliRunner
    from paddletorch.cli.main import cli

    path = tmp_path / "wrong.toml"
    path.write_text(TABLES)
    check = ["rules", "check", "--execute", "--tables", str(path), "--only"]
    wrong = CliRunner().invoke(cli, [*check, "value", "--only", "right", "--format", "json"])
    assert wrong.exit_code == 1
    report = json.loads(wrong.output)
    assert report["totals"] == {"verified both ways": 2, "failing": 1}
    row = next(row for row in report["rows"] if row["row"] == "value")
    assert row["failure"]["stage"] == "compare torch with paddle" and "paddle.sinh" in row["failure"]["text"]
    unknown = CliRunner().invoke(cli, [*check, "wring"])
    assert unknown.exit_code == 2 and "--only" in unknown.output


@pytest.mark.parametrize("options", [["--only", "AMP"], ["--record"], ["--execute", "--record", "--tables", "x.toml"]])
def test_options_that_do_not_go_together(options: list[str]) -> None:
    from click.testing import CliRunner
    from paddletorch.cli.main import cli

    assert CliRunner().invoke(cli, ["rules", "check", *options]).exit_code == 2
