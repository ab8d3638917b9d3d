"""The forms of a report for programs and browsers, by name and by the suffix of a file."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from paddletorch.report.record import Report

Form = Literal["json", "sarif", "github", "html"]

SUFFIXES: dict[str, Form] = {".json": "json", ".sarif": "sarif", ".html": "html", ".htm": "html"}


def form_of(path: PurePath) -> Form:
    """The form that a file's name asks for.

    Raises:
        ValueError: its suffix stands for none.
    """
    form = SUFFIXES.get(path.suffix.lower())
    if form is None:
        raise ValueError(f"the name ends in none of {', '.join(SUFFIXES)}")
    return form


def render(report: Report, form: Form) -> str:
    """The whole report as text that ends without a line break."""
    if form == "json":
        from paddletorch.report import json

        return json.render(report)
    if form == "sarif":
        from paddletorch.report import sarif

        return sarif.render(report)
    if form == "github":
        from paddletorch.report import github

        return github.render(report)
    from paddletorch.report import html

    return html.render(report)
