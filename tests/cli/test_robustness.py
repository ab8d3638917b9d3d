"""Crashes of the engine, dying workers, large runs: one diagnostic, nothing half done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from paddletorch.batch import run
from paddletorch.cli.main import cli
from paddletorch.engine import engine
from paddletorch.model import Evidence, FileResult
from paddletorch.output import write

from .conftest import PLAIN, Run, Tree

TO = ("convert", "--to", "paddle")


def report(*arguments: str) -> tuple[int, dict[str, str]]:
    """Exit code, and the first diagnostic code of each failed file."""
    result = CliRunner().invoke(cli, [*TO, "--format", "json", *arguments])
    diagnostics = json.loads(result.stdout)["diagnostics"]
    return result.exit_code, {d["path"]: d["code"] for d in reversed(diagnostics)}


def crash_on(marker: bytes, monkeypatch: pytest.MonkeyPatch, error: BaseException | None) -> None:
    """Make the engine fail on files with ``marker``: raise ``error``, or kill the process."""
    real = engine.Engine.convert

    def convert(
        self: engine.Engine,
        data: bytes,
        path: str,
        evidence: Evidence | None = None,
        left: frozenset[int] = frozenset(),
    ) -> FileResult:
        if marker in data:
            if error is None:
                os._exit(9)
            raise error
        return real(self, data, path, evidence, left)

    monkeypatch.setattr(engine.Engine, "convert", convert)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RuntimeError("boom"), "SRC900"),
        (AssertionError(), "SRC900"),
        (RecursionError("deep"), "SRC008"),
        (MemoryError(), "SRC008"),
    ],
)
def test_engine_that_raises(
    tree: Tree, folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, code: str
) -> None:
    tree({"a.py": PLAIN, "b.py": PLAIN + "# crash\n", "c.py": PLAIN})
    crash_on(b"# crash", monkeypatch, error)
    assert report("--write") == (2, {"b.py": code})
    assert "paddle" in (folder / "a.py").read_text() and "paddle" in (folder / "c.py").read_text()
    assert (folder / "b.py").read_text() == PLAIN + "# crash\n"


def test_traceback_on_request_only(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    tree({"a.py": PLAIN})
    crash_on(b"torch", monkeypatch, RuntimeError("boom"))
    runner = CliRunner()
    assert "Traceback" not in runner.invoke(cli, [*TO]).output
    monkeypatch.setenv("PADDLETORCH_DEBUG", "1")
    assert "Traceback" in runner.invoke(cli, [*TO]).output


def test_worker_that_dies_costs_one_file(tree: Tree, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"f{number}.py" for number in range(6)]
    tree(dict.fromkeys(names, PLAIN) | {"f2.py": PLAIN + "# die\n"})
    crash_on(b"# die", monkeypatch, None)
    monkeypatch.setattr(run, "POOL_FROM", 1)
    assert report("--write", "--jobs", "2") == (2, {"f2.py": "SRC900"})
    for name in names:
        assert ("paddle" in (folder / name).read_text()) == (name != "f2.py")


def test_workers_give_what_one_process_gives(process: Run, tree: Tree, folder: Path) -> None:
    filler = "".join(f"value_{number} = {number}\n" for number in range(8000))
    tree({f"d{number % 3}/f{number}.py": PLAIN + filler for number in range(24)} | {"d1/bad.py": "GradScaler = (\n"})
    assert sum(file.stat().st_size for file in folder.rglob("*.py")) > run.POOL_FROM
    alone, together = (process(*TO, "--format", "json", "--jobs", jobs) for jobs in ("1", "3"))
    assert alone.returncode == together.returncode == 2
    assert alone.stdout == together.stdout


def test_long_file(paddletorch: Run, tree: Tree, folder: Path) -> None:
    lines = ["import torch", *["x = 1"] * 99_998, "scaler = torch.amp.GradScaler()"]
    tree({"long.py": "\n".join(lines)})
    assert paddletorch(*TO, "--write").returncode == 0
    after = (folder / "long.py").read_text().splitlines()
    assert after[-1].startswith("scaler = paddle.amp.GradScaler(")
    assert after[-2] == "x = 1"


@pytest.mark.parametrize(
    "nested",
    [
        pytest.param("(" * 3000 + "1" + ")" * 3000, id="parentheses"),
        pytest.param("-" * 50_000 + "1", id="signs"),
        pytest.param("+".join(["a"] * 50_000), id="sum"),
    ],
)
def test_deep_nesting(process: Run, tree: Tree, folder: Path, nested: str) -> None:
    source = f"import torch\nx = {nested}\nscaler = torch.amp.GradScaler()\n"
    tree({"deep.py": source, "ok.py": PLAIN})
    result = process(*TO, "--write")
    after = (folder / "deep.py").read_text()
    if result.returncode == 0:  # how deep is too deep depends on the release of Python
        assert f"\nx = {nested}\nscaler = paddle.amp.GradScaler(" in after
    else:
        assert result.returncode == 2
        assert b"deep.py\n  SRC" in result.stdout and b"SRC00" in result.stdout
        assert after == source
    assert "paddle" in (folder / "ok.py").read_text()


def test_closed_pipe_is_quiet(tree: Tree, folder: Path) -> None:
    tree({f"f{n}.py": PLAIN for n in range(2000)})
    command = f"{sys.executable} -m paddletorch {' '.join(TO)} | head -1"
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, check=False)
    assert done.stdout == b"Good to know\n"
    assert done.stderr == b""


def test_interruption_while_writing_says_what_was_written(
    tree: Tree, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree({f"{name}.py": PLAIN for name in "abc"})
    real = write.write_back

    def interrupted(result: FileResult) -> FileResult:
        if result.path == "c.py":
            raise KeyboardInterrupt
        return real(result)

    monkeypatch.setattr(write, "write_back", interrupted)
    result = CliRunner().invoke(cli, [*TO, "--write"])
    assert result.exit_code == 130
    assert "2 files were written, each of them whole" in result.output
    assert ["paddle" in (folder / f"{name}.py").read_text() for name in "abc"] == [True, True, False]
