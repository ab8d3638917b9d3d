"""``paddletorch rules``: what is in the tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddletorch.cli.coverage import coverage
from paddletorch.cli.error import Refusal, require_framework
from paddletorch.model.codes import nearest
from paddletorch.report.printable import printable

if TYPE_CHECKING:
    from paddletorch_rules import Form, Framework, Row, Table
    from paddletorch_rules.verified import RecordedProof

    from paddletorch.proof.proof import Proof

_TABLES = click.option("--tables", multiple=True, metavar="FILE", help="TOML table to put before the built-in ones.")
_WIDTH = 50
"""Columns are aligned up to this many characters; a template may be longer."""


@click.group()
def rules() -> None:
    """Show and check the tables of equivalent APIs."""


rules.add_command(coverage)


@rules.command("list")
@click.option("--area", metavar="AREA", help="Only this area, such as AMP.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@_TABLES
def list_rows(area: str | None, form: str, tables: tuple[str, ...]) -> None:
    """List the rows: code, name, the API on each side, and whether an executed proof is recorded."""
    table = _load(tables)
    areas = sorted({row.area for row in table.rows})
    if area is not None and area.upper() not in areas:
        raise click.UsageError(f"--area: no rows in {area}{nearest(area.upper(), areas)}")
    rows = [row for row in table.rows if area is None or row.area == area.upper()]
    rows.sort(key=lambda row: row.code)
    from paddletorch_rules import verified

    record = verified.read()
    targets = {id(row): record.directions(row, table) for row in rows}
    if form == "json":
        click.echo(json.dumps([{**_as_dict(row), "verified": targets[id(row)]} for row in rows], indent=2))
        return
    columns = [
        (row.code, row.id, _first(row, "torch"), _first(row, "paddle"), _mark(row, targets[id(row)])) for row in rows
    ]
    widths = [min(_WIDTH, max(map(len, column))) for column in zip(*columns, strict=True)]
    for cells in columns:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        _echo("  ".join(padded).rstrip())


@rules.command()
@click.argument("key")
@_TABLES
def show(key: str, tables: tuple[str, ...]) -> None:
    """Show what the tables say about KEY: a row's name, a code, or an API such as torch.amp.GradScaler."""
    table = _load(tables)
    rows = [row for row in table.rows if key in (row.id, *_names(row)) or key.upper() == row.code]
    rows = rows or list(dict.fromkeys(row for side in ("torch", "paddle") for row, _ in table.overloads(side, key)))
    spec = table.diagnostics.get(key.upper())
    if spec is not None:
        _echo(f"{spec.code} {spec.name}: {spec.title}")
        _echo(f"  {spec.severity}, {spec.applicability}: {spec.message}")
        if spec.hint:
            _echo(f"  {spec.hint}")
    if not rows and spec is None:
        known = [name for row in table.rows for name in (row.id, row.code, *_names(row))]
        raise Refusal(f"the tables have no {key}{nearest(key, [*known, *table.diagnostics])}")
    from paddletorch_rules import verified

    record = verified.read() if rows else None
    for row in rows:
        for line in _describe(row):
            _echo(line)
        if record is not None:
            _echo(f"  {_proof(row, record.proof(row, table))}")


