"""Whole training scripts of ``fixtures/training`` convert, and train on their new framework as on their own.

Each script runs as it was written, converted, and converted back, from the same first weights, with losses made
infinite at the same steps. The scripts are not edited: they take weights, overflows and the file for the curves
as arguments. Each framework has processes of its own.
"""

from __future__ import annotations

import ast
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import FileResult, Framework, Options, Severity
from paddletorch.proof.names import leftovers

from ..once import once

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCRIPTS = Path(__file__).parents[2] / "fixtures" / "training"
WORKER = Path(__file__).with_name("scripts_worker.py")
FRAMEWORKS: tuple[Framework, ...] = ("torch", "paddle")
STEPS = 60
OVERFLOWS = (7, 8, 23)
Curves = dict[str, Any]


@dataclass(frozen=True)
class Script:
    """NAME.in.py as it was written, NAME.out.py as it is converted, and what NAME.toml says.

    ``[tolerance]`` has ``relative`` and ``absolute`` for all curves but the scales, ``[tolerance.CURVE]`` for one;
    ``[findings]`` has the code of each warning that the conversion gives, or the one back, with the reason;
    ``[progress]`` has the ``curve`` that falls at least by ``factor``; ``resumes`` trains in two runs;
    ``scaler = false``: the script has no loss scaler, and takes no overflows. ``no-round-trip`` is the reason why what
    comes back is reported and not run.
    """

    path: Path
    target: Framework

    @property
    def name(self) -> str:
        return self.path.name.removesuffix(".in.py")

    @property
    def framework(self) -> Framework:
        return "torch" if self.target == "paddle" else "paddle"

    @cached_property
    def settings(self) -> dict[str, Any]:
        read: dict[str, Any] = tomllib.loads(self._beside(".toml").read_text("utf-8"))
        return read

    @cached_property
    def converted(self) -> FileResult:
        return Engine(Options(target=self.target)).convert(self.path.read_bytes(), self.path.name)

    @cached_property
    def back(self) -> FileResult:
        return Engine(Options(target=self.framework)).convert(self.converted.output, self.path.name)

    @property
    def recorded(self) -> str:
        return self._beside(".out.py").read_text("utf-8")

    @property
    def comes_back(self) -> bool:
        return "no-round-trip" not in self.settings

    @property
    def overflows(self) -> tuple[int, ...]:
        """The steps whose loss is made infinite."""
        return OVERFLOWS if self.settings.get("scaler", True) else ()

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(self.name + suffix)

    def same(self, values: list[float], curve: str) -> Any:
        """What may stand for ``values``, by the script's tolerance for this curve, or for all curves."""
        tolerance: Mapping[str, Any] = self.settings["tolerance"]
        given = tolerance | tolerance.get(curve, {})
        return pytest.approx(values, rel=given["relative"], abs=given["absolute"])


ALL = [Script(path, target) for target in FRAMEWORKS for path in sorted((SCRIPTS / f"to_{target}").glob("*.in.py"))]
each = pytest.mark.parametrize("script", ALL, ids=lambda script: script.name)


@each
def test_converts_as_recorded(script: Script) -> None:
    assert script.converted.output.decode() == script.recorded


each_way = pytest.mark.parametrize(
    ("script", "way"),
    [
        pytest.param(script, way, id=f"{way}-{script.name}")
        for script in ALL
        for way in ("converted", "back")
        if way == "converted" or script.comes_back
    ],
)


@each_way
def test_nothing_is_left(script: Script, way: str) -> None:
    result: FileResult = getattr(script, way)
    source = script.framework if way == "converted" else script.target
    text = result.output.decode()
    assert list(leftovers(text, source)) == []
    modules = {alias.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)}
    assert not {m for m in modules if m.partition(".")[0] == source}


@each
def test_warnings_have_a_reason(script: Script) -> None:
    both = (*script.converted.diagnostics, *(script.back.diagnostics if script.comes_back else ()))
    found = {d.code: f"{d.line}: {d.message}" for d in both if d.severity is not Severity.INFO}
    assert set(found) == set(script.settings.get("findings", {})), found


@each
def test_second_run_changes_nothing(script: Script) -> None:
    output = script.converted.output
    assert Engine(Options(target=script.target)).convert(output, script.path.name).output == output


@pytest.fixture(scope="module")
def curves(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Curves]:
    """The curves of each script ``as written``, ``converted`` and ``back``, or an "error"."""
    return once(tmp_path_factory, "scripts", lambda: train(tmp_path_factory.mktemp("scripts")))


