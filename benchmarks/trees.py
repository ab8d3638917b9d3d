"""Converts whole real projects with the command line and tabulates what came out.

    python benchmarks/fetch.py TREES            # once: about 25 projects from the package index
    python benchmarks/trees.py --trees TREES    # --write-results puts the table into RESULTS.md

Every folder directly below TREES is one project; it goes to Paddle if more of its files import torch than Paddle,
else to torch. For each: one timed cold run that reports, one that writes a converted copy, one over that copy.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from measure import PADDLETORCH, environment, lines, python_files, run, write_section

HEADER = (
    "| project | to | files | lines | files hit | sites | converted | reported | API uses converted or the same | "
    "failed | CPU s | 2nd run changes | output compiles |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|---|"
)


@dataclass(slots=True)
class Row:
    """What became of one project."""

    name: str
    to: str
    files: int
    lines: int
    hit: int
    sites: int
    """Places (file, line, column) that were converted or named in a diagnostic."""
    converted: int
    failed: int
    cpu: float
    codes: Counter[str]
    uses: Counter[str]
    """Uses of the source framework's API by what became of them."""
    second: list[str] = field(default_factory=list)
    """Files that a second run would change."""
    broken: list[str] = field(default_factory=list)
    """Files that compiled before and do not now."""
    strayed: list[str] = field(default_factory=list)
    """Files without a conversion that came out different."""

    def text(self) -> str:
        """One line of the table."""
        second = ", ".join(self.second) or "nothing"
        parses = "no: " + ", ".join(self.broken) if self.broken else "yes"
        return (
            f"| {self.name} | {self.to} | {self.files:,} | {self.lines:,} | {self.hit:,} | {self.sites:,} | "
            f"{self.converted:,} | {self.codes.total():,} | {self.share()} | {self.failed} | "
            f"{self.cpu:.2f} | {second} | {parses} |"
        )

    def share(self) -> str:
        """How many of the API uses a second look is not needed for."""
        total = self.uses.total()
        return f"{(self.uses['converted'] + self.uses['same']) / total:.1%}" if total else "none"


@click.command()
@click.option("--trees", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--only", multiple=True, metavar="PROJECT", help="Only this folder of TREES; may be repeated.")
@click.option("--select", default="", metavar="CODE", help="Passed on: an area of the tables, such as AMP.")
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md.")
def main(trees: Path, only: tuple[str, ...], select: str, write_results: bool) -> None:
    """Convert every project below TREES and print the table."""
    options = ["--select", select] if select else []
    rows: list[Row] = []
    click.echo(HEADER)
    for tree in sorted(p for p in trees.iterdir() if p.is_dir() and (not only or p.name in only)):
        row = convert(tree, options)
        rows.append(row)
        click.echo(row.text())
    text = report(rows, " ".join(["python benchmarks/trees.py --trees TREES", *options]))
    click.echo(text[text.index("\n\n", text.index(HEADER)) :])
    if write_results:
        write_section("trees", text)
    if any(row.second or row.broken or row.strayed or row.failed for row in rows):
        raise SystemExit(1)


def convert(tree: Path, options: list[str]) -> Row:
    """Run the command line over one project, three times."""
    to = direction(tree)
    command = [*PADDLETORCH, "convert", "--to", to, "--no-gitignore", "--format", "json", "--no-cache", *options]
    timed = run([*command, str(tree)], good=(0, 1, 2))
    found = json.loads(timed.output)
    files = python_files(tree)
    summary = found["summary"]["files"]
    row = Row(
        name=tree.name,
        to=to,
        files=summary["scanned"],
        lines=lines(files),
        hit=summary["with_hits"],
        sites=len({(f["path"], f["line"], f["column"]) for f in (*found["conversions"], *found["diagnostics"])}),
        converted=len(found["conversions"]),
        failed=summary["failed"],
        cpu=timed.cpu,
        codes=Counter(d["code"] for d in found["diagnostics"]),
        uses=Counter(found["summary"]["uses"]["total"]),
    )
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place, "copy")
        run([*command, "--output", str(copy), str(tree)], good=(0, 1, 2))
        again = json.loads(run([*command, str(copy)], good=(0, 1, 2)).output)
        row.second = [str(Path(f["path"]).relative_to(copy)) for f in again["files"] if f["status"] == "converted"]
        compare(tree, copy, files, found["files"], row)
    return row


def direction(tree: Path) -> str:
    """The framework that the project is not written for."""
    counts = Counter[str]()
    for file in python_files(tree):
        data = file.read_bytes()
        for root in ("torch", "paddle"):
            counts[root] += f"import {root}".encode() in data or f"from {root}".encode() in data
    return "paddle" if counts["torch"] >= counts["paddle"] else "torch"


def compare(tree: Path, copy: Path, files: list[Path], results: list[dict[str, Any]], row: Row) -> None:
    """Hold the converted copy against the project, file by file."""
    changed = {Path(f["path"]) for f in results if f["status"] == "converted"}
    for file in files:
        name = file.relative_to(tree)
        before, after = file.read_bytes(), (copy / name).read_bytes()
        if file not in changed and before != after:
            row.strayed.append(str(name))
        if before != after and compiles(before) and not compiles(after):
            row.broken.append(str(name))


def compiles(data: bytes) -> bool:
    """Whether this Python can compile the file, which refuses more than parsing: a keyword that is given twice."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(data, "file", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True


def report(rows: list[Row], command: str) -> str:
    """The section for RESULTS.md."""
    parts = [f"## Whole projects\n\n`{command}`\n\n{environment('libcst')}\n", HEADER]
    parts += [row.text() for row in rows]
    for to in ("paddle", "torch"):
        side = [row for row in rows if row.to == to]
        if side:
            parts.append(_total(to, side))
    codes = sum((row.codes for row in rows), Counter[str]())
    strayed = [f"{row.name}/{name}" for row in rows for name in row.strayed]
    reported = ", ".join(f"{code} {n}" for code, n in codes.most_common()) or "nothing"
    parts.append(f"\nReported, by code: {reported}.")
    parts.append(f"\nFiles without a conversion that came out different: {', '.join(strayed) or 'none'}.")
    parts.append(
        "\nSites are places (file, line, column) that were converted or named in a diagnostic; a converted place may "
        "be named as well, and one place may be named by several codes. CPU seconds are those of one cold "
        "`paddletorch convert` process, user and system, start-up included."
    )
    return "\n".join(parts)


def _total(to: str, rows: list[Row]) -> str:
    total = Row(
        name="**all**",
        to=to,
        files=sum(r.files for r in rows),
        lines=sum(r.lines for r in rows),
        hit=sum(r.hit for r in rows),
        sites=sum(r.sites for r in rows),
        converted=sum(r.converted for r in rows),
        failed=sum(r.failed for r in rows),
        cpu=sum(r.cpu for r in rows),
        codes=sum((r.codes for r in rows), Counter[str]()),
        uses=sum((r.uses for r in rows), Counter[str]()),
        second=[n for r in rows for n in r.second],
        broken=[n for r in rows for n in r.broken],
    )
    return total.text()


if __name__ == "__main__":
    main()
