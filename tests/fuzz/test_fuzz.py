"""Whatever the input and the options: no crash, nothing lost, a second run changes nothing (``promises``).

The short form is the same cases every time. The long form draws new ones, as many as wanted:
``PADDLETORCH_FUZZ_CASES=20000 PADDLETORCH_FUZZ_FOLDER=~/src python -m pytest -m long``. ``benchmarks/fuzz.py``
runs it in pieces and counts.
"""

from __future__ import annotations

import os
import random

import pytest

from .campaign import KINDS, campaign

CASES = int(os.environ.get("PADDLETORCH_FUZZ_CASES", "10000"))
"""Cases of each long test."""
SHORT = {"programs": 150, "mutated": 250, "wild": 400, "extremes": 30}


@pytest.mark.parametrize("kind", KINDS)
def test_few(kind: str) -> None:
    tally = campaign(kind, SHORT[kind], 1)
    assert not tally.broken, f"{dict(tally.broken)}\n{tally.shown()}"


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many(kind: str) -> None:
    start = random.SystemRandom().randrange(2**32)
    tally = campaign(kind, CASES // 20 if kind == "extremes" else CASES, start)
    assert not tally.broken, f"start {start}: {dict(tally.broken)}\n{tally.shown()}"
