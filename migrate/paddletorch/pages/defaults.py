"""The defaults that are not the same on both sides, by release."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import groupby

from paddletorch_rules import Framework, ParameterPair, Row, Table, ValueMap
from paddletorch_rules.histories import Since, history

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
        torch, paddle = history(row, pair, "torch"), history(row, pair, "paddle")
        values = tables.values[pair.values] if pair.values else None
        if not pair.ignore and torch and paddle and _differ(torch, paddle, values):
            yield _name(row, pair, "torch"), _text(torch), _name(row, pair, "paddle"), _text(paddle)


def _differ(torch: list[Since], paddle: list[Since], values: ValueMap | None) -> bool:
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


def _text(found: list[Since]) -> str:
    if len(found) == 1:
        return markdown.code(found[0].default or "")
    spans = [f"before {found[1].release}: {_value(found[0])}"]
    return "; ".join([*spans, *(f"from {since.release}: {_value(since)}" for since in found[1:])])


def _value(since: Since) -> str:
    return "no parameter" if since.default is None else markdown.code(since.default)
