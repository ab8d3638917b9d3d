"""Pages of the documentation, written from tables and proofs. Imports `proof`, `plan.calls` and below."""

from __future__ import annotations

from paddletorch_rules import AreaSpec, Table
from paddletorch_rules.verified import Record

from paddletorch.pages import areas, codes, coverage, defaults, rule
from paddletorch.pages.standing import Standing, by_area


def generated(table: Table, record: Record) -> dict[str, str]:
    """Each generated page, by its path in the folder of the documentation.

    Raises:
        KeyError: a code's area has no name in ``areas.NAMES``.
    """
    standings = by_area(table, record)
    return {
        "rules.md": codes.page(table),
        "coverage.md": coverage.page(standings, record),
        "defaults-by-release.md": defaults.page(table),
        **{f"areas/{area}.md": areas.page(area, table, standings.get(area, ())) for area in codes.areas(table)},
        **{f"rules/{spec.code}.md": rule.page(spec, table, _of(spec, standings)) for spec in table.areas.values()},
    }


def _of(spec: AreaSpec, standings: dict[str, list[Standing]]) -> list[Standing]:
    return [found for area in standings.values() for found in area if found.row.code == spec.code]
