"""What all tests share: a cache folder, bytecode and threads, Ctrl-C as a terminal has it, and no limits of time."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from paddletorch_rules.storage import CACHE_DIR, NO_CACHE

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job, and what it starts, ignores it

# hundreds of processes of the tests would compile this project, each anew
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# there is a worker for each core, and threads that wait for each other take its time
os.environ.setdefault("OMP_NUM_THREADS", "1")

# how long an example takes says how busy the machine is
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-fixtures``: see ``unit/test_fixtures.py``."""
    parser.addoption("--update-fixtures", action="store_true", help="write the .out.py and .txt of fixtures anew")


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of the tests' own, so that they neither fill nor read the user's."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_DIR, str(folder))
        patch.delenv(NO_CACHE, raising=False)
        yield folder
