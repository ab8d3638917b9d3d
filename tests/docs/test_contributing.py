"""What CONTRIBUTING.md says about commands and files holds."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
from paddletorch.plan import planner
from paddletorch.plan.model.changes import Pass

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NOXFILE = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))


def _sessions() -> dict[str, list[tuple[str, ...]]]:
    """The commands of each session of the noxfile, without what a caller adds."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for function in NOXFILE.body:
        if isinstance(function, ast.FunctionDef):
            calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
            runs = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "run"]
            found[function.name] = [
                tuple(arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))
                for call in runs
            ]
    return found


def test_the_page_names_the_sessions_that_there_are() -> None:
    assert set(re.findall(r"^nox -s (\w+)", PAGE, re.MULTILINE)) == set(_sessions())


def test_nox_alone_runs_all_of_them() -> None:
    named = next(
        ast.literal_eval(node.value)
        for node in NOXFILE.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "nox.options.sessions"
    )
    assert set(named) == set(_sessions())


def test_ci_runs_the_lines_of_the_readme_and_the_same_commands(tmp_path: Path) -> None:
    """In a clean checkout whose programs only note how they are called: from where, and with which arguments."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    shutil.copy(ROOT / "README.md", tmp_path)
    shutil.copytree(ROOT / "fixtures" / "to_paddle", tmp_path / "fixtures" / "to_paddle")
    note = '#!/bin/bash\necho "$0" "$@" >> calls\n'
    program = tmp_path / "bin" / "python"
    program.parent.mkdir()
    names = "pip paddletorch python mypy ruff"
    program.write_text(f"{note}mkdir -p .venv/bin\nfor name in {names}; do cp bin/noted .venv/bin/$name; done\n")
    (tmp_path / "bin" / "noted").write_text(note)
    for file in program.parent.iterdir():
        file.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["bash", ".ci/run"], cwd=tmp_path, env={**os.environ, "PATH": path}, check=True, timeout=60)
    called = (tmp_path / "calls").read_text().replace(f"{program} ", "python ").splitlines()

    setup = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Set up")[2]
    block = setup.partition("```sh\n")[2].partition("```")[0]
    typed = [command for line in block.splitlines() if line[:1] not in ("", "#") for command in line.split(" && ")]
    assert [shlex.join(shlex.split(one.partition(" <")[0])) for one in typed] == [
        shlex.join(one.split(" ")) for one in called if not one.startswith((".venv/bin/mypy", ".venv/bin/ruff"))
    ]
    sessions = [command for name in ("tests", "types", "lint") for command in _sessions()[name]]
    assert {f".venv/bin/{' '.join(command)}" for command in sessions} <= set(called)


def test_its_links_and_paths_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / link).exists(), link
    for path in re.findall(r"`((?:rules|migrate|tests|docs)/[\w/.]+)`", PAGE.replace("CODE.md", "API201.md")):
        assert (ROOT / path).exists(), path


def test_the_pass_that_it_shows_works(monkeypatch: pytest.MonkeyPatch) -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(shown, "<messages>", "exec"), names)
    assert 'Pass("messages", Later("passes.strings.messages:plan_messages"))' in PAGE
    monkeypatch.setattr(planner, "PASSES", (*planner.PASSES, Pass("messages", names["plan_messages"])))
    code = b'import torch\n\nprint("torch")\nraise ValueError("needs torch")\n'
    found = Engine(Options(target="paddle")).convert(code, "messages.py").diagnostics
    assert [(d.code, d.line) for d in found] == [("API206", 4)]
