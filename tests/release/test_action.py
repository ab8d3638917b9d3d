"""``action.yml`` and the ``Dockerfile``: the scripts of the action run as a runner runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
SCHEMA = json.loads((ROOT / "tests" / "cli" / "schemas" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
FINDING = "import torch\n\nx = torch.empty_quantized(a, b)\n"

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="the action's scripts are bash's")


def script(name: str) -> str:
    text = next(step["run"] for step in ACTION["runs"]["steps"] if step.get("name") == name)
    assert isinstance(text, str)
    return text


def run(name: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the action in a folder, with this Python as ``python``."""
    tools = folder.parent / "tools"
    tools.mkdir(exist_ok=True)
    if not (tools / "python").exists():
        (tools / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (tools / "python").chmod(0o755)
    file = folder.parent / "script.sh"
    file.write_text(script(name))
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    given = {"GITHUB_OUTPUT": str(folder.parent / "outputs"), "GITHUB_ACTIONS": "true", "PATH": path, **environment}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(file)]  # as a runner calls it
    return subprocess.run(
        command, cwd=folder, env=os.environ | given, capture_output=True, text=True, timeout=120, check=False
    )


def outputs(folder: Path) -> dict[str, str]:
    lines = (folder.parent / "outputs").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    return work


def check(folder: Path, paths: str, args: str = "", to: str = "paddle") -> subprocess.CompletedProcess[str]:
    return run("Check", folder, TO=to, PATHS=paths, ARGS=args, SARIF="paddletorch.sarif")


@needs_bash
def test_the_check_annotates_and_writes_sarif(folder: Path) -> None:
    (folder / "a b.py").write_text(FINDING)
    (folder / "c.py").write_text("x = 1\n")
    ran = check(folder, "c.py\n'a b.py'\n", '--target-version ">=3.0,<4" --ignore AMP')
    assert ran.returncode == 0, ran.stderr
    assert "::warning file=a b.py,line=3" in ran.stdout
    assert outputs(folder) == {"exit-code": "1", "sarif-file": "paddletorch.sarif"}
    log = json.loads((folder / "paddletorch.sarif").read_text())
    Draft7Validator(SCHEMA).validate(log)
    (rule,) = (rule for rule in log["runs"][0]["tool"]["driver"]["rules"] if rule["id"] == "TRN201")
    assert rule["help"]["markdown"].startswith("# TRN201")


@needs_bash
def test_inputs_are_no_commands(folder: Path) -> None:
    (folder / "--write").write_text(FINDING)
    for name in ("paths", "args"):
        given = {"paths": "--write", "args": ""} | {name: "$(touch run) `touch run` ; touch run"}
        check(folder, given["paths"], given["args"])
        assert not (folder / "run").exists()
    ran = check(folder, "--write", "")
    assert "TRN201" in ran.stdout and (folder / "--write").read_text() == FINDING


@needs_bash
def test_settings_that_cannot_be_used_are_the_steps_result(folder: Path) -> None:
    (folder / "paddletorch.toml").write_text("to = 1\n")
    assert check(folder, ".", to="").returncode == 0
    assert outputs(folder) == {"exit-code": "2"}


@needs_bash
@pytest.mark.parametrize(
    ("code", "fail", "ends"), [("0", "true", 0), ("1", "true", 1), ("1", "false", 0), ("2", "false", 2)]
)
def test_the_result(folder: Path, code: str, fail: str, ends: int) -> None:
    assert run("Result", folder, CODE=code, FAIL=fail).returncode == ends


def test_the_scripts_hold_no_expressions() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), "an input in the text of a script can be a command"
        assert "run" not in step or step["shell"] == "bash"


def test_the_page_names_every_input() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in [*ACTION["inputs"], *ACTION["outputs"]])
    used = set(re.findall(r"inputs\.([a-z-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert used == set(ACTION["inputs"])


def test_what_the_dockerfile_copies_is_enough_to_install(tmp_path: Path) -> None:
    for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines():
        if line.startswith("COPY "):
            *sources, target = line.split()[1:]
            place = tmp_path / target.removeprefix("/")
            for source in sources:
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    place.mkdir(exist_ok=True)
                    shutil.copy(ROOT / source, place)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), "."]
    built = subprocess.run(command, cwd=tmp_path / "build", capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert list(tmp_path.glob("paddletorch-*.whl"))
