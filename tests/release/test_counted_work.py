"""The counted work of a conversion and of a cold start, against what ``benchmarks/counted_work.json`` records."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "counted_work.py"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def test_the_work_is_not_over_a_tenth_more_than_recorded() -> None:
    recorded = json.loads(SCRIPT.with_suffix(".json").read_text())["work"].get(PYTHON)
    if recorded is None:
        pytest.skip(f"nothing is recorded for Python {PYTHON}")
    ran = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, timeout=300, check=True)
    counted = json.loads(ran.stdout)
    assert counted.keys() == recorded.keys()
    more = {name: (counted[name], recorded[name]) for name in recorded if counted[name] > 1.1 * recorded[name]}
    assert not more, "more work than recorded; if it must be: python benchmarks/counted_work.py --record"
