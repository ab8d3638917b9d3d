"""Times the resolve phase alone: prefilter, parse, scopes and the sites of APIs, all tables on, without any edit.

    python benchmarks/resolve.py TREES/timm TREES/diffusers ... [--to paddle] [--repeat 3] [--write-results]

CPU seconds of one process, with the settings that a command runs with; the least of the repetitions.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import click
from measure import environment, lines, python_files, write_section
from paddletorch.__main__ import process_settings
from paddletorch.engine.engine import Engine
from paddletorch.model import Framework, Options
from paddletorch.plan.sites.sites import find_sites
from paddletorch.resolve import Parsed

HEADER = "| tree | lines | CPU s | thousand lines per CPU s |\n|---|--:|--:|--:|"


@click.command()
@click.argument("trees", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--to", default="paddle", type=click.Choice(["paddle", "torch"]))
@click.option("--repeat", default=3, show_default=True, type=click.IntRange(min=1))
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md.")
def main(trees: tuple[Path, ...], to: Framework, repeat: int, write_results: bool) -> None:
    """Measure, and print the table."""
    rows = []
    for tree in trees:
        total = lines(python_files(tree))
        with process_settings():
            cpu = min(resolve(tree, to) for _ in range(repeat))
        rows.append(f"| {tree.name} | {total:,} | {cpu:.2f} | {total / cpu / 1000:.0f} |")
    names = " ".join(f"TREES/{tree.name}" for tree in trees)
    text = "\n".join(
        [
            f"## Resolving\n\n`python benchmarks/resolve.py {names} --to {to} --repeat {repeat}`\n",
            f"{environment('libcst')} Load average at the end: {os.getloadavg()[0]:.1f}.\n",
            HEADER,
            *rows,
        ]
    )
    click.echo(text)
    if write_results:
        write_section("resolve", text)


def resolve(tree: Path, to: Framework) -> float:
    """CPU seconds to find every use of an API in the tree."""
    engine = Engine(Options(target=to), tree=True)
    files = [(str(path), path.read_bytes()) for path in python_files(tree)]
    start = time.process_time()
    for path, data in files:
        parsed = engine._parse(data, path) if engine.may_hit(data) else None
        if isinstance(parsed, Parsed):
            view = engine._view(engine.settings, parsed, frozenset(), path)
            find_sites(view)
            view.evaluator.release()
            parsed.tree.release()
    return time.process_time() - start


if __name__ == "__main__":
    main()
