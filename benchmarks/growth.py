"""Times one conversion at several sizes for each way that code can be long, and fits how the time grows.

    python benchmarks/growth.py [--family NAME] [--size 1920] [--write-results]

CPU seconds of this process with warm tables and without garbage collection, the least of the repetitions. The exponent
is the slope of the logarithms by least squares over the upper half of the sizes: 1 grows as the file does, 2 with its
square. Beside it: the CPU time of a file of 100,000 lines, and the memory that one literal of 10 MB takes.
"""

from __future__ import annotations

import gc
import math
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
from growing import FAMILIES, Family
from measure import environment, run, write_section
from paddletorch.engine.engine import Engine
from paddletorch.model import Options

LIMIT = 1.15
HEADER = "| to | family | exponent | {} |\n|---|---|--:|{}|"

LONG = """
import resource, sys, time
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
engine = Engine(Options(target="paddle", max_file_seconds=0))
engine.convert(b"import torch\\ny = torch.max(x, 1)\\n", "<warm>")
data = {}.encode()
start = time.process_time()
result = engine.convert(data, "<long>")
cpu = time.process_time() - start
print(cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(data), result.status.value)
"""

LITERALS = {
    "one string of 10 MB": "f\"import torch\\ny = torch.relu('{'x' * 10_000_000}')\\n\"",
    "one list of 1,000,000 numbers, 10 MB": "f\"import torch\\ny = torch.tensor([{'12345678, ' * 1_000_000}])\\n\"",
    "one list of 3,300,000 numbers, 10 MB": "f\"import torch\\ny = torch.tensor([{'1, ' * 3_300_000}])\\n\"",
}


@click.command()
@click.option("--family", "names", multiple=True, help="Only families whose names hold this; may be repeated.")
@click.option("--size", default=1920, show_default=True, type=click.IntRange(min=384), help="The greatest size.")
@click.option("--repeat", default=3, show_default=True, type=click.IntRange(min=1))
@click.option("--lines", default=100_000, show_default=True, type=click.IntRange(min=0), help="Of the long file.")
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md.")
def main(names: tuple[str, ...], size: int, repeat: int, lines: int, write_results: bool) -> None:
    """Measure, and print the table."""
    sizes = [size // 24 * 24 * part // 8 for part in (1, 2, 4, 6, 8)]
    rows = []
    gc.disable()
    for to, families in FAMILIES.items():
        engine = Engine(Options(target=to, max_file_seconds=0))
        for name, family in families.items():
            if not names or any(part in name for part in names):
                seconds = times(engine, family, sizes, repeat)
                exponent = slope(sizes[2:], seconds[2:])
                mark = " (!)" if exponent > LIMIT else ""
                rows.append(f"| {to} | {name} | {exponent:.2f}{mark} | {' | '.join(f'{s:.3f}' for s in seconds)} |")
                click.echo(rows[-1], err=True)
    shown = ["## Growth\n\n`python benchmarks/growth.py`\n", environment()]
    shown += [f"Load average at the end: {os.getloadavg()[0]:.1f}. CPU seconds by size; more than {LIMIT} is marked.\n"]
    shown += [HEADER.format(" | ".join(map(str, sizes)), "|".join("--:" for _ in sizes)), *rows, ""]
    if lines:
        shown += long_files(lines)
    text = "\n".join(shown)
    click.echo(text)
    if write_results:
        write_section("growth", text)


def times(engine: Engine, family: Family, sizes: Sequence[int], repeat: int) -> list[float]:
    """CPU seconds for each size, the least of the repetitions."""
    sources = [family(size).encode() for size in sizes]
    found = [math.inf] * len(sizes)
    for _ in range(repeat):
        for number, source in enumerate(sources):
            start = time.process_time()
            engine.convert(source, "<growing>")
            found[number] = min(found[number], time.process_time() - start)
            gc.collect()
    return found


def slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The exponent of a power of the size that fits the times best."""
    xs, ys = [math.log(s) for s in sizes], [math.log(max(s, 1e-6)) for s in seconds]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def long_files(lines: int) -> list[str]:
    """CPU time and memory of files that are long, each in a process of its own."""
    mixed = mixed_module(lines)
    sources = {f"a module of {lines:,} lines of every family": f"open({str(mixed)!r}).read()", **LITERALS}
    rows = ["| file | CPU s | MB at most |", "|---|--:|--:|"]
    for name, source in sources.items():
        cpu, memory, _, status = run([sys.executable, "-c", LONG.format(source)]).output.split()
        rows.append(f"| {name} ({status.decode()}) | {float(cpu):.1f} | {float(memory):.0f} |")
    Path(mixed).unlink()
    return rows


def mixed_module(lines: int) -> str:
    """The name of a file with parts of all families for Paddle, as functions of their own, ``lines`` long."""
    import tempfile

    left_out = ("unfinished", "star imports", "suppression")  # they would hold for the whole file
    families = [family for name, family in FAMILIES["paddle"].items() if not any(part in name for part in left_out)]
    text: list[str] = ["import torch", "import torch.nn as nn", "import torch.nn.functional as F"]
    number = 0
    while len(text) < lines:
        for family in families:
            number += 1
            text += [f"def part_{number}():", *(f"    {line}" for line in family(24).splitlines())]
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write("\n".join(text) + "\n")
    return file.name


if __name__ == "__main__":
    main()
