"""A file that is the target's code already stays as it is, whatever else the tree holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Framework, Options

FIXTURES = Path(__file__).parents[3] / "fixtures"
WRITTEN_IN: dict[str, tuple[Framework, Framework]] = {
    "to_paddle": ("torch", "paddle"),
    "to_torch": ("paddle", "torch"),
}


@pytest.mark.parametrize("folder", WRITTEN_IN)
def test_programs_of_the_target_stay_as_they_are(folder: str) -> None:
    target, other = WRITTEN_IN[folder]
    imports_other = re.compile(rf"(?m)^\s*(?:import|from)\s+{other}".encode())
    engine = Engine(Options(target))
    programs = [p for p in FIXTURES.joinpath(folder).glob("*.in.py") if not imports_other.search(p.read_bytes())]
    changed = [p.name for p in programs if engine.convert(p.read_bytes(), "<program>").output != p.read_bytes()]
    assert len(programs) > 100 and not changed
