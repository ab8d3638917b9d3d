"""``paddletorch rules``: what is in the tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from paddletorch.cli_error import Refusal, nearest

if TYPE_CHECKING:
    from paddletorch_rules import Form, Framework, Row, Table

_TABLES = click.option("--tables", multiple=True, metavar="FILE", help="TOML table to put before the built-in ones.")


@click.group()
def rules() -> None:
    """Show and check the tables of equivalent APIs."""


@rules.command("list")
@click.option("--area", metavar="AREA", help="Only this area, such as AMP.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@_TABLES
def list_rows(area: str | None, form: str, tables: tuple[str, ...]) -> None:
    """List the rows: code, name, and the API on each side."""
    table = _load(tables)
    areas = sorted({row.area for row in table.rows})
    if area is not None and area.upper() not in areas:
        raise click.UsageError(f"--area: no rows in {area}{nearest(area.upper(), areas)}")
    rows = [row for row in table.rows if area is None or row.area == area.upper()]
    rows.sort(key=lambda row: row.code)
    if form == "json":
        click.echo(json.dumps([_as_dict(row) for row in rows], indent=2))
        return
    columns = [(row.code, row.id, _first(row, "torch"), _first(row, "paddle")) for row in rows]
    widths = [max(map(len, column)) for column in zip(*columns, strict=True)]
    for cells in columns:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        click.echo("  ".join(padded).rstrip())


@rules.command()
@click.argument("key")
@_TABLES
def show(key: str, tables: tuple[str, ...]) -> None:
    """Show what the tables say about KEY: a row's name, a code, or an API such as torch.amp.GradScaler."""
    table = _load(tables)
    rows = [row for row in table.rows if key in (row.id, *_names(row)) or key.upper() == row.code]
    spec = table.diagnostics.get(key.upper())
    if spec is not None:
        click.echo(f"{spec.code} {spec.name}: {spec.title}")
        click.echo(f"  {spec.severity}, {spec.applicability}: {spec.message}")
        if spec.hint:
            click.echo(f"  {spec.hint}")
    if not rows and spec is None:
        known = [name for row in table.rows for name in (row.id, row.code, *_names(row))]
        raise Refusal(f"the tables have no {key}{nearest(key, [*known, *table.diagnostics])}")
    for row in rows:
        click.echo("\n".join(_describe(row)))


@rules.command()
@_TABLES
@click.pass_context
def check(ctx: click.Context, /, tables: tuple[str, ...]) -> None:
    """Check the tables, and hold them against the frameworks that are installed.

    Exit code: 0 all is as written; 1 a framework differs from the tables; 2 a table is not valid.
    """
    from paddletorch_rules import installed
    from paddletorch_rules.check import check_installed, frameworks

    table = _load(tables)
    click.echo(f"{len(table.rows)} rows, {len(table.values)} value maps, {len(table.diagnostics)} diagnostics: valid")
    problems = check_installed(table)
    for problem in problems:
        click.echo(str(problem))
    found = " and ".join(f"{side} {installed(side)}" for side in frameworks())
    if not found:
        click.echo("neither torch nor Paddle is installed: nothing to hold them against")
    else:
        click.echo(f"{f'{len(problems)} differences from' if problems else 'as written in'} {found}")
    ctx.exit(1 if problems else 0)


def _load(tables: tuple[str, ...]) -> Table:
    from paddletorch_rules import TableError, load

    try:
        return load(tables)
    except TableError as error:
        raise Refusal(str(error)) from error


def _spelled(row: Row, form: Form) -> Iterator[str]:
    """Names as a user would write them: members with their receiver's type."""
    for name in form.names:
        yield f"{row.receiver}.{name}" if row.receiver else name


def _names(row: Row) -> list[str]:
    return [name for form in (*row.torch, *row.paddle) for name in _spelled(row, form)]


def _first(row: Row, side: Framework) -> str:
    for form in row.forms(side):
        return next(_spelled(row, form), form.template or "")
    return "-"


def _as_dict(row: Row) -> dict[str, Any]:
    return {
        "code": row.code,
        "id": row.id,
        "kind": row.kind,
        "title": row.title,
        "torch": [name for form in row.torch for name in _spelled(row, form)],
        "paddle": [name for form in row.paddle for name in _spelled(row, form)],
        "direction": row.direction,
        "file": row.file,
    }


def _describe(row: Row) -> Iterator[str]:
    yield f"{row.code} {row.id}: {row.title}"
    yield f"  {row.kind} in {row.file}" + (f", only to {row.direction}" if row.direction else "")
    for side in ("torch", "paddle"):
        for form in row.forms(side):
            until = f" until {form.until}" if form.until else ""
            yield f"  {side} since {form.since}{until}: {', '.join(_spelled(row, form)) or form.template}"
            if form.names and form.template:
                yield f"    written as {form.template}"
            for since, signature in form.signatures:
                yield f"    from {since}: {signature.text}"
    for pair in row.parameters:
        line = f"  parameter {pair.torch or '(none)'} = {pair.paddle or '(none)'}"
        if pair.values:
            line += f", values by {pair.values!r}"
        if pair.neutral:
            line += f", same as leaving it out: {pair.neutral}"
        if pair.otherwise:
            line += f", otherwise {pair.otherwise}"
        yield line
    if row.report:
        yield f"  reported: {row.report}"
    for target, code in row.warn.items():
        yield f"  warned of when converting to {target}: {code}"
    for link in row.docs.values():
        yield f"  {link}"
