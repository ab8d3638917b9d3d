"""Runs programs through the hook in processes of their own, as users do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def kept_tables(cache_of_the_tests: Path) -> tuple[Path, ...]:
    """The files of the cache in which a first command keeps the tables, which are costly to read."""
    command = [sys.executable, "-m", "paddletorch", "convert", "--to", "paddle", "--no-cache", "-"]
    subprocess.run(command, input=b"import torch\nx = torch.zeros(3).view(3)\n", stdout=subprocess.DEVNULL, check=True)
    return tuple(cache_of_the_tests.glob("*.pickle"))


@pytest.fixture
def environment(tmp_path: Path, kept_tables: tuple[Path, ...]) -> dict[str, str]:
    """An environment in which Python keeps bytecode and the user's cache is the test's own, with the tables in it."""
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    for file in kept_tables:
        shutil.copy2(file, cache)
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")}
    return {**kept, "PADDLETORCH_CACHE_DIR": str(cache), "GLOG_minloglevel": "2", "OMP_NUM_THREADS": "1"}


@pytest.fixture
def python(tmp_path: Path, environment: dict[str, str]) -> Run:
    """Runs Python in the test's folder: arguments, standard input, further environment."""

    def run(*arguments: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**environment, **more},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture
def paddletorch_run(python: Run) -> Run:
    """Runs ``paddletorch run --on paddle`` with the arguments given."""
    return lambda *arguments, **more: python("-m", "paddletorch", "run", "--on", "paddle", *arguments, **more)
