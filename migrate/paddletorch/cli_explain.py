"""``paddletorch explain``: the page of a code, or the list of all codes."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import paddletorch
from paddletorch.cli_error import Refusal, nearest


@click.command()
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Say what CODE means, why it matters and what to do; without CODE, list all codes."""
    titles = _titles()
    if code is None:
        for known, title in titles.items():
            click.echo(f"{known}  {title}")
        return
    code = code.upper()
    page = _page(code)
    if page is None and code not in titles:
        raise Refusal(f"no such code: {code}{nearest(code, titles)}; 'paddletorch explain' lists all codes")
    text = page or f"# {code}: {titles[code]}\n"
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))


def _titles() -> dict[str, str]:
    from paddletorch_rules import load

    table = load()
    titles = {code: spec.title for code, spec in table.diagnostics.items()}
    for row in table.rows:
        titles.setdefault(row.code, row.title)
    return dict(sorted(titles.items()))


def _page(code: str) -> str | None:
    package = Path(paddletorch.__file__).parent
    # Installed pages lie in the package; a checkout has them in its documentation.
    for folder in (package / "rules_pages", package.parents[1] / "docs" / "rules"):
        file = folder / f"{code}.md"
        if code.isalnum() and file.is_file():
            return file.read_text(encoding="utf-8")
    return None
