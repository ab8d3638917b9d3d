"""The same program in another form converts to the same program in that form, with the same findings.

What is known to fail stands in ``known_failures.txt``, a fixture and a form on a line; it may only become shorter:
``python benchmarks/rewritten_forms.py --write-known`` takes out what is mended.
"""

from __future__ import annotations

import pytest

from ..fixture_files import FIXTURES, Fixture
from .forms import FORMS, difference, rewritten
from .known import KNOWN, is_sampled

CASES = [(fixture, name) for fixture in FIXTURES if not fixture.name.startswith("untouched/") for name in FORMS]


def _case(fixture: Fixture, form: str) -> object:
    marks = [] if is_sampled(fixture.id, form) else [pytest.mark.long]
    return pytest.param(fixture, form, id=f"{fixture.id} {form}", marks=marks)


@pytest.mark.parametrize(("fixture", "form"), [_case(*case) for case in CASES])
def test_a_form_converts_as_the_plain_program(fixture: Fixture, form: str) -> None:
    try:
        found = difference(fixture.source, fixture.options, FORMS[form])
    except LookupError:
        assert (fixture.id, form) not in KNOWN, "it is not written in this form: take it out of known_failures.txt"
        pytest.skip("there is nothing in it to be written so")
    if (fixture.id, form) in KNOWN:
        assert found is not None, "it is mended: take it out of known_failures.txt"
    else:
        assert found is None, str(found)


def test_what_is_known_to_fail_is_a_case() -> None:
    assert {(fixture.id, name) for fixture, name in CASES} >= KNOWN


@pytest.mark.parametrize("form", FORMS)
def test_many_fixtures_are_written_in_each_form(form: str) -> None:
    sample = [fixture for fixture, name in CASES if name == form][::10]
    assert sum(rewritten(one.source, one.options, FORMS[form]) is not None for one in sample) >= len(sample) / 5
