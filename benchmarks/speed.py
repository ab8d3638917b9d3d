"""Times paddletorch against ruff and against a whole-file libcst codemod, over the same real trees in one run.

    python benchmarks/speed.py --trees TREES [--repeat 5] [--write-results]

CPU seconds (user + system) of cold processes, taken in turns; the median of the repetitions. ruff is the anchor for
what parsing and name resolution cost at best (one thread, no cache, the NumPy 2 rules, which resolve qualified names);
libcst_peer.py is how such a codemod is usually written. The peer is slow, so it runs once, over --peer-projects only.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from measure import PADDLETORCH, Measured, environment, lines, python_files, run, write_section

HERE = Path(__file__).parent
ONE = ("timm",)
"""One project of common size, where start-up counts."""
ALL = (
    *("accelerate", "diffusers", "fairscale", "lightning", "mmengine", "monai", "nnunetv2", "open_clip_torch"),
    *("pytorch_ignite", "speechbrain", "timm", "ultralytics", "yolov5"),
)
PEER = ("accelerate", "mmengine", "timm", "yolov5")


@click.command()
@click.option("--trees", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--projects", multiple=True, help="Folders of TREES beside ruff [default: timm, then all of torch's].")
@click.option("--peer-projects", multiple=True, default=PEER, show_default=True, help="Folders beside libcst.")
@click.option("--repeat", default=5, show_default=True, type=click.IntRange(min=1))
@click.option("--write-results", is_flag=True, help="Put the tables into RESULTS.md.")
def main(trees: Path, projects: Sequence[str], peer_projects: Sequence[str], repeat: int, write_results: bool) -> None:
    """Measure, and print the ratios."""
    groups = [projects] if projects else [ONE, ALL]
    text = "\n\n".join(
        [
            f"## Speed\n\n`python benchmarks/speed.py --trees TREES --repeat {repeat}`\n\n"
            f"{environment('ruff', 'libcst')}",
            *(against_ruff([trees / p for p in group], repeat) for group in groups),
            against_libcst([trees / p for p in peer_projects], repeat),
        ]
    )
    click.echo(text)
    if write_results:
        write_section("speed", text)


def paddletorch(trees: Sequence[Path], *options: str) -> list[str]:
    """The command line as a user types it."""
    return [*PADDLETORCH, "convert", "--to", "paddle", "--no-gitignore", "--no-cache", *options, *map(str, trees)]


def against_ruff(trees: Sequence[Path], repeat: int) -> str:
    """Mixed precision only, and all tables, beside ruff."""
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or "ruff"
    scope = ["--isolated", "--extend-exclude", "*.ipynb,pyproject.toml", *map(str, trees)]
    anchor = [ruff, "check", "--select", "NPY", "--no-cache", "--quiet", *scope]
    commands = {
        "paddletorch, AMP only": paddletorch(trees, "--select", "AMP"),
        "paddletorch, all tables": paddletorch(trees),
        "ruff check --select NPY": anchor,
    }
    samples: dict[str, list[Measured]] = {name: [] for name in commands}
    for turn in range(repeat + 1):  # the first turn warms the file cache and does not count
        for name, command in commands.items():
            measured = run(command, env={"RAYON_NUM_THREADS": "1"})
            if turn:
                samples[name].append(measured)
    scanned = json.loads(run(paddletorch(trees, "--format", "json")).output)["summary"]["files"]["scanned"]
    seen = run([ruff, "check", "--show-files", *scope]).output.count(b"\n")
    base = _median(samples["ruff check --select NPY"])
    rows = [
        f"| {name} | {_median(taken):.3f} | {min(m.cpu for m in taken):.3f} | {max(m.cpu for m in taken):.3f} | "
        f"{_median(taken) / base:.2f} |"
        for name, taken in samples.items()
    ]
    files = [file for tree in trees for file in python_files(tree)]
    return "\n".join(
        [
            f"{', '.join(t.name for t in trees)}: {lines(files):,} lines; {scanned:,} files read by paddletorch, "
            f"{seen:,} by ruff. Cold processes, {repeat} in turns, one thread for ruff.",
            "",
            "| | CPU s, median | least | most | x ruff |\n|---|--:|--:|--:|--:|",
            *rows,
        ]
    )


def against_libcst(trees: Sequence[Path], repeat: int) -> str:
    """Mixed precision only, beside the libcst codemod without and with the same prefilter."""
    ours = [run(paddletorch(trees, "--select", "AMP")) for _ in range(repeat + 1)][1:]
    peer = [sys.executable, str(HERE / "libcst_peer.py")]
    runs = {
        "libcst codemod, every file": run([*peer, *map(str, trees)]),
        "libcst codemod, prefiltered as paddletorch does": run([*peer, "--prefilter", *map(str, trees)]),
    }
    base = _median(ours)
    rows = [
        f"| {name} | {measured.cpu:.2f} | {measured.cpu / base:.0f} | {measured.output.decode().strip()} |"
        for name, measured in runs.items()
    ]
    files = [file for tree in trees for file in python_files(tree)]
    return "\n".join(
        [
            f"{', '.join(t.name for t in trees)}: {len(files):,} files, {lines(files):,} lines.",
            "",
            "| | CPU s | x paddletorch | |\n|---|--:|--:|---|",
            f"| paddletorch, AMP only, cold process (median of {repeat}) | {base:.3f} | 1 | |",
            *rows,
        ]
    )


def _median(taken: Sequence[Measured]) -> float:
    return statistics.median(m.cpu for m in taken)


if __name__ == "__main__":
    main()
