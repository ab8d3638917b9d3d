"""Measures what the gate costs, which checks each converted text before it counts.

    python benchmarks/gate.py --trees TREES [--repeat 5] [--write-results]

CPU seconds of one process that converts the files of a tree, all tables, with the gate and without it, in turns; the
least of the repetitions. Without it nothing of the result is checked, not even that it compiles.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import get_args
from unittest.mock import patch

import click
from measure import environment, python_files, write_section
from paddletorch.engine import engine
from paddletorch.engine.engine import Engine
from paddletorch.model import Framework, Options

PROJECTS = ("timm:paddle", "paddleseg:torch")


@click.command()
@click.option("--trees", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--projects", multiple=True, default=PROJECTS, show_default=True, help="FOLDER:TARGET of TREES.")
@click.option("--repeat", default=5, show_default=True, type=click.IntRange(min=1))
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md.")
def main(trees: Path, projects: Sequence[str], repeat: int, write_results: bool) -> None:
    """Measure, and print the share of the gate."""
    rows: list[tuple[str, float, float]] = []
    for project in projects:
        folder, _, target = project.partition(":")
        framework: Framework = next(one for one in get_args(Framework) if one == target)
        files = [(str(path), path.read_bytes()) for path in python_files(trees / folder)]
        times = [(converting(files, framework, True), converting(files, framework, False)) for _ in range(repeat)]
        rows.append((folder, min(t for t, _ in times), min(t for _, t in times)))
    rows.append(("together", sum(t for _, t, _ in rows), sum(t for _, _, t in rows)))
    text = "\n".join(
        [
            f"## The gate\n\n`python benchmarks/gate.py --trees TREES --repeat {repeat}`\n\n{environment()}\n",
            "| tree | CPU s | without the gate | share of the gate |\n|---|--:|--:|--:|",
            *(f"| {name} | {on:.2f} | {off:.2f} | {1 - off / on:.1%} |" for name, on, off in rows),
        ]
    )
    click.echo(text)
    if write_results:
        write_section("gate", text)


def converting(files: Sequence[tuple[str, bytes]], target: Framework, checked: bool) -> float:
    """CPU seconds for converting the files, tables already loaded."""
    converter = Engine(Options(target), tree=True)
    gc.collect()
    gc.disable()  # a command collects seldom, too
    try:
        with nullcontext() if checked else patch.object(engine, "violations", lambda *_: []):
            start = time.process_time()
            for path, data in files:
                converter.convert(data, path)
            return time.process_time() - start
    finally:
        gc.enable()


if __name__ == "__main__":
    main()
