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
    "training_paddle/parameter_groups": "API221",
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


PACKAGES = ("training_torch", "training_paddle", "paddle_vision")


def test_programs_run_alike_on_the_other_framework(programs: Any, tmp_path: Path) -> None:
    """Every case is equal, but for those of which a known finding says where they are not.

    All packages are one run: a framework is imported once for it, which takes as long as some of the programs.
    """
    found = [one for one in programs.packages() if one.name in PACKAGES]
    assert len(found) == len(PACKAGES)
    of_each = [programs.cases_of(one) for one in found]
    cases = [case for own in of_each for case in (own[:3] if own[0].package.name == "paddle_vision" else own)]
    bench = programs.Bench(tmp_path, 1)
    try:
        verdicts = list(programs.run_all(bench, cases))
    finally:
        bench.close()
    assert len(verdicts) == len(cases)
    for one in verdicts:
        if one.outcome == "equal":
            continue
        assert one.named, one
        expected = NAMED.get(one.case.id, NAMED.get(one.case.package.name))
        assert expected in one.codes, one
