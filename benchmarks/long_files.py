"""Times the conversion of files that are long, and the memory that one literal of 10 MB takes.

    python benchmarks/long_files.py [--trees TREES] [--joined FOLDER:TARGET] [--lines 100000] [--write-results]

With ``--trees``, a file is the modules of a folder of TREES, one after the other, without their ``from __future__``
lines, until it has as many lines. Without it, parts of all families of ``growth.py`` make the file. Each file is
converted in a process of its own, without garbage collection; what parsing it takes there is given beside, since that
tells how busy the machine was.
"""

from __future__ import annotations

import ast
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from growing import FAMILIES
from measure import environment, python_files, run, write_section

JOINED = ("timm:paddle", "monai:paddle", "paddleclas:torch", "paddleseg:torch")

LONG = """
import ast, gc, resource, sys, time
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
engine = Engine(Options(target="{target}", max_file_seconds=0))
engine.convert(b"import torch\\ny = torch.max(x, 1)\\n", "<warm>")
data = ({source}).encode()
gc.disable()
start = time.process_time()
result = engine.convert(data, "<long>")
cpu = time.process_time() - start
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
start = time.process_time()
ast.parse(data)
print(data.count(b"\\n"), time.process_time() - start, cpu, memory, result.status.value)
"""

LITERALS = {
    "one string of 10 MB": "f\"import torch\\ny = torch.relu('{'x' * 10_000_000}')\\n\"",
    "one list of 1,000,000 numbers, 10 MB": "f\"import torch\\ny = torch.tensor([{'12345678, ' * 1_000_000}])\\n\"",
    "one list of 3,300,000 numbers, 10 MB": "f\"import torch\\ny = torch.tensor([{'1, ' * 3_300_000}])\\n\"",
    "one list of 800,000 strings, 10 MB": "'import torch\\ny = torch.tensor([' + '\"abcdefgh\", ' * 800_000 + '])\\n'",
}

_FUTURE = re.compile(r"(?m)^from __future__ import [^(\n]*\n")
_LEFT_OUT = ("unfinished", "star imports", "suppression")
"""Families that would hold for the whole file."""


@click.command()
@click.option("--trees", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of real projects.")
@click.option("--joined", multiple=True, default=JOINED, show_default=True, help="FOLDER:TARGET of TREES.")
@click.option("--lines", default=100_000, show_default=True, type=click.IntRange(min=1), help="At most, of each file.")
@click.option("--literals/--no-literals", default=True, show_default=True, help="Measure long literals too.")
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md.")
def main(trees: Path | None, joined: Sequence[str], lines: int, literals: bool, write_results: bool) -> None:
    """Measure, and print the table."""
    rows: list[str] = []
    if trees is not None:
        for folder, _, target in (project.partition(":") for project in joined):
            with written(joined_modules(trees / folder, lines)) as path:
                source = f"open({path!r}, encoding='utf-8').read()"
                rows.append(measured(f"modules of {folder}, joined", target, source))
    else:
        with written(mixed_module(lines)) as path:
            rows.append(measured("functions of every family", "paddle", f"open({path!r}).read()"))
    rows += [measured(name, "paddle", source) for name, source in LITERALS.items()] if literals else []
    text = "\n".join(
        [
            f"## Long files\n\n`python benchmarks/long_files.py{' --trees TREES' if trees is not None else ''}`\n",
            f"{environment()} One process each.\n",
            "| file | to | lines | CPU s of `ast.parse` | CPU s | ratio | MB at most |\n|---|---|--:|--:|--:|--:|--:|",
            *rows,
        ]
    )
    click.echo(text)
    if write_results:
        write_section("long files", text)


def measured(name: str, target: str, source: str) -> str:
    """A row of the table."""
    output = run([sys.executable, "-c", LONG.format(target=target, source=source)]).output.decode().split()
    lines, (parsing, cpu, memory), status = int(output[0]), map(float, output[1:4]), output[4]
    numbers = f"{parsing:.2f} | {cpu:.1f} | {cpu / parsing:.1f} | {memory:.0f}"
    row = f"| {name} ({status}) | {target} | {lines:,} | {numbers} |"
    click.echo(row, err=True)
    return row


@contextmanager
def written(text: str) -> Iterator[str]:
    """The name of a file with the text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "long.py")
        path.write_text(text, encoding="utf-8", newline="\n")
        yield str(path)


def joined_modules(folder: Path, lines: int) -> str:
    """The modules of a folder, one after the other, up to as many lines."""
    found: list[str] = []
    left = lines
    for path in python_files(folder):
        try:
            text = _FUTURE.sub("", path.read_text(encoding="utf-8").rstrip() + "\n")
            ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        if (count := text.count("\n")) <= left:
            found.append(text)
            left -= count
    return "".join(found)


def mixed_module(lines: int) -> str:
    """Parts of all families for Paddle, as functions of their own, ``lines`` long."""
    families = [family for name, family in FAMILIES["paddle"].items() if not any(part in name for part in _LEFT_OUT)]
    text: list[str] = ["import torch", "import torch.nn as nn", "import torch.nn.functional as F"]
    number = 0
    while len(text) < lines:
        for family in families:
            number += 1
            text += [f"def part_{number}():", *(f"    {line}" for line in family(24).splitlines())]
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    main()
