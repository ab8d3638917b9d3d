"""A folder to work in and the command to run in it: in this process, or as one of its own where that counts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from paddletorch.children import child

from ..in_process import Result, run_here
from .warm import Forked, Server

Run = Callable[..., Result]
Tree = Callable[[Mapping[str, str | bytes]], None]

PLAIN = "import torch\n\nscaler = torch.amp.GradScaler()\n"
"""Converts without a finding."""
FINDING = "import torch\n\nscaler = torch.amp.GradScaler()\nprint(scaler._scale)\n"
"""Converts, and leaves a finding: private state."""
BROKEN = "scaler = torch.amp.GradScaler(\n"
"""A syntax error in a file that the run has to look at."""


def names_in(folder: Path) -> list[str]:
    """What lies directly in a folder."""
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, current for the test; outside of any repository."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def tree(folder: Path) -> Tree:
    """Writes files, given by their relative path, into the folder."""

    def write(files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return write


@pytest.fixture
def paddletorch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs ``paddletorch ARGUMENTS`` in the folder, in this process, from its entry point to its exit code."""
    return partial(run_here, monkeypatch)


@pytest.fixture
def process(folder: Path) -> Run:
    """Runs ``paddletorch ARGUMENTS`` in the folder as a process: for what only a process has."""

    def run(*arguments: str, stdin: bytes = b"", **environment: str) -> Result:
        clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
        return subprocess.run(
            [sys.executable, "-m", "paddletorch", *arguments],
            cwd=folder,
            input=stdin,
            capture_output=True,
            env=clean | environment,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[str, Server]]:
    """Processes that have imported a framework, by its name; made when they are needed."""
    made: dict[str, Server] = {}
    yield made
    for server in made.values():
        server.stop()


@pytest.fixture
def forked_children(servers: dict[str, Server], monkeypatch: pytest.MonkeyPatch) -> None:
    """Children of this process are forked where they need not import their framework."""
    if hasattr(os, "fork"):
        monkeypatch.setattr(
            child, "subprocess", SimpleNamespace(**vars(subprocess) | {"Popen": partial(Forked, servers)})
        )
