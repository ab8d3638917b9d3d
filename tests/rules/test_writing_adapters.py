"""``paddletorch rules adapters`` proves first: what ends the process, or the command, leaves no unproven adapter."""

from __future__ import annotations

import shutil
from pathlib import Path

import paddletorch_rules.adapters as kept
import pytest
from click.testing import CliRunner
from paddletorch.cli.rules import adapters
from paddletorch.proof import prove_adapters, write_adapters
from paddletorch.proof.prove_adapters import Proven, proven
from paddletorch_rules.adapters import Adapter

TABLE = """
[defaults]
code = "ZZZ101"
gives = "tensor"
override = true

[[row]]
id = "ends the process"
torch = "torch.expm1(input, *, out=None)"
pairs = ["input/x"]
paddle = "paddle.expm1(x, name=None)"
example = "import os\\nif __name__ == '<target>':\\n    os.abort()\\ntorch.expm1(x)"

[[row]]
id = "right"
torch = "torch.rsqrt(input, *, out=None)"
paddle = "paddle.rsqrt(x, name=None)"
pairs = ["input/x"]
example = "torch.rsqrt(p)"

[[row]]
id = "wrong"
torch = "torch.tan(input, *, out=None)"
paddle = "paddle.sinh(x, name=None)"
pairs = ["input/x"]
example = "torch.tan(x)"
"""


def function(name: str, body: str) -> Adapter:
    return Adapter(f"torch.{name}", f"torch_{name}", f"def torch_{name}(input):\n    return {body}\n")


def test_a_process_that_ends_costs_its_row(tmp_path: Path) -> None:
    table = tmp_path / "own.toml"
    table.write_text(TABLE)
    made = [
        function("expm1", "paddle.expm1(input)"), function("rsqrt", "paddle.rsqrt(input)"),
        function("tan", "paddle.sinh(input)"),
    ]  # fmt: skip
    found, ended = proven(made, "paddle", (str(table),))
    assert [one.of for one in found] == ["torch.rsqrt"]
    assert list(ended) == ["ends the process"] and "SIGABRT" in ended["ends the process"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder of adapters, which the command takes for its own."""
    copy = tmp_path / "adapters"
    shutil.copytree(Path(kept.__file__).parent, copy)
    monkeypatch.setattr(kept, "_FOLDER", copy)
    candidate = function("rsqrt", "paddle.rsqrt(input)")
    monkeypatch.setattr(write_adapters, "adapters_to", lambda target, table: iter(()))
    monkeypatch.setattr(write_adapters, "functions_to", lambda target, table: iter((candidate,)))
    return copy


def contents(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}


def test_a_command_that_ends_while_it_proves_has_written_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(folder)
    seen: list[str] = []

    def ends(written: object, target: str) -> Proven:
        seen.append(target)
        if target == "torch":
            raise KeyboardInterrupt
        return Proven((), {})

    monkeypatch.setattr(prove_adapters, "proven", ends)
    assert CliRunner().invoke(adapters).exit_code != 0
    assert seen == ["paddle", "torch"]
    assert contents(folder) == before


def test_only_what_is_proven_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove_adapters, "proven", lambda written, target: Proven((), {"a row": "SIGSEGV"}))
    result = CliRunner().invoke(adapters)
    assert result.exit_code == 0, result.output
    assert "a row, none of its functions is kept: SIGSEGV" in result.output
    for name in ("calls_to_paddle.toml", "calls_to_torch.toml"):
        assert "[[adapter]]" not in (folder / name).read_text()
