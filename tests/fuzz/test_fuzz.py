"""Whatever the input and the options: no crash, nothing lost, a second run changes nothing (``promises``).

The short form is the same cases every time. The long form draws new ones, as many as wanted:
``PADDLETORCH_FUZZ_CASES=20000 PADDLETORCH_FUZZ_FOLDER=~/src python -m pytest -m long``.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paddletorch.model import Framework

from .mutations import mutated
from .options import options
from .programs import programs
from .promises import check

CASES = int(os.environ.get("PADDLETORCH_FUZZ_CASES", "10000"))
"""Cases of each long test."""

Drawn = tuple[Framework, bytes]
OTHER: dict[Framework, Framework] = {"torch": "paddle", "paddle": "torch"}
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example, HealthCheck.filter_too_much)


def checked(drawn: Drawn, data: st.DataObject) -> None:
    source, text = drawn
    check(text, data.draw(options(OTHER[source])))


@settings(max_examples=250, derandomize=True, deadline=None, suppress_health_check=SLOW)
@given(drawn=programs(), data=st.data())
def test_generated_programs(drawn: Drawn, data: st.DataObject) -> None:
    checked(drawn, data)


@settings(max_examples=250, derandomize=True, deadline=None, suppress_health_check=SLOW)
@given(drawn=mutated(), data=st.data())
def test_mutated_files(drawn: Drawn, data: st.DataObject) -> None:
    checked(drawn, data)


@pytest.mark.long
@settings(max_examples=CASES, deadline=None, suppress_health_check=SLOW)
@given(drawn=programs(), data=st.data())
def test_many_generated_programs(drawn: Drawn, data: st.DataObject) -> None:
    checked(drawn, data)


@pytest.mark.long
@settings(max_examples=CASES, deadline=None, suppress_health_check=SLOW)
@given(drawn=mutated(), data=st.data())
def test_many_mutated_files(drawn: Drawn, data: st.DataObject) -> None:
    checked(drawn, data)
