"""What the proofs of many rows amount to, for people and for programs."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import click

from paddletorch.proof.proof import Proof, Verdict

_COLOURS = {Verdict.BOTH: "green", Verdict.ONE: "green", Verdict.FAILING: "red"}


def failure_lines(proof: Proof) -> Iterator[str]:
    """A failing row: the stage, the reason, the example and the text of the module at that point."""
    failure = proof.failure
    if failure is None:
        return
    yield f"{click.style(proof.row, bold=True)} ({proof.file}, {proof.code}): {failure.stage}"
    yield textwrap.indent(failure.message, "    ")
    yield click.style("  example", dim=True)
    yield textwrap.indent(failure.example.strip(), "    ")
    if failure.text:
        yield click.style("  at that point", dim=True)
        yield textwrap.indent(failure.text.strip(), "    ")
    yield ""


def row_line(proof: Proof) -> str:
    """One row in one line."""
    verdict = click.style(proof.verdict.value, fg=_COLOURS.get(proof.verdict, "yellow"))
    reason = proof.reason.partition("\n")[0]
    return f"{proof.code}  {proof.row}: {verdict}{f' ({reason})' if reason else ''}"


def total_lines(proofs: Sequence[Proof]) -> Iterator[str]:
    """The verdicts counted, by file and code, and over all."""
    areas: dict[tuple[str, str], list[Proof]] = {}
    for proof in proofs:
        areas.setdefault((proof.file, proof.code), []).append(proof)
    labels = {area: f"{area[0]} {area[1]}" for area in areas}
    width = max(map(len, [*labels.values(), "all"]))
    for area, found in sorted(areas.items()):
        yield f"{labels[area].ljust(width)}  {_counted(found)}"
    yield f"{'all'.ljust(width)}  {_counted(proofs)}"


def as_json(proofs: Sequence[Proof], frameworks: dict[str, str]) -> str:
    """One JSON object: versions of the frameworks, the rows, and the verdicts counted."""
    totals = Counter(proof.verdict.value for proof in proofs)
    rows = [{**asdict(proof), "verdict": proof.verdict.value} for proof in proofs]
    return json.dumps({"frameworks": frameworks, "totals": totals, "rows": rows}, indent=2)


def _counted(proofs: Sequence[Proof]) -> str:
    counts = Counter(proof.verdict for proof in proofs)
    parts = [f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict]]
    return f"{len(proofs):4} rows: {', '.join(parts)}"
