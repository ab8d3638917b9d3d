"""Runs programs while they are recorded, in processes of their own, as users do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from paddletorch.model import Ask, Options
from paddletorch.model.dependencies import Dependencies
from paddletorch_shim.importhook.store import Store

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Write = Callable[[str, str], None]
Seen = Callable[[str, Ask, str], dict[str, int]]

_QUESTION = re.compile(r"<<(\w+):([^>]+)>>")


@pytest.fixture
def environment(tmp_path: Path, cache_of_the_tests: Path) -> dict[str, str]:
    """An environment in which Python keeps bytecode."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")}
    return {**kept, "GLOG_minloglevel": "2", "OMP_NUM_THREADS": "1"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The top folder of a project, which the tests write files into."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    return folder


@pytest.fixture
def python(project: Path, environment: dict[str, str]) -> Run:
    """Runs Python in the project: arguments, further environment."""

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=project,
            env={**environment, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture
def record(python: Run) -> Run:
    """Runs ``paddletorch record --quiet -- COMMAND``."""
    return lambda *command, **more: python("-m", "paddletorch", "record", "--quiet", "--", *command, **more)


@pytest.fixture
def write(project: Path) -> Write:
    """Writes a file, and what the converter would ask about it: ``<<type:x>>`` is ``x``, whose type is asked for.

    The questions are put where the hook keeps them, a stand-in for the converter.
    """

    def put(file: str, text: str) -> None:
        content = []
        while found := _QUESTION.search(text):
            start = text.rfind("\n", 0, found.start()) + 1
            row, column = text.count("\n", 0, start) + 1, len(text[start : found.start()].encode())
            content.append((found[1], (row, column, row, column + len(found[2].encode()))))
            text = text[: found.start()] + found[2] + text[found.end() :]
        path = project / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        Store(Options("paddle"), "asks").save(str(path), text.encode(), tuple(content), Dependencies({}, {}))

    return put


@pytest.fixture
def evidence(project: Path) -> Callable[[], dict[str, Any]]:
    """Reads the project's evidence."""
    return lambda: json.loads((project / ".paddletorch" / "evidence.json").read_text(encoding="utf-8"))


@pytest.fixture
def seen(project: Path, evidence: Callable[[], dict[str, Any]]) -> Seen:
    """What was seen, by ask, of the expression with this text in a file."""

    def answers(file: str, ask: Ask, text: str) -> dict[str, int]:
        lines = (project / file).read_text(encoding="utf-8").splitlines()
        for answer in evidence()["files"][file]["answers"]:
            row, start, _, end = answer["at"]
            if answer["ask"] == ask.value and lines[row - 1].encode()[start:end].decode() == text:
                counts: dict[str, int] = answer["seen"]
                return counts
        return {}

    return answers
