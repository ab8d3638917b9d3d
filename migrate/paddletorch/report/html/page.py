"""Puts the page together from its parts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from importlib.resources import files as resources
from string import Template

from paddletorch.report.headline import findings_line, headline, packages_line
from paddletorch.report.html.payload import compact, files, overview
from paddletorch.report.html.rule_help import help_html
from paddletorch.report.printable import printable
from paddletorch.report.record import Origin, Report

_DIFF = '<script type="application/json" id="diff-{}">{}</script>'
_ORIGIN = "<div><dt>{}</dt><dd>{}</dd></div>"
_HELP = '<template id="help-{}">{}</template>'


def render(report: Report) -> str:
    """The whole page. What comes from files stands in it as JSON only, which the script shows as text."""
    parts = resources(__package__)
    style, folders, script, page = (
        (parts / name).read_text(encoding="utf-8") for name in ("report.css", "folders.js", "report.js", "report.html")
    )
    script = folders + script
    data = overview(report)
    listed, diffs = files(report)
    helps = {code: help_html(code, data["codes"]) for code in data["codes"]}
    origin = report.origin
    options = report.options
    return Template(page).substitute(
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        title=escape(printable(f"{origin.project or 'paddletorch'}: {options.source} to {options.target}")),
        origin="\n".join(_ORIGIN.format(*map(escape, entry)) for entry in _said(origin)),
        headline=escape(" ".join(_headlines(report))),
        style=style,
        script=script,
        data=compact({**data, "files": listed}),
        diffs="\n".join(_DIFF.format(n, diff) for n, diff in enumerate(diffs)),
        helps="\n".join(_HELP.format(escape(code), text) for code, text in helps.items() if text),
    )


def _headlines(report: Report) -> Iterator[str]:
    yield headline(report.summary)
    if report.summary.packages:
        yield packages_line(report.summary, report.options)
    if report.summary.left:
        yield f"{findings_line(report.summary)}."


def _said(origin: Origin) -> Iterator[tuple[str, str]]:
    named = {"Project": origin.project, "Date": origin.date, "Commit": origin.commit, "Command": origin.command}
    yield from ((name, printable(value)) for name, value in named.items() if value)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
