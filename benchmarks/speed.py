"""Measures speed, memory and start-up against ruff, ``ast.parse`` and a whole-file libcst codemod, in one run.

    python benchmarks/speed.py --trees TREES [--repeat 5] [--write-results]

All ratios are of one run over the same real trees. CPU seconds (user + system) of cold processes, taken in turns; the
median of the repetitions. ruff is the anchor for what parsing and name resolution cost at best (one thread, no cache,
the NumPy 2 rules, which resolve qualified names);
libcst_peer.py is how such a codemod is usually written. The peer is slow, so it runs once, over --peer-projects only.
``ast.parse`` of every file is what no converter in Python that looks at every file can go below.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from import_cost import measure, table
from measure import PADDLETORCH, Measured, environment, lines, python_files, run, write_section

HERE = Path(__file__).parent
ONE = ("timm",)
"""One project of common size, where start-up counts."""
PARSED = ("timm", "monai", "diffusers")
"""The projects that are set beside ``ast.parse``."""
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
            against_parsing([trees / p for p in PARSED], repeat),
            start(repeat),
            memory(trees / LARGE),
            table(measure(40, repeat), 40),
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
        "paddletorch, AMP only": paddletorch(trees, "--select", "AMP", "--jobs", "1"),
        "paddletorch, all tables": paddletorch(trees),
        "ruff check --select NPY": anchor,
    }
    samples = _in_turns(commands, repeat)
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


def against_parsing(trees: Sequence[Path], repeat: int) -> str:
    """All tables with one worker, beside ``ast.parse`` of the same files."""
    commands = {
        "ast.parse of every file": [sys.executable, "-c", _PARSE, *map(str, trees)],
        "paddletorch, all tables": paddletorch(trees, "--jobs", "1"),
    }
    taken = _in_turns(commands, repeat)
    base = _median(taken["ast.parse of every file"])
    files = [file for tree in trees for file in python_files(tree)]
    return "\n".join(
        [
            f"{', '.join(t.name for t in trees)}: {lines(files):,} lines, one worker.",
            "",
            "| | CPU s, median | x ast.parse |\n|---|--:|--:|",
            *(f"| {name} | {_median(m):.2f} | {_median(m) / base:.2f} |" for name, m in taken.items()),
        ]
    )


_PARSE = """
import ast, gc, sys, warnings
from pathlib import Path
warnings.simplefilter("ignore")
gc.disable()
for tree in sys.argv[1:]:
    for file in Path(tree).rglob("*.py"):
        try:
            ast.parse(file.read_bytes())
        except (SyntaxError, ValueError):
            pass
"""


def start(repeat: int) -> str:
    """One small file from a cold process, beside Python itself."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "small.py")
        file.write_text("import torch\n\nscaler = torch.cuda.amp.GradScaler()\nx = torch.zeros(2).unsqueeze(0)\n")
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "one small file, AMP only": paddletorch([file], "--select", "AMP"),
            "one small file, all tables": paddletorch([file]),
        }
        taken = _in_turns(commands, max(repeat, 5))
    base = _median(taken["python -c pass"])
    rows = (f"| {name} | {_median(m):.3f} | {_median(m) / base:.1f} |" for name, m in taken.items())
    return "\n".join(["| cold process | CPU s, median | x python |\n|---|--:|--:|", *rows])


LARGE = "diffusers"
"""The project whose memory and workers are measured."""


def memory(tree: Path) -> str:
    """The most memory that a run with one worker holds, and what a second worker saves in wall time."""
    rows = []
    for name, options in (("AMP only", ("--select", "AMP")), ("all tables", ())):
        alone = run([sys.executable, "-c", _PEAK, *paddletorch([tree], "--jobs", "1", *options)])
        rows.append(f"| {name} | {int(alone.output.split()[-1]) / 1024:.0f} |")
    walls = [run(paddletorch([tree], "--jobs", jobs)).wall for jobs in ("1", "2")]
    return "\n".join(
        [
            f"{tree.name}: {lines(python_files(tree)):,} lines; two workers take {walls[0] / walls[1]:.2f} x less wall "
            "time than one, all tables.",
            "",
            "| one worker | peak, MB |\n|---|--:|",
            *rows,
        ]
    )


_PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], capture_output=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def _in_turns(commands: Mapping[str, Sequence[str]], repeat: int) -> dict[str, list[Measured]]:
    """Each command this many times, after a first turn that warms the file cache and does not count."""
    samples: dict[str, list[Measured]] = {name: [] for name in commands}
    for turn in range(repeat + 1):
        for name, command in commands.items():
            measured = run(command, env={"RAYON_NUM_THREADS": "1"})
            if turn:
                samples[name].append(measured)
    return samples


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