@rules.command()
@click.option("--execute", is_flag=True, help="Prove the rows: convert their examples, run both sides and compare.")
@click.option(
    "--only", multiple=True, metavar="PREFIX", help="With --execute, rows whose file, code or name starts so."
)
@click.option("--verbose", is_flag=True, help="With --execute, the verdict on every row.")
@click.option("--record", is_flag=True, help="With --execute, write down what was verified, for 'rules list'.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="With --execute.")
@_TABLES
@click.pass_context
def check(
    ctx: click.Context,
    /,
    execute: bool,
    only: tuple[str, ...],
    verbose: bool,
    record: bool,
    form: str,
    tables: tuple[str, ...],
) -> None:
    """Check the tables, and hold them against the frameworks that are installed.

    With --execute the rows are proven instead: each row's examples are converted to the other framework and
    back, run on both, and the values, shapes and dtypes of the results compared.

    Exit code: 0 all is as written; 1 a framework differs from the tables, or a row fails; 2 a table is not valid.
    """
    if not execute and (only or verbose or record or form != "text"):
        raise click.UsageError("--only, --verbose, --record and --format go with --execute")
    if record and tables:
        raise click.UsageError("--record is for the built-in tables")
    table = _load(tables)
    if execute:
        proofs = _execute(_chosen(table, only), tables, verbose, form)
        if record:
            _record(proofs, table, keep=bool(only))
        ctx.exit(int(any(proof.failure is not None for proof in proofs)))
    from paddletorch_rules import installed
    from paddletorch_rules.check import check_installed, frameworks

    click.echo(f"{len(table.rows)} rows, {len(table.values)} value maps, {len(table.diagnostics)} diagnostics: valid")
    problems = check_installed(table)
    for problem in problems:
        _echo(str(problem))
    found = " and ".join(f"{side} {installed(side)}" for side in frameworks())
    if not found:
        click.echo("neither torch nor Paddle is installed: nothing to hold them against")
    else:
        click.echo(f"{f'{len(problems)} differences from' if problems else 'as written in'} {found}")
    ctx.exit(1 if problems else 0)


def _echo(line: str) -> None:
    click.echo(printable(line))


def _chosen(table: Table, only: tuple[str, ...]) -> list[Row]:
    for prefix in only:
        if not any(_starts(row, prefix) for row in table.rows):
            names = {name for row in table.rows for name in (row.file, row.code, row.id)}
            raise click.UsageError(f"--only: no row's file, code or name starts with {prefix}{nearest(prefix, names)}")
    rows = [row for row in table.rows if table.row(row.id) is row]  # without those that a user's table replaces
    return [row for row in rows if not only or any(_starts(row, prefix) for prefix in only)]


def _starts(row: Row, prefix: str) -> bool:
    return any(name.startswith(prefix) for name in (row.file, row.code, row.id))


def _execute(rows: list[Row], tables: tuple[str, ...], verbose: bool, form: str) -> list[Proof]:
    """Prove the rows and print: failing ones as they come, the counts at the end."""
    from paddletorch.proof.render import as_json, failure_lines, row_line, total_lines
    from paddletorch.proof.worker import Prover

    versions = _versions()
    proofs = []
    with Prover(tables) as prover:
        for row in rows:
            proofs.append(prover.prove(row))
            if form == "text":
                for line in [row_line(proofs[-1])] * verbose + [*failure_lines(proofs[-1])]:
                    click.echo(line)
    if form == "json":
        click.echo(as_json(proofs, versions))
    else:
        for line in total_lines(proofs):
            click.echo(line)
    return proofs


def _versions() -> dict[str, str]:
    from paddletorch_rules import installed

    for side in ("torch", "paddle"):
        require_framework(side, "examples of rows are run on it")
    return {side: str(installed(side)) for side in ("torch", "paddle")}


def _record(proofs: list[Proof], table: Table, keep: bool) -> None:
    """Write the record; with ``keep``, what it says about other rows stays."""
    from paddletorch_rules import verified

    versions = _versions()
    proven = {proof.row for proof in proofs}
    recorded = verified.read().entries if keep else {}
    entries = {row_id: entry for row_id, entry in recorded.items() if row_id not in proven}
    for proof in proofs:
        if proof.directions and proof.failure is None:
            digest = verified.digest(table.row(proof.row), table)
            entries[proof.row] = verified.RecordedProof(digest, proof.directions, **versions)
    verified.Record(entries).write()


@rules.command()
@click.option("--write", "folder", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Such as docs.")
def pages(folder: Path) -> None:
    """Write the generated pages of the documentation, from the tables and the record of proofs.

    They are the pages of areas, the rules of the whole API, the index of codes, the coverage and the defaults
    by release. DIR is the folder of the documentation, which holds the folder 'rules'.
    """
    if not (folder / "rules").is_dir():
        raise Refusal(f"{folder} has no folder 'rules': it is not the folder of the documentation")
    from paddletorch_rules import verified

    from paddletorch.pages import generated

    written = generated(_load(()), verified.read())
    (folder / "areas").mkdir(exist_ok=True)
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    click.echo(f"{len(written)} pages in {folder}")


@rules.command()
def adapters() -> None:
    """Write the adapters anew, beside the tables: classes and functions that take unseen arguments.

    A function is kept if the examples of its row compute the same with it, so both frameworks must be installed.
    Nothing is written before all are proven, in processes of their own.
    """
    from paddletorch_rules.adapters import file, functions_file

    from paddletorch.proof.prove_adapters import proven
    from paddletorch.proof.write_adapters import adapters_to, functions_to, toml

    _versions()
    table = _load(())
    sides: tuple[Framework, ...] = ("paddle", "torch")
    texts: dict[Path, str] = {}
    for target in sides:
        found = list(adapters_to(target, table))
        texts[file(target)] = toml(found)
        click.echo(f"{len(found)} adapters in {file(target)}")
        written = list(functions_to(target, table))
        kept, ended = proven(written, target)
        texts[functions_file(target)] = toml(kept)
        for row_id, message in ended.items():
            click.echo(f"{row_id}, none of its functions is kept: {message}", err=True)
        click.echo(f"{len(kept)} of {len(written)} functions in {functions_file(target)}")
    for path, text in texts.items():
        _replace(path, text)


def _replace(path: Path, text: str) -> None:
    """Put a text in the place of a file's, whole or not at all."""
    from paddletorch.output.write import replace_content

    replace_content(str(path), path.read_bytes(), text.encode())


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


def _mark(row: Row, targets: tuple[Framework, ...]) -> str:
    from paddletorch_rules.fates import is_reported

    if is_reported(row):
        return "no counterpart"
    return "verified" if len(targets) == 2 else f"verified to {targets[0]}" if targets else "unverified"


def _proof(row: Row, proof: RecordedProof | None) -> str:
    mark = _mark(row, proof.directions if proof else ())
    if proof is not None:
        return f"{mark}: examples run on torch {proof.torch} and Paddle {proof.paddle}"
    return f"{mark}: {row.unverified}" if row.unverified else mark


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
