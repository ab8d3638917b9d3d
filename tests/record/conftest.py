"""Runs programs while they are recorded, in processes of their own, as users do."""

from __future__ import annotations

import json
import os
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
Asks = Callable[..., None]
Seen = Callable[..., dict[str, int]]


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
def asks(project: Path) -> Asks:
    """Puts what the converter would leave open about a file where the hook keeps it: a stand-in for the converter.

    Questions are pairs of an ask and the text of an expression, which stands in the file where ``#`` follows it
    for the first time, or once.
    """

    def put(file: str, *questions: tuple[Ask, str], to: str = "paddle") -> None:
        path = project / file
        source = path.read_text(encoding="utf-8")
        content = []
        for ask, text in questions:
            line = next(line for line in source.splitlines() if text in line)
            row, column = source.splitlines().index(line) + 1, len(line[: line.index(text)].encode())
            content.append((ask.value, (row, column, row, column + len(text.encode()))))
        options = Options("paddle" if to == "paddle" else "torch")
        Store(options, "asks").save(str(path), source.encode(), tuple(content), Dependencies({}, {}))

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
