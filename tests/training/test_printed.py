"""Fixtures that print what they compute: on its own framework the source prints the same as the output on the other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ..fixture_files import FIXTURES, Fixture, with_fixtures
from ..once import once

WORKER = """
import contextlib, io, json, runpy, sys, traceback, warnings

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
    assert sides["torch"]["printed"] == sides["paddle"]["printed"]
    assert sides["torch"]["printed"].strip(), "the fixture prints nothing to compare"
