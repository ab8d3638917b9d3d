"""The files of ``fixtures/``: what goes in, what must come out and what must be said about it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Diagnostic, FileResult, Framework, Options

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parents[1] / "fixtures"
TEST_KEYS = frozenset({"run", "prints", "no-round-trip"})
"""Keys of NAME.toml that are for the tests; the others are options of the conversion."""

MIXED_PRECISION = ("AMP", "OPT101", "OPT102", "NNU", "AGD101")
"""The areas of the tables that mixed precision needs."""

LOSSES = frozenset(["AMP211", "AMP213", "AMP215", "AMP216", "AMP219", "AMP221", "AMP229", "AMP231", "AMP234", "AMP239"])
"""Findings that say what the other framework cannot express: such code does not come back as it was."""


@cache
def engine_for(options: Options) -> Engine:
    """The one engine of this process for ``options``; an engine remembers nothing of the files that it converted."""
    return Engine(options)


@cache
def converted(options: Options, data: bytes, path: str) -> FileResult:
    """The result of a conversion, made once in this process; nobody can change a result."""
    return engine_for(options).convert(data, path)


@dataclass(frozen=True)
class Fixture:
    """NAME.in.py, what it must become (NAME.out.py) and what must be said about it (NAME.txt)."""

    name: str
    target: Framework
    source: bytes
    output: bytes
    findings: tuple[str, ...]
    """One line for each, as :func:`line_of` writes it."""
    settings: dict[str, object]

    @property
    def id(self) -> str:
        """Name, and direction where the name does not say it."""
        return self.name if self.name.startswith("to_") else f"{self.name}-{self.target}"

    @cached_property
    def options(self) -> Options:
        """The options that NAME.toml gives."""
        given = {k.replace("-", "_"): v for k, v in self.settings.items() if k not in TEST_KEYS}
        given["select"] = tuple(given.get("select", ()))  # type: ignore[arg-type]
        return Options(target=self.target, **given)  # type: ignore[arg-type]

    @property
    def comes_back(self) -> bool:
        """Whether the conversion can be undone: nothing was lost, by a finding or by ``no-round-trip``."""
        lost = LOSSES & self.codes
        return self.name.startswith("to_") and not lost and "no-round-trip" not in self.settings

    def converts_only(self, *areas: str) -> bool:
        """Whether all that is converted is in these areas of the tables."""
        return all(done.code.startswith(areas) for done in self.result.conversions)

    @property
    def codes(self) -> frozenset[str]:
        """The codes of the findings."""
        return frozenset(line.split(" ", 2)[1] for line in self.findings)

    def file(self, kind: str) -> Path:
        """The file of this fixture that ends in ``kind``."""
        return FOLDER / f"{self.name}.{kind}"

    def convert(self, data: bytes) -> FileResult:
        """Convert ``data`` as this fixture is converted."""
        return converted(self.options, data, f"{self.name}.py")

    @property
    def result(self) -> FileResult:
        """What the fixture's source becomes now."""
        return self.convert(self.source)


def line_of(finding: Diagnostic) -> str:
    """A finding as a line of NAME.txt: ``LINE:COLUMN CODE severity message``; of a notebook, with the cell's number."""
    place = finding.cell or finding
    cell = f"{finding.cell.number}:" if finding.cell else ""
    return f"{cell}{place.line}:{place.column} {finding.code} {finding.severity.value} {finding.message}"


def _read() -> Iterator[Fixture]:
    for path in sorted(path for folder in ("to_paddle", "to_torch", "untouched") for path in _sources(folder)):
        name = path.relative_to(FOLDER).as_posix().removesuffix(".in.py")
        source = path.read_bytes()
        output, findings, options = (path.with_name(f"{path.name[:-6]}.{end}") for end in ("out.py", "txt", "toml"))
        settings = tomllib.loads(options.read_text("utf-8")) if options.exists() else {}
        if path.parent.name == "untouched":
            yield Fixture(name, "paddle", source, source, (), settings)
            yield Fixture(name, "torch", source, source, (), settings)
            continue
        target: Framework = "paddle" if path.parent.name == "to_paddle" else "torch"
        yield Fixture(
            name,
            target,
            source,
            output.read_bytes() if output.exists() else b"",
            tuple(findings.read_text("utf-8").splitlines()) if findings.exists() else (),
            settings,
        )


def _sources(folder: str) -> Iterator[Path]:
    return (FOLDER / folder).glob("*.in.py")


FIXTURES = tuple(_read())
"""All fixtures; those in ``untouched`` once for each direction."""


def with_fixtures(chosen: Callable[[Fixture], object] = lambda fixture: True) -> pytest.MarkDecorator:
    """Run a test once for each ``fixture`` for which ``chosen`` is true: those about which it can say something."""
    found = [fixture for fixture in FIXTURES if chosen(fixture)]
    assert found, "no fixture is chosen"
    return pytest.mark.parametrize("fixture", found, ids=lambda fixture: fixture.id)
