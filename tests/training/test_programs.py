"""Whole training programs, and models of the installed Paddle, run alike on the other framework.

These are the quick ones of ``benchmarks/programs.py``: each runs as it is and converted, where the framework that it
was written for cannot be imported, with weights as ``paddletorch state convert`` makes them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

NAMED = {
    "paddle_vision": "TRN201",
    "training_torch/policy_gradient": "TRN201",
    "training_paddle/checkpoint_resume": "API212",
    "training_paddle/parameter_groups": "LRS201",
    "training_paddle/high_level_model": "OPT201",
}
"""Programs that may not run alike, or packages of them, and the finding that says so."""


@pytest.fixture(scope="module")
def programs() -> Iterator[Any]:
    """The benchmark's modules."""
    sys.path.insert(0, str(BENCHMARKS))
    import programs

    yield programs
    sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize("package", ["training_torch", "training_paddle", "paddle_vision"])
def test_programs_run_alike_on_the_other_framework(programs: Any, package: str, tmp_path: Path) -> None:
    """Every case is equal, but for those of which a known finding says where they are not."""
    (found,) = [one for one in programs.packages() if one.name == package]
    cases = programs.cases_of(found)
    bench = programs.Bench(tmp_path, 1)
    try:
        verdicts = list(programs.run_all(bench, cases if package.startswith("training") else cases[:3]))
    finally:
        bench.close()
    for one in verdicts:
        if one.outcome == "equal":
            continue
        assert one.named, one
        expected = NAMED.get(one.case.id, NAMED.get(package))
        assert expected in one.codes, one
