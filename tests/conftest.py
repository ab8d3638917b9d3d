"""Reads ``fixtures/``: what goes in, what must come out and what must be said about it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import FileResult, Framework, Options
from paddletorch_rules.storage import CACHE_DIR, NO_CACHE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job, and what it starts, ignores it

FIXTURES = Path(__file__).parents[1] / "fixtures"
FOLDERS = ("to_paddle", "to_torch", "untouched")
TEST_KEYS = frozenset({"run", "no-round-trip"})
"""Keys of NAME.toml that are for the tests; the others are options of the conversion."""

MIXED_PRECISION = ("AMP", "OPT101", "OPT102", "NNU101", "NNU102", "AGD101")
"""What the fixtures convert unless their NAME.toml selects otherwise (``select = []``: everything)."""

LOSSES = frozenset(["AMP211", "AMP213", "AMP215", "AMP216", "AMP219", "AMP221", "AMP229", "AMP231", "AMP234", "AMP239"])
"""Findings that say what the other framework cannot express: such code does not come back as it was."""


@dataclass(frozen=True)
class Fixture:
    """NAME.in.py, what it must become (NAME.out.py) and what must be said about it (NAME.txt)."""

    name: str
    target: Framework
    source: bytes
    output: bytes
    findings: tuple[str, ...]
    settings: dict[str, object]

    @property
    def id(self) -> str:
        """Name, and direction where the name does not say it."""
        return self.name if self.name.startswith("to_") else f"{self.name}-{self.target}"

    @property
    def options(self) -> Options:
        """The options that NAME.toml gives."""
        given = {k.replace("-", "_"): v for k, v in self.settings.items() if k not in TEST_KEYS}
        given.setdefault("select", MIXED_PRECISION)
        given["select"] = tuple(given["select"])  # type: ignore[arg-type]
        return Options(target=self.target, **given)  # type: ignore[arg-type]

    @property
    def comes_back(self) -> bool:
        """Whether the conversion can be undone: nothing was lost, by a finding or by ``no-round-trip``."""
        lost = LOSSES & {line.split()[1] for line in self.findings}
        return self.name.startswith("to_") and not lost and "no-round-trip" not in self.settings

    def convert(self, data: bytes) -> FileResult:
        """Convert ``data`` as this fixture is converted."""
        return Engine(self.options).convert(data, f"{self.name}.py")


def read_fixtures() -> Iterator[Fixture]:
    """All fixtures; those in ``untouched`` once for each direction."""
    for path in sorted(path for folder in FOLDERS for path in (FIXTURES / folder).glob("*.in.py")):
        name = path.relative_to(FIXTURES).as_posix().removesuffix(".in.py")
        source = path.read_bytes()
        if path.parent.name == "untouched":
            yield Fixture(name, "paddle", source, source, (), {})
            yield Fixture(name, "torch", source, source, (), {})
            continue
        target: Framework = "paddle" if path.parent.name == "to_paddle" else "torch"
        base = str(path).removesuffix(".in.py")
        options = Path(f"{base}.toml")
        yield Fixture(
            name,
            target,
            source,
            Path(f"{base}.out.py").read_bytes(),
            tuple(Path(f"{base}.txt").read_text("utf-8").splitlines()),
            tomllib.loads(options.read_text("utf-8")) if options.exists() else {},
        )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each ``fixture``, or ``runnable`` one, or for those that come back.

    ``reversible`` are those about mixed precision only, ``whole`` those about everything.
    """
    if "fixture" in metafunc.fixturenames:
        metafunc.parametrize("fixture", list(read_fixtures()), ids=lambda f: f.id)
    if "runnable" in metafunc.fixturenames:
        runnable = [f for f in read_fixtures() if "run" in f.settings]
        metafunc.parametrize("runnable", runnable, ids=lambda f: f.id)
    if "reversible" in metafunc.fixturenames:
        reversible = [f for f in read_fixtures() if f.comes_back and f.settings.get("select") != []]
        metafunc.parametrize("reversible", reversible, ids=lambda f: f.id)
    if "whole" in metafunc.fixturenames:
        whole = [f for f in read_fixtures() if f.comes_back and f.settings.get("select") == []]
        metafunc.parametrize("whole", whole, ids=lambda f: f.id)


@pytest.fixture(scope="session")
def all_fixtures() -> list[Fixture]:
    """Every fixture of the project."""
    return list(read_fixtures())


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of the tests' own, so that they neither fill nor read the user's."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_DIR, str(folder))
        patch.delenv(NO_CACHE, raising=False)
        yield folder
