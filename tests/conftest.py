"""What all tests share: a cache folder of their own, and Ctrl-C as a terminal has it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from paddletorch_rules.storage import CACHE_DIR, NO_CACHE

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job, and what it starts, ignores it


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
