"""Times cold and warm runs, with one worker and two, beside ruff.

    python benchmarks/cache.py --tree TREES/diffusers [--repeat 3] [--write-results]

CPU seconds (user + system) of whole processes and their workers. The cache is a folder of this benchmark's own; the
warm report is compared with the cold one.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

import click
from measure import PADDLETORCH, environment, lines, python_files, run, write_section

HEADER = "| run | CPU s | thousand lines per CPU s | x ruff |\n|---|--:|--:|--:|"


@click.command()
@click.option("--tree", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--to", default="paddle", type=click.Choice(["paddle", "torch"]))
@click.option("--repeat", default=3, show_default=True, type=click.IntRange(min=1), help="Warm runs.")
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md.")
def main(tree: Path, to: str, repeat: int, write_results: bool) -> None:
    """Measure, and print the table."""
    total = lines(python_files(tree))
    ruff = [sys.executable, "-m", "ruff", "check", "--select", "NPY", "--no-cache", "--quiet", "--isolated", str(tree)]
    anchor = statistics.median(run(ruff, env={"RAYON_NUM_THREADS": "1"}).cpu for _ in range(repeat))
    rows = [("ruff check --select NPY, one thread", anchor)]
    command = [*PADDLETORCH, "convert", "--to", to, "--no-gitignore", str(tree)]
    for jobs in ("1", "2"):
        with tempfile.TemporaryDirectory() as cache:
            given = {"env": {"PADDLETORCH_CACHE_DIR": cache}}
            cold = run([*command, "--jobs", jobs], **given)
            warm = [run([*command, "--jobs", jobs], **given) for _ in range(repeat)]
        assert all(measured.output == cold.output for measured in warm), "the warm report differs"
        rows.append((f"convert, cold, at most {jobs} worker(s)", cold.cpu))
        rows.append((f"convert, warm, at most {jobs} worker(s)", statistics.median(m.cpu for m in warm)))
    text = "\n".join(
        [
            f"## Cold and warm\n\n`python benchmarks/cache.py --tree TREES/{tree.name} --to {to} --repeat {repeat}`\n",
            f"{environment('ruff', 'libcst')} Load average at the end: {os.getloadavg()[0]:.1f}.\n",
            f"{tree.name}: {total:,} lines. Every warm report is byte for byte the cold one.\n",
            HEADER,
            *(f"| {name} | {cpu:.2f} | {total / cpu / 1000:.0f} | {cpu / anchor:.1f} |" for name, cpu in rows),
        ]
    )
    click.echo(text)
    if write_results:
        write_section("cache", text)


if __name__ == "__main__":
    main()
