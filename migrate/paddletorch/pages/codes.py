"""The index of all codes."""

from __future__ import annotations

from collections.abc import Iterator

from paddletorch_rules import Table

from paddletorch.pages.area_names import NAMES
from paddletorch.pages.markdown import table

_INTRODUCTION = """\
# All codes

A code is an area of letters and a number. It stands for a *conversion*, or for a *finding*, which has a severity and an
applicability:

- **error**: the converted program goes wrong there, or the file could not be handled; **warning**: something may be
  left to do; **info**: worth knowing, and the exit code does not change.
- **unsafe**: left, and `--unsafe` converts it; **display-only**: left for a person; **safe**: converted.

`paddletorch explain CODE` prints a page of this list, and `--select` and `--ignore` take an area, a code or a prefix.
"""


def areas(tables: Table) -> list[str]:
    """The letters of all codes, in alphabetical order."""
    return sorted({code.rstrip("0123456789") for code in _codes(tables)})


def page(tables: Table) -> str:
    """The index in Markdown, by area."""
    lines = [_INTRODUCTION]
    for area in areas(tables):
        lines += [f"## {area}: {NAMES[area]}", "", f"[Every API of the area](areas/{area}.md)", ""]
        lines += [*codes_table(area, tables, folder="rules"), ""]
    lines += ["Written by `paddletorch rules pages --write docs`."]
    return "\n".join(lines) + "\n"


def codes_table(area: str, tables: Table, folder: str) -> Iterator[str]:
    """The table of an area's codes; ``folder`` holds their pages, seen from the page of the table."""
    rows = []
    for code, title in sorted(_codes(tables).items()):
        if code.rstrip("0123456789") == area:
            spec = tables.diagnostics.get(code)
            marks = (spec.severity, spec.applicability) if spec else ("conversion", "")
            rows.append((f"[{code}]({folder}/{code}.md)", title.rstrip("."), *marks))
    return table(("code", "what", "severity", "applicability"), rows)


def _codes(tables: Table) -> dict[str, str]:
    """Every code with its title."""
    titles = {code: spec.title for specs in (tables.areas, tables.diagnostics) for code, spec in specs.items()}
    for row in tables.rows:
        titles.setdefault(row.code, row.title)
    return titles
