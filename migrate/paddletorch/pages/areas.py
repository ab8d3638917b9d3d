"""The page of an area: its codes, and every API with its proof."""

from __future__ import annotations

from collections.abc import Sequence

from paddletorch_rules import Table

from paddletorch.pages.area_names import NAMES
from paddletorch.pages.codes import codes_table
from paddletorch.pages.markdown import table
from paddletorch.pages.standing import Standing


def page(area: str, tables: Table, standings: Sequence[Standing]) -> str:
    """The page of ``area`` in Markdown."""
    lines = [f"# {area}: {NAMES[area]}", "", "## Codes", "", *codes_table(area, tables, folder="../rules")]
    rows = [(*found.names, found.mark, f"[{found.row.code}](../rules/{found.row.code}.md)") for found in standings]
    if rows:
        lines += ["", "## APIs", "", *table(("torch", "Paddle", "proof", "code"), rows)]
    return "\n".join(lines) + "\n"
