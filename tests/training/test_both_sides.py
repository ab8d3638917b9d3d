"""Input and output of a conversion, each run on its own framework, train to the same numbers.

Each framework runs in a process of its own, so that a crash of one is a failure and not the end.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ..fixture_files import FIXTURES, Fixture, with_fixtures
from ..once import once

WORKER = Path(__file__).with_name("functions_worker.py")
OPTIMIZERS = ("sgd", "adam")
Results = dict[tuple[str, str], dict[str, Any]]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """What each fixture's two sides return, by ``(framework, fixture and optimizer)``."""
    return once(tmp_path_factory, "both_sides", lambda: train(tmp_path_factory.mktemp("training")))


def train(folder: Path) -> Results:
    """Run all jobs, in a process for each framework."""
    jobs: dict[str, list[str]] = {"torch": [], "paddle": []}
    for fixture in FIXTURES:
        if "run" not in fixture.settings:
            continue
        source, target = fixture.options.source, fixture.options.target
        # what the engine writes now is run, not what was recorded
        sides = {source: fixture.source, target: fixture.result.output}
        for framework, code in sides.items():
            path = folder / f"{fixture.name.replace('/', '-')}-{framework}.py"
            path.write_bytes(code)
            for optimizer in OPTIMIZERS:
                job = {
                    "id": f"{fixture.id}-{optimizer}",
                    "path": str(path),
                    "function": fixture.settings["run"],
                    "optimizer": optimizer,
                }
                jobs[framework].append(json.dumps(job))
    found: Results = {}
    for framework, lines in jobs.items():
        results = folder / f"{framework}.jsonl"
        process = subprocess.run(
            [sys.executable, str(WORKER), framework, str(results)],
            input="\n".join(lines),
            text=True,
            capture_output=True,
            timeout=300,
            check=False,
        )
        crash = {"error": f"the {framework} process ended with {process.returncode}:\n{process.stderr[-2000:]}"}
        done = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
        found |= {(framework, json.loads(line)["id"]): crash for line in lines}
        found |= {(framework, result["id"]): result for result in done}
    return found


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@with_fixtures(lambda fixture: "run" in fixture.settings)
def test_both_sides_train_alike(fixture: Fixture, optimizer: str, trained: Results) -> None:
    sides = {f: trained[f, f"{fixture.id}-{optimizer}"] for f in ("torch", "paddle")}
    for framework, side in sides.items():
        assert "error" not in side, f"on {framework}:\n{side['error']}"
    torch, paddle = sides["torch"], sides["paddle"]
    assert _finite(torch["returned"]) == pytest.approx(_finite(paddle["returned"]), rel=2e-5, abs=1e-6)
    assert torch["parameters"] == pytest.approx(paddle["parameters"], rel=2e-4, abs=2e-6)
    assert all(math.isfinite(x) for x in torch["parameters"])
    assert torch["returned"], "the fixture's train() returns nothing to compare"


def test_the_scalers_were_active(trained: Results) -> None:
    expected = [1024.0, 1024.0, 512.0, 256.0, 256.0, 256.0, 128.0, 128.0, 128.0, 128.0]
    for framework in ("torch", "paddle"):
        assert trained[framework, "to_paddle/typical_loop-sgd"]["returned"] == expected


def _finite(values: list[float]) -> list[float]:
    """Anything that is not finite counts alike: of an overflow, torch keeps inf where Paddle's CPU kernel has nan."""
    return [x if math.isfinite(x) else 1e30 for x in values]