def train(folder: Path) -> dict[tuple[str, str], Curves]:
    """Run all scripts, in a process for each framework and step."""
    made: dict[tuple[str, str], Curves] = {}
    # the originals come first: they also write the first weights of all
    for ways in (("as written",), ("converted", "back")):
        for framework in FRAMEWORKS:
            jobs = [
                _job(folder, script, way)
                for script in ALL
                for way in ways
                if (way != "back" or script.comes_back)
                and framework == (script.target if way == "converted" else script.framework)
            ]
            made |= _train(folder, framework, jobs)
    return made


def _job(folder: Path, script: Script, way: str) -> dict[str, Any]:
    text = {"as written": script.path.read_bytes(), "converted": script.converted.output, "back": script.back.output}
    id = f"{script.name}-{way.replace(' ', '-')}"
    path = folder / f"{id}.py"
    path.write_bytes(text[way])
    weights = {framework: str(folder / f"{script.name}-{framework}.npz") for framework in FRAMEWORKS}
    log = folder / f"{id}.json"
    overflows = ["--overflow", ",".join(map(str, script.overflows))] if script.overflows else []
    arguments = [*overflows, "--log", str(log)]
    arguments += ["--initial", weights[script.target if way == "converted" else script.framework]]
    runs = [["--steps", str(STEPS), *arguments]]
    if script.settings.get("resumes"):
        checkpoint = ["--checkpoint", str(folder / f"{id}.checkpoint")]
        runs = [["--steps", str(steps), *arguments, *checkpoint] for steps in (STEPS // 2, STEPS)]
    return {
        "id": id,
        "key": (script.name, way),
        "path": str(path),
        "weights": weights if way == "as written" else None,
        "runs": runs,
        "log": str(log),
    }


def _train(folder: Path, framework: Framework, jobs: list[dict[str, Any]]) -> dict[tuple[str, str], Curves]:
    results = folder / "results.jsonl"
    results.unlink(missing_ok=True)
    process = subprocess.run(
        [sys.executable, str(WORKER), framework, str(results)],
        input="\n".join(map(json.dumps, jobs)),
        text=True,
        capture_output=True,
        timeout=300,
        check=False,
    )
    crash = {"error": f"the {framework} process ended with {process.returncode}:\n{process.stderr[-2000:]}"}
    done = {r["id"]: r for r in map(json.loads, results.read_text().splitlines())} if results.exists() else {}
    made: dict[tuple[str, str], Curves] = {}
    for job in jobs:
        result = done.get(job["id"], crash)
        made[job["key"]] = result if "error" in result else json.loads(Path(job["log"]).read_text())
    return made


@each_way
def test_trains_alike(script: Script, way: str, curves: dict[tuple[str, str], Curves]) -> None:
    written, moved = curves[script.name, "as written"], curves[script.name, way]
    for side, curve in (("as written", written), (way, moved)):
        assert "error" not in curve, f"{side}:\n{curve['error']}"
    assert list(moved) == list(written)
    for name, values in _scales(written):
        assert moved[name] == values
    for name, values in written.items():
        assert _finite(moved[name]) == script.same(_finite(values), name), name


@each
def test_the_training_is_one(script: Script, curves: dict[tuple[str, str], Curves]) -> None:
    """The loss falls, each overflow halves a scale, and scales grow in between."""
    written = curves[script.name, "as written"]
    assert "error" not in written, written["error"]
    scales = [values for _, values in _scales(written)]
    progress = script.settings["progress"]
    falling = written[progress["curve"]]
    assert all(len(values) == STEPS for values in (falling, *scales))
    halved = {step for values in scales for step in range(1, STEPS) if values[step] < values[step - 1]}
    assert halved == set(script.overflows)
    assert all(max(values[OVERFLOWS[-1] :]) > values[OVERFLOWS[-1]] for values in scales)
    assert bool(scales) == bool(script.overflows)
    assert sum(falling[-5:]) < progress["factor"] * sum(falling[:5])


def _scales(curves: Curves) -> Iterator[tuple[str, list[float]]]:
    return ((name, values) for name, values in curves.items() if name.startswith("scale"))


def _finite(values: list[float]) -> list[float]:
    """Anything that is not finite counts alike: of an overflow, torch keeps inf where Paddle's CPU kernel has nan."""
    return [x if math.isfinite(x) else 1e30 for x in values]
