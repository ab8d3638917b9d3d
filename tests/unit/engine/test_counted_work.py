"""What a conversion costs, counted in function calls, which are the same on every machine.

After a change that is worth more work, or with other fixtures, the test prints the number to write here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Framework, Options

FIXTURES = Path(__file__).parents[3] / "fixtures"

FILES: dict[Framework, tuple[str, ...]] = {
    "paddle": (
        "attention_masks",
        "custom_function",
        "encoder_masks",
        "one_pipeline",
        "resnet",
        "tensor_tools",
        "training_loop",
    ),
    "torch": ("convnet", "one_pipeline", "sequence_model", "tensor_tools", "training_loop", "weight_tools"),
}
"""Fixtures with code of many kinds."""

CALLS: dict[Framework, int] = {"paddle": 220_169, "torch": 176_327}
"""Calls of the project's own functions, on Python 3.11; later ones call no function for a comprehension."""

MARGIN = 1.1


@contextmanager
def counted_calls() -> Iterator[list[int]]:
    """Count the calls of the project's own functions meanwhile."""
    count = [0]

    def step(frame: FrameType, event: str, _argument: Any) -> None:
        count[0] += event == "call" and frame.f_globals.get("__name__", "").startswith("paddletorch")

    before = sys.getprofile()
    sys.setprofile(step)
    try:
        yield count
    finally:
        sys.setprofile(before)


def calls_of(engine: Engine, to: Framework) -> int:
    """The calls for all files, once what is kept of the tables is there."""
    files = [(FIXTURES / f"to_{to}" / f"{name}.in.py").read_bytes() for name in FILES[to]]
    for data in files:
        engine.convert(data, "<counted>")
    with counted_calls() as count:
        for data in files:
            engine.convert(data, "<counted>")
    return count[0]


@pytest.mark.parametrize("to", ["paddle", "torch"])
def test_a_conversion_takes_no_more_calls_than_before(to: Framework) -> None:
    calls = calls_of(Engine(Options(to, max_file_seconds=0)), to)
    assert calls < MARGIN * CALLS[to], f"{calls:,} calls instead of {CALLS[to]:,}"


def test_more_work_is_seen() -> None:
    class Repeating(Engine):
        def convert(self, data: bytes, path: str, evidence: Any = None) -> Any:
            super().convert(data, path)
            return super().convert(data, path)

    assert calls_of(Repeating(Options("paddle", max_file_seconds=0)), "paddle") > MARGIN * CALLS["paddle"]
