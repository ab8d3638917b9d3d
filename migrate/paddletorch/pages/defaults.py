"""The defaults that are not the same on both sides, by release."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from packaging.version import Version
from paddletorch_rules import Framework, ParameterPair, Row, Table, ValueMap

from paddletorch.pages import markdown
from paddletorch.pages.markdown import table
from paddletorch.plan.calls.defaults import means
from paddletorch.plan.calls.translate import translate_default
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.syntax.constants import same_value

_INTRODUCTION = """\
# Defaults that differ, by release

Each parameter whose default does not mean the same in both frameworks, or changed between releases. A call that leaves
such a parameter out keeps its meaning: what stands for the value is written out, unless every allowed release has it as
its default, or it makes no difference in this call ([how](defaults.md)). Values are in the terms of their own side:
`count_include_pad=True` is `exclusive=False`. *(none)*: that side has no such parameter, and behaves as the value that
follows.
"""
COLUMNS = ("torch", "default", "Paddle", "default")


@dataclass(frozen=True, slots=True)
class _Since:
    """A default from a release on; None where the releases from there on lack the parameter."""

    release: Version
    default: str | None


def page(tables: Table) -> str:
    """The page in Markdown."""
    rows = [
        (f"[{code}](rules/{code}.md)", *cells)
        for code, group in groupby(sorted(tables.rows, key=lambda row: (row.code, row.id)), lambda row: row.code)
        for cells in differing(group, tables)
    ]
    lines = [_INTRODUCTION, *table(("code", *COLUMNS), rows), "", "Written by `paddletorch rules pages --write docs`."]
    return "\n".join(lines) + "\n"


def differing(rows: Iterable[Row], tables: Table) -> list[tuple[str, ...]]:
    """What stands in ``COLUMNS`` for each parameter of ``rows`` whose default differs; overloads repeat none."""
    return list(dict.fromkeys(cells for row in rows for cells in _differing(row, tables)))


def _differing(row: Row, tables: Table) -> Iterator[tuple[str, ...]]:
    for pair in row.parameters:
        torch, paddle = _history(row, pair, "torch"), _history(row, pair, "paddle")
        values = tables.values[pair.values] if pair.values else None
        if not pair.ignore and torch and paddle and _differ(torch, paddle, values):
            yield _name(row, pair, "torch"), _text(torch), _name(row, pair, "paddle"), _text(paddle)


def _history(row: Row, pair: ParameterPair, side: Framework) -> list[_Since]:
    """The parameter's default on ``side`` from release to release; empty if it is required or not known."""
    forms = [form for form in row.forms(side) if form.names and form.signatures]
    name = pair.name(side)
    if name is None:
        return [_Since(form.since, pair.neutral) for form in forms[:1] if pair.neutral is not None]
    starts = {release for form in forms for release in (form.since, *(since for since, _ in form.signatures))}
    history: list[_Since] = []
    for release in sorted(starts):
        form = next((form for form in forms if form.available([release])), None)
        signature = form.signature(release) if form is not None else None
        if form is None or signature is None:
            continue
        parameter = signature.get(name)
        if parameter is not None and parameter.default is None:
            return []
        default = form.fixed.get(name) or (parameter.default if parameter is not None else None)
        if not history or history[-1].default != default:
            history.append(_Since(release, default))
    return history if any(since.default is not None for since in history) else []


def _differ(torch: list[_Since], paddle: list[_Since], values: ValueMap | None) -> bool:
    left = [since.default for since in torch if since.default is not None]
    right = [since.default for since in paddle if since.default is not None]
    changes = any(not same_value(side[0], other) for side in (left, right) for other in side)
    return changes or any(not _equal(ours, theirs, values) for ours in left for theirs in right)


def _equal(torch: str, paddle: str, values: ValueMap | None) -> bool:
    try:
        return means(paddle, translate_default(torch, values, "paddle"), values, "paddle") or _same_items(torch, paddle)
    except Refused:
        return False


def _same_items(torch: str, paddle: str) -> bool:
    """Whether both are the same items, in a list or a tuple."""
    try:
        left, right = ast.literal_eval(torch), ast.literal_eval(paddle)
    except (ValueError, SyntaxError):
        return False
    return isinstance(left, list | tuple) and isinstance(right, list | tuple) and list(left) == list(right)


def _name(row: Row, pair: ParameterPair, side: Framework) -> str:
    form = next(form for form in row.forms(side) if form.names and form.signatures)
    api = f"{row.receiver}.{form.names[0]}" if row.receiver else form.names[0]
    name = pair.name(side)
    return f"{markdown.code(api)} {markdown.code(name) if name else '(none)'}"


def _text(history: list[_Since]) -> str:
    if len(history) == 1:
        return markdown.code(history[0].default or "")
    spans = [f"before {history[1].release}: {_value(history[0])}"]
    return "; ".join([*spans, *(f"from {since.release}: {_value(since)}" for since in history[1:])])


def _value(since: _Since) -> str:
    return "no parameter" if since.default is None else markdown.code(since.default)
