"""Whatever the input and the options: no crash, nothing lost, a second run changes nothing (``promises``).

The short form is the same cases every time. The long form draws new ones, as many as wanted:
``PADDLETORCH_FUZZ_CASES=20000 PADDLETORCH_FUZZ_FOLDER=~/src python -m pytest -m long``. ``benchmarks/fuzz.py``
runs it in pieces and counts.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from .campaign import KINDS, campaign

ROOT = Path(__file__).parents[2]

CASES = int(os.environ.get("PADDLETORCH_FUZZ_CASES", "10000"))
"""Cases of each long test."""
SHORT = {"programs": 150, "mutated": 250, "wild": 400, "extremes": 30}


@pytest.mark.parametrize("kind", KINDS)
def test_few(kind: str) -> None:
    """In a process of its own: Hypothesis draws constants from all loaded modules, which other tests add to."""
    given = "from tests.fuzz.campaign import campaign; import sys; tally = campaign(sys.argv[1], int(sys.argv[2]), 1)"
    code = f"{given}; print(dict(tally.broken), tally.shown(), sep=chr(10)); sys.exit(bool(tally.broken))"
    command = [sys.executable, "-c", code, kind, str(SHORT[kind])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many(kind: str) -> None:
    start = random.SystemRandom().randrange(2**32)
    tally = campaign(kind, CASES // 20 if kind == "extremes" else CASES, start)
    assert not tally.broken, f"start {start}: {dict(tally.broken)}\n{tally.shown()}"
