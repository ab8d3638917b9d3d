"""Fixtures that print what they compute: on its own framework the source prints the same as the output on the other.

Numbers are compared as they are computed, to within the last place that the fixture rounds them to: one that lies
between two rounded numbers may be printed as either, and which of them differs by processor.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ..fixture_files import FIXTURES, Fixture, with_fixtures
from ..once import once

WORKER = """
import builtins, contextlib, io, json, runpy, sys, traceback, warnings

class Rounded(float):
    def __repr__(self):
        return f"{float(self)!r}~{self.digits}"

def unrounded(number, digits=None, plain=round):
    if digits is None:
        return plain(number)
    shown = Rounded(number)
    shown.digits = digits
    return shown

builtins.round = unrounded
warnings.simplefilter("ignore")
for path in sys.argv[2:]:
    text = io.StringIO()
    try:
        with contextlib.redirect_stdout(text):
            runpy.run_path(path, run_name="__main__")
        found = {"printed": text.getvalue()}
    except Exception:
        found = {"error": traceback.format_exc()}
    with open(sys.argv[1], "a") as results:
        results.write(json.dumps({"path": path, **found}) + "\\n")
"""

NUMBER = re.compile(r"(?P<value>-?\d+(\.\d+(e[-+]\d+)?|e[-+]\d+))(~(?P<digits>\d+))?")
"""A float; after ``~`` are the digits that the fixture rounds it to."""

Printed = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    """What each side of each fixture printed, or its error, by ``FRAMEWORK fixture``."""
    return once(tmp_path_factory, "printed", lambda: run_all(tmp_path_factory.mktemp("printed")))


def run_all(folder: Path) -> Printed:
    """Run all sides, those of one framework in one process."""
    names: dict[str, dict[str, str]] = {"torch": {}, "paddle": {}}
    for fixture in FIXTURES:
        if "prints" in fixture.settings:
            for framework, code in {
                fixture.options.source: fixture.source,
                fixture.options.target: fixture.result.output,
            }.items():
                path = folder / f"{fixture.name.replace('/', '-')}-{framework}.py"
                path.write_bytes(code)
                names[framework][str(path)] = f"{framework} {fixture.id}"
    found: Printed = {}
    for framework, paths in names.items():
        results = folder / f"{framework}.jsonl"
        command = [sys.executable, "-c", WORKER, str(results), *paths]
        process = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        done = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
        crash = {"error": f"the {framework} process ended with {process.returncode}:\n{process.stderr[-2000:]}"}
        found |= dict.fromkeys(paths.values(), crash)
        found |= {paths[one["path"]]: one for one in done}
    return found


@with_fixtures(lambda fixture: "prints" in fixture.settings)
def test_both_sides_print_the_same(fixture: Fixture, printed: Printed) -> None:
    sides = {framework: printed[f"{framework} {fixture.id}"] for framework in ("torch", "paddle")}
    for framework, side in sides.items():
        assert "error" not in side, f"on {framework}:\n{side['error']}"
    torch, paddle = sides["torch"]["printed"], sides["paddle"]["printed"]
    formatted = {int(digits) for digits in re.findall(r"[:%]\.(\d)f", fixture.source.decode())}
    assert NUMBER.sub("#", torch) == NUMBER.sub("#", paddle)
    for one, other in zip(NUMBER.finditer(torch), NUMBER.finditer(paddle), strict=True):
        assert float(one["value"]) == pytest.approx(float(other["value"]), rel=1e-4, abs=_last_place(one, formatted))
    assert torch.strip(), "the fixture prints nothing to compare"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1.5950001~2", "1.5949999~2", True),
        ("1.600~2", "1.595~2", True),
        ("1.60~2", "1.58~2", False),
        ("0.125", "0.126", True),
        ("0.125", "0.127", False),
        ("0.5", "0.6", False),
        ("1.0", "1.00001", True),
    ],
)
def test_numbers_are_compared(one: str, other: str, same: bool) -> None:
    first, second = NUMBER.fullmatch(one), NUMBER.fullmatch(other)
    assert first is not None and second is not None
    found = float(first["value"]) == pytest.approx(float(second["value"]), rel=1e-4, abs=_last_place(first, {3}))
    assert found is same


def _last_place(number: re.Match[str], formatted: set[int]) -> float:
    """How far two equal numbers may be apart as they are printed; ``formatted``: the digits of the format strings."""
    if number["digits"]:
        return 10.0 ** -int(number["digits"])
    decimals = len(number["value"].partition(".")[2])
    return 1.001 * 10.0**-decimals if decimals in formatted else 1e-6
