"""``paddletorch explain``: the page of a code, or the list of all codes."""

from __future__ import annotations

import sys

import click

from paddletorch.cli.error import Refusal
from paddletorch.model.codes import nearest


@click.command()
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Say what CODE means, why it matters and what to do; without CODE, list all codes."""
    from paddletorch_rules import load

    from paddletorch.report.rule_page import page, titles

    known_titles = titles(load())
    if code is None:
        for known, title in known_titles.items():
            click.echo(f"{known}  {title}")
        return
    code = code.upper()
    text = page(code)
    if text is None and code not in known_titles:
        raise Refusal(f"no such code: {code}{nearest(code, known_titles)}; 'paddletorch explain' lists all codes")
    text = text or f"# {code}: {known_titles[code]}\n"
    if sys.stdout is None or not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
