"""A pass that says which codes it has is left out where none of them is asked for: it must have no others."""

from __future__ import annotations

import typing
from collections import defaultdict

import pytest
from paddletorch.model import Options
from paddletorch.plan import planner
from paddletorch.plan.model.changes import Changes, Later, Pass, Planned
from paddletorch.plan.model.view import FileView

from ...fixture_files import FIXTURES, engine_for

DECLARED = {one.name: frozenset(one.codes) for one in planner.PASSES if one.codes}


@pytest.mark.parametrize("one", planner.PASSES, ids=lambda one: one.name)
def test_a_pass_is_named_by_a_function_for_it(one: Pass) -> None:
    """mypy does not see what ``Later`` names."""
    hints = typing.get_type_hints(one.plan.function if isinstance(one.plan, Later) else one.plan)
    assert hints == {"view": FileView, "planned": Planned, "return": Changes}


def test_a_pass_has_no_other_codes_than_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, set[str]] = defaultdict(set)
    monkeypatch.setattr(planner, "PASSES", tuple(_watched(one, seen[one.name]) for one in planner.PASSES))
    for fixture in FIXTURES:
        engine_for(Options(fixture.target)).convert(fixture.source, "a.py")
    assert {name: seen[name] for name in DECLARED if not seen[name] <= DECLARED[name]} == {}
    assert {name for name in DECLARED if not seen[name]} == set()


@pytest.mark.parametrize(("code", "is_asked"), [("TEN", False), ("DTY203", True), ("DTY", True)])
def test_it_is_asked_where_one_of_its_codes_is(monkeypatch: pytest.MonkeyPatch, code: str, is_asked: bool) -> None:
    asked: list[str] = []

    def noted(one: Pass) -> Pass:
        def plan(view: FileView, planned: Planned) -> Changes:
            asked.append(one.name)
            return one.plan(view, planned)

        return one._replace(plan=plan)

    monkeypatch.setattr(planner, "PASSES", tuple(map(noted, planner.PASSES)))
    engine_for(Options("paddle", select=(code,))).convert(b"import torch\nx = torch.ones(2) * 2\n", "a.py")
    assert "sites" in asked
    assert ("type promotion" in asked) is is_asked


def _watched(one: Pass, seen: set[str]) -> Pass:
    def plan(view: FileView, planned: Planned) -> Changes:
        changes = one.plan(view, planned)
        seen.update(one.code for one in (*changes.edits, *changes.findings, *changes.conversions))
        return changes

    return one._replace(plan=plan)
