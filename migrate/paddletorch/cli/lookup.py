"""``paddletorch lookup``: what becomes of one API, from the tables alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from paddletorch.cli.error import Refusal
from paddletorch.model.codes import near_names
from paddletorch.report.printable import printable

if TYPE_CHECKING:
    from paddletorch_rules import Form, Framework, ParameterPair, Row, Table
    from paddletorch_rules.fates import Said
    from paddletorch_rules.verified import Record

_NEAR = 5
"""So many near names are suggested at most."""


@click.command()
@click.argument("name")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.option("--tables", multiple=True, metavar="FILE", help="TOML table to put before the built-in ones.")
def lookup(name: str, form: str, tables: tuple[str, ...]) -> None:
    """Say what becomes of the API called NAME: torch.gather, paddle.Tensor.astype, or gather for all that end so.

    Shown are what it is written as, its parameters, defaults that differ or changed with a release, and how that was
    proven; for what has no counterpart the reason and the way out. Neither framework is imported.

    Exit code: 0 the tables have it; 2 they do not.
    """
    found = answers(name, tables)
    if not found:
        raise Refusal(f"the tables have no {name}{suggested(name, tables)}")
    if form == "json":
        click.echo(json.dumps(found, indent=2))
        return
    for answer in found:
        for line in answer_lines(answer):
            click.echo(printable(line))


def answers(name: str, tables: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """What the tables say of an API, an answer for each row; empty if they do not have it.

    Raises:
        Refusal: a table is wrong.
    """
    from paddletorch_rules import verified

    table, record = _table(tables), verified.read()
    return [answer for side, said in _found(table, name) for answer in _answers(table, record, side, said)]


def suggested(name: str, tables: tuple[str, ...] = ()) -> str:
    """``; near are ...`` with the names that are near, or nothing."""
    return _suggested(_table(tables), name)


def _table(tables: tuple[str, ...]) -> Table:
    from paddletorch_rules import TableError, load

    try:
        return load(tables)
    except TableError as error:
        raise Refusal(str(error)) from error


def _found(table: Table, name: str) -> Iterator[tuple[Framework, Said]]:
    """What the tables say of the name; of each name that ends so, if it begins with no framework."""
    from paddletorch_rules.fates import Fate, said_of

    sides: tuple[Framework, ...] = ("torch", "paddle")
    if name.startswith(("torch.", "torchvision.", "paddle.")):
        full = [("paddle" if name.startswith("paddle.") else "torch", name)]
    else:
        full = [(side, known) for side in sides for known in _known(table, side) if f".{known}".endswith(f".{name}")]
    for side, one in full:
        said = said_of(table, side, one)  # type: ignore[arg-type]
        if said.fate is not Fate.OPEN:
            yield side, said  # type: ignore[misc]


def _known(table: Table, side: Framework) -> list[str]:
    """The names that rows have; members of tensors and modules with the class that has them."""
    owners = {"tensor": f"{side}.Tensor", "module": "torch.nn.Module" if side == "torch" else "paddle.nn.Layer"}
    members = {
        f"{owners[row.receiver]}.{name}"
        for row in table.rows
        if row.receiver in owners
        for form in row.forms(side)
        for name in form.names
        if any(row is known for known, _ in table.members(side, name))
    }
    return [*table.names(side), *sorted(members)]


def _suggested(table: Table, name: str) -> str:
    """The names that are near: first those that end alike."""
    side: Framework = "paddle" if name.startswith("paddle.") else "torch"
    known = _known(table, side)
    last = name.rpartition(".")[2]
    alike = [one for one in known if one.rpartition(".")[2].rstrip("_") == last.rstrip("_")]
    near = list(dict.fromkeys([*alike, *near_names(name, known, _NEAR)]))[:_NEAR]
    return f"; near are {', '.join(near)}" if near else ""


def _answers(table: Table, record: Record, side: Framework, said: Said) -> Iterator[dict[str, Any]]:
    from paddletorch_rules import fates, other_framework

    target = other_framework(side)
    if said.same_as:
        yield {"name": said.name, "to": target, "becomes": said.same_as}
    for row, form in said.rows:
        answer: dict[str, Any] = {"name": said.name, "to": target, "row": row.id, "code": row.code}
        if said.alias_of:
            answer["same_as"] = said.alias_of
        if fates.is_reported(row) and said.written:
            answer["becomes"] = [{"written": said.written}]
            answer["written_class"] = _first_line(target, said.alias_of or said.name)
        elif fates.is_reported(row):
            answer["becomes"] = None
            answer["reason"], answer["way_out"] = (
                fates.reason(table, row, said.name),
                fates.way_out(table, row, said.name),
            )
        else:
            answer["becomes"] = _becomes(row, form, target)
            answer["parameters"] = [_parameter(row, pair, side, target) for pair in row.parameters]
            if row.hook:
                answer["hook"] = row.hook
            answer["proof"] = fates.proof(table, record, row)
            if target in row.warn:
                answer["warning"] = row.warn[target]
            if row.remark:
                answer["remark"] = row.remark
        yield answer


def _becomes(row: Row, form: Form, target: Framework) -> list[dict[str, str]]:
    """What is written, by release where it differs."""
    found = []
    for other in row.forms(target):
        members = [f"{row.receiver}.{name}" if row.receiver else name for name in other.names[:1]]
        written = other.template or next(iter(members), "")
        entry = {
            "written": written or ", ".join(f"{k}: {v}" for k, v in other.results.items()),
            "since": str(other.since),
        }
        if other.until:
            entry["until"] = str(other.until)
        if other.signatures:
            entry["signature"] = other.signatures[-1][1].text
        found.append(entry)
    return found


def _first_line(target: Framework, name: str) -> str:
    """What the class that is written for ``name`` says of itself."""
    from paddletorch_rules.adapters import adapters

    return adapters(target)[name].text.partition('"""')[2].partition('"""')[0].partition("\n")[0]


def _parameter(row: Row, pair: ParameterPair, side: Framework, target: Framework) -> dict[str, Any]:
    from paddletorch_rules.histories import history

    said: dict[str, Any] = {"name": pair.name(side), "becomes": pair.name(target)}
    for key, one in (("default", side), ("default_there", target)):
        releases = [(since.release, since.default) for since in history(row, pair, one)]
        if len(releases) == 1:
            said[key] = releases[0][1]
        elif releases:
            said[key] = {str(release): default for release, default in releases}
    if pair.values:
        said["values"] = pair.values
    if pair.ignore:
        said["ignored"] = True
    if pair.otherwise:
        said["otherwise"] = pair.otherwise
    return said


def answer_lines(answer: dict[str, Any]) -> Iterator[str]:
    """An answer in words."""
    if isinstance(answer["becomes"], str):
        yield f"{answer['name']} needs no change: {answer['to']} has {answer['becomes']}, which means the same"
        return
    same = f" (the same as {answer['same_as']})" if "same_as" in answer else ""
    if answer["becomes"] is None:
        yield f"{answer['name']}{same} has no counterpart in {answer['to']}   [{answer['code']} {answer['row']}]"
        yield f"  why: {answer['reason']}"
        yield f"  way out: {answer['way_out'] or 'none is known'}"
        return
    yield f"{answer['name']}{same} becomes, in {answer['to']},   [{answer['code']} {answer['row']}]"
    if "written_class" in answer:
        yield f"  {answer['becomes'][0]['written']}, a class that the file gets: {answer['written_class']}"
        return
    for form in answer["becomes"]:
        until = f" until {form['until']}" if "until" in form else ""
        yield f"  {form['written']}   since {form['since']}{until}"
        if "signature" in form:
            yield f"      takes {form['signature']}"
    for parameter in answer["parameters"]:
        yield f"  {_parameter_line(parameter)}"
    if "hook" in answer:
        yield f"  arguments that no line explains are seen to by the hook {answer['hook']!r}"
    yield f"  {answer['proof']}" + (f", with a warning: {answer['warning']}" if "warning" in answer else "")
    if "remark" in answer:
        yield f"  remark: {answer['remark']}"


def _parameter_line(said: dict[str, Any]) -> str:
    here, there = (
        _with_default(said["name"], said.get("default")),
        _with_default(said["becomes"], said.get("default_there")),
    )
    if said["name"] is None:
        return f"(nothing) -> {there}" + (", never written" if said.get("ignored") else "")
    if said["becomes"] is None:
        rest = "left out" if said.get("ignored") else f"left out; another value is reported as {said.get('otherwise')}"
        return f"{here} -> {rest}"
    values = f", values by {said['values']!r}" if "values" in said else ""
    return f"{here} -> {there}{values}"


def _with_default(name: str | None, default: str | dict[str, str | None] | None) -> str:
    """``dim=0``; a default that changed with ``axis=0 (from 3.1: None)``."""
    if isinstance(default, dict):
        (_, first), *later = default.items()
        changes = "; ".join(f"from {release}: {'no parameter' if d is None else d}" for release, d in later)
        return f"{_with_default(name, first)} ({changes})"
    return f"{name}" if default is None else f"{name}={default}"
