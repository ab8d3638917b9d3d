"""``paddletorch rules coverage``: what becomes of each public name of the installed frameworks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from paddletorch.cli.error import Refusal, require_framework

if TYPE_CHECKING:
    from paddletorch_rules import Framework, Table
    from paddletorch_rules.coverage import Coverage, Covered
    from paddletorch_rules.verified import Record


@click.command()
@click.option("--of", "only", type=click.Choice(["torch", "paddle"]), help="Only this framework.")
@click.option("--module", metavar="MODULE", help="Only names in this module and below it, such as torch.special.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.pass_context
def coverage(ctx: click.Context, /, only: Framework | None, module: str | None, form: str) -> None:
    """Say what becomes of each public name of the installed frameworks.

    A name has a row, is another name of an object that has one, or is stated to have no counterpart; names that
    begin with an underscore, or that a module's __all__ leaves out, are private and counted. What is none of these
    is open. Both frameworks are imported, and all of their modules: this takes half a minute.

    Exit code: 0 no public name is open; 1 some are.
    """
    from paddletorch_rules import TableError, load, verified

    try:
        table = load()
    except TableError as error:
        raise Refusal(str(error)) from error
    found = [_within(one, module) for one in _coverages(table, only)]
    if form == "json":
        record = verified.read()
        click.echo(json.dumps([_as_dict(one, table, record) for one in found], indent=1))
    else:
        for one in found:
            for line in _lines(one, table, verified.read()):
                click.echo(line)
    ctx.exit(int(any(one.open for one in found)))


def _coverages(table: Table, only: Framework | None) -> Iterator[Coverage]:
    from paddletorch_rules.coverage import cover

    sides: tuple[Framework, ...] = ("torch", "paddle")
    asked = [side for side in sides if only in (None, side)]
    for side in asked:
        require_framework(side, "its names are asked of it")
    for side in asked:
        yield cover(table, side)


def _within(found: Coverage, module: str | None) -> Coverage:
    from paddletorch_rules.coverage import Coverage

    if module is None:
        return found
    names = tuple(one for one in found.names if f"{one.module}.".startswith(f"{module}."))
    private = {place: count for place, count in found.private.items() if f"{place}.".startswith(f"{module}.")}
    return Coverage(found.side, names, private)


_COLUMNS = ("module", "rows", "proven", "aliases", "same members", "no counterpart", "private", "open")


def _lines(found: Coverage, table: Table, record: Record) -> Iterator[str]:
    """The table by module, and the names that are open."""
    from paddletorch_rules.coverage import above
    from paddletorch_rules.fates import Fate

    places = sorted({*(above(one.module, 2) for one in found.names), *(above(m, 2) for m in found.private)})
    counts = {place: [0] * (len(_COLUMNS) - 1) for place in places}
    columns = {Fate.ROW: 0, Fate.ALIAS: 2, Fate.SAME: 3, Fate.NO_COUNTERPART: 4, Fate.OPEN: 6}
    for one in found.names:
        count = counts[above(one.module, 2)]
        count[columns[one.fate]] += 1
        count[1] += one.fate is Fate.ROW and any(record.directions(row, table) for row, _ in one.said.rows)
    for place, number in found.private.items():
        counts[above(place, 2)][5] += number
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    width = max(map(len, [*counts, _COLUMNS[0]]))
    yield "  ".join([_COLUMNS[0].ljust(width), *_COLUMNS[1:]])
    for name, cells in [*counts.items(), (f"all of {found.side}", total)]:
        numbers = (str(cell).rjust(len(head)) for cell, head in zip(cells, _COLUMNS[1:], strict=True))
        yield "  ".join([name.ljust(width), *numbers])
    for one in found.open:
        yield f"open: {one.name}" + (f" (another name of {one.same_as})" if one.same_as else "")


def _as_dict(found: Coverage, table: Table, record: Record) -> dict[str, Any]:
    from paddletorch_rules.fates import Fate

    return {
        "framework": found.side,
        "counts": {fate.value: sum(one.fate is fate for one in found.names) for fate in Fate},
        "private": sum(found.private.values()),
        "names": [_name_as_dict(one, table, record) for one in found.names],
    }


def _name_as_dict(one: Covered, table: Table, record: Record) -> dict[str, Any]:
    from paddletorch_rules import fates

    said: dict[str, Any] = {"name": one.name, "fate": one.fate.value}
    if one.same_as:
        said["same_as"] = one.same_as
    rows = [row for row, _ in one.said.rows]
    if one.fate is fates.Fate.NO_COUNTERPART:
        said |= {"reason": fates.reason(table, rows[0], one.name), "way_out": fates.way_out(table, rows[0], one.name)}
    elif rows:
        said |= {"rows": [row.id for row in rows], "proof": fates.proof(table, record, rows[0])}
    return said
