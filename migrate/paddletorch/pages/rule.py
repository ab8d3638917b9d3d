"""Pages of the rules of the whole API, written from the tables and the record of proofs."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch_rules import AreaSpec, Row, Table

from paddletorch.api.convert import convert
from paddletorch.model import Severity
from paddletorch.pages.defaults import COLUMNS, differing
from paddletorch.pages.markdown import table
from paddletorch.pages.standing import Standing

_EXAMPLES = 3


def page(area: AreaSpec, tables: Table, standings: Sequence[Standing]) -> str:
    """The page of one rule, as Markdown; ``standings`` are those of its rows."""
    standings = sorted(standings, key=lambda found: (found.row.kind, found.row.id))
    rows = [found.row for found in standings]
    lines = [f"# {area.code} {area.name}", "", area.title, ""]
    lines += ["## What it does", "", *_summary(standings), ""]
    lines += ["## Why it matters", "", *_differences(rows, tables), ""]
    lines += ["## Example", "", *_examples(rows)]
    lines += [
        "## APIs",
        "",
        *table(("torch", "Paddle", "proof"), ((*found.names, found.mark) for found in standings)),
        "",
    ]
    lines += _remarks(standings)
    lines += ["## What to do", "", _WAY_OUT, ""]
    lines += ["## Applicability", "", _APPLICABILITY, ""]
    return "\n".join(lines)


_WAY_OUT = (
    "Nothing, where a use converts without a finding. A use that is reported stays as it is: the finding says why\n"
    "and what to write instead. `paddletorch rules show NAME` prints a row with its signatures by release."
)
_APPLICABILITY = (
    "Safe: only what behaves the same is edited. Arguments without a counterpart are left and reported, unless they\n"
    "have the value under which both sides behave alike."
)


def _summary(standings: Sequence[Standing]) -> list[str]:
    both = sum(len(found.targets) == 2 for found in standings)
    one = sum(len(found.targets) == 1 for found in standings)
    return [
        f"{len(standings)} rows; {both} are proven in both directions and {one} in one by running an example on both",
        "frameworks and comparing values, shapes and dtypes (see [proof](../proof.md)).",
    ]


def _differences(rows: Sequence[Row], tables: Table) -> list[str]:
    found = differing(rows, tables)
    if not found:
        return ["Names, places of arguments or results differ; what is left out means the same on both sides."]
    said = "These defaults differ. A call that leaves one out keeps its meaning ([how](../defaults.md)):"
    return [said, "", *table(COLUMNS, found)]


def _remarks(standings: Sequence[Standing]) -> list[str]:
    """What differs for values that no finding can tell of."""
    said = [(next(filter(None, found.names)), found.row.remark) for found in standings if found.row.remark]
    return ["## Remarks", "", *table(("API", "for values that only a run knows"), said), ""] if said else []


def _examples(rows: Sequence[Row]) -> list[str]:
    lines: list[str] = []
    shown = 0
    for row in [r for r in rows if r.examples and r.kind != "constant"] + list(rows):
        text = next((e for e in row.examples if "fill(" not in e), None)
        if text is None or shown == _EXAMPLES or row.kind == "module":
            continue
        before = "import torch\n\n\ndef example(x: torch.Tensor, y: torch.Tensor):\n" + "".join(
            f"    {'return ' if n == len(text.splitlines()) and _is_expression(line) else ''}{line}\n"
            for n, line in enumerate(text.splitlines(), 1)
        )
        if not _parses(before):
            continue
        result = convert(before, to="paddle")
        if any(d.severity is not Severity.INFO for d in result.findings) or not result.changed:
            continue
        shown += 1
        lines += ["Before, `--to paddle`:", "", "```python", before.rstrip(), "```", ""]
        lines += ["After:", "", "```python", result.output.rstrip(), "```", ""]
        if result.findings:
            said = ", ".join(f"`{d.code}` on line {d.line}" for d in result.findings)
            lines += [f"Reports {said}.", ""]
    return lines or ["```text", *(f"{r.id}" for r in rows[:_EXAMPLES]), "```", ""]


def _is_expression(line: str) -> bool:
    try:
        return isinstance(ast.parse(line).body[0], ast.Expr)
    except (SyntaxError, IndexError):
        return False


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
