"""``paddletorch explain``: what a code, a rule's name, an API or a line of a file is about."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from paddletorch.cli.error import Refusal
from paddletorch.inputs.discover import SUFFIXES
from paddletorch.model import Framework
from paddletorch.model.codes import nearest

if TYPE_CHECKING:
    from paddletorch_rules import Table

_LOCATION = re.compile(r"(?P<path>.+?):(?:cell (?P<cell>[0-9]+):)?(?P<line>[0-9]+)(?::[0-9]+)?:?")

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]*)?(e-?[0-9]+)?")


@click.command()
@click.argument("what", required=False)
@click.option("--to", type=click.Choice(get_args(Framework)), help="Of FILE:LINE: the framework to convert to.")
@click.option("--target-version", metavar="RELEASE", help='Of FILE:LINE: release to convert to: "3.3", ">=2.6,<3".')
@click.option("--trust", is_flag=True, help="Use all settings: of other users, naming files elsewhere, above limits.")
def explain(what: str | None, **given: Any) -> None:
    """Say what WHAT means, why it matters and what to do; without WHAT, list all codes.

    WHAT is a code (TRN201), the name of its rule (no-counterpart), an API (torch.gather: what is written for it, with
    the defaults that differ), or a line as reports name it (model.py:12): what happens on it, and why.

    FILE:LINE has the settings of 'paddletorch convert'.
    """
    from paddletorch_rules import load

    from paddletorch.report.rule_page import titles

    table = load()
    known_titles = titles(table)
    if what is None:
        for known, title in known_titles.items():
            click.echo(f"{known}  {title}")
        return
    codes = _codes(table, known_titles, what)
    if codes:
        _show_pages(codes, known_titles)
        return
    location = _LOCATION.fullmatch(what)
    if location is not None and (Path(location["path"]).exists() or location["path"].endswith(SUFFIXES)):
        from paddletorch.cli.explain_line import explain_line

        cell = int(location["cell"]) if location["cell"] else None
        click.echo("\n".join(explain_line(location["path"], int(location["line"]), cell, given)))
        return
    from paddletorch.cli.lookup import answers, suggested
    from paddletorch.report.printable import printable

    described = [line for answer in answers(what) for line in _api_lines(answer)]
    if not described:
        near = suggested(what) if "." in what else nearest(_as_known(what), {*known_titles, *_names(table)})
        said = f"no such code, rule, API or line of a file: {what}{near}{'' if near.endswith('?') else ';'}"
        raise Refusal(f"{said} 'paddletorch explain' lists all codes")
    for line in described:
        click.echo(printable(line))


def _as_known(what: str) -> str:
    """In the letters of codes, or in those of names."""
    return what.upper() if re.fullmatch(r"[A-Za-z]{2,4}[0-9]+", what) else what.lower()


def _codes(table: Table, titles: dict[str, str], what: str) -> list[str]:
    """The codes that are meant by a code or by the name of a rule."""
    from paddletorch.report.rule_page import page_file

    code = what.upper()
    if code in titles or page_file(code) is not None:
        return [code]
    return sorted(code for name, code in _named(table) if name == what.lower())


def _named(table: Table) -> Iterator[tuple[str, str]]:
    yield from ((spec.name, code) for code, spec in table.diagnostics.items())
    yield from ((area.name, code) for code, area in table.areas.items())


def _names(table: Table) -> set[str]:
    return {name for name, _ in _named(table)}


def _show_pages(codes: list[str], titles: dict[str, str]) -> None:
    from paddletorch.report.rule_page import page

    for code in codes:
        text = page(code) or f"# {code}: {titles[code]}\n"
        if sys.stdout is None or not sys.stdout.isatty():
            click.echo(text, nl=False)
            continue
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))


def _api_lines(answer: dict[str, Any]) -> Iterator[str]:
    """What the tables say of an API, and which defaults it would run with unseen."""
    from paddletorch.cli.lookup import answer_lines

    yield from answer_lines(answer)
    for said in answer.get("parameters", ()):
        here, there = said.get("default"), said.get("default_there")
        if None in (said["name"], said["becomes"], here, there) or "values" in said or _values(here) == _values(there):
            continue
        yield f"  default differs: {said['name']} is {_shown(here)} here and {_shown(there)} there; it is written out"
    if "code" in answer:
        yield f"  'paddletorch explain {answer['code']}' has the page of its group"


def _values(default: Any) -> set[str]:
    """The values of a default, as numbers where they are numbers; a release without the parameter has none."""
    texts = [one for one in (default.values() if isinstance(default, dict) else [default]) if one is not None]
    return {str(float(one)) if _NUMBER.fullmatch(one) else one for one in texts}


def _shown(default: Any) -> str:
    if isinstance(default, dict):
        return ", ".join(f"{value} from {release}" for release, value in default.items() if value is not None)
    return str(default)
