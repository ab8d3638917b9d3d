"""Times one conversion at several sizes for each way that code can be long, and fits how the time grows.

    python benchmarks/growth.py [--family NAME] [--size 1920] [--write-results]

CPU seconds of this process with warm tables and without garbage collection, the least of the repetitions; a family
above the limit is repeated twice as often once more, since other programs on the machine only add to it. The exponent
is the slope of the logarithms by least squares over the upper half of the sizes: 1 grows as the file does, 2 with its
square. Beside it is that of ``ast.parse`` alone, measured in the same seconds: what takes the same steps for each line
takes longer for each once the file is larger than the processor's cache, in Python's own parser too. What long files of
real code take is measured by long_files.py.
"""

from __future__ import annotations

import ast
import gc
import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import click
from growing import FAMILIES, Family
from measure import environment, write_section
from paddletorch.engine.engine import Engine
from paddletorch.model import Options

LIMIT = 1.15
HEADER = "| to | family | exponent | of `ast.parse` | greatest to least | {} |\n|---|---|--:|--:|--:|{}|"
BOUND = "Greatest to least: how often as long the greatest size takes as the least; n·log(n) would take {:.1f} times."


@click.command()
@click.option("--family", "names", multiple=True, help="Only families whose names hold this; may be repeated.")
@click.option("--size", default=1920, show_default=True, type=click.IntRange(min=384), help="The greatest size.")
@click.option("--repeat", default=3, show_default=True, type=click.IntRange(min=1))
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md.")
def main(names: tuple[str, ...], size: int, repeat: int, write_results: bool) -> None:
    """Measure, and print the table."""
    sizes = [size // 24 * 24 * part // 8 for part in (1, 2, 4, 6, 8)]
    rows = []
    gc.disable()
    for to, families in FAMILIES.items():
        engine = Engine(Options(target=to, max_file_seconds=0))
        for name, family in families.items():
            if not names or any(part in name for part in names):
                seconds, parsing = times(engine, family, sizes, repeat)
                if slope(sizes[2:], seconds[2:]) > LIMIT:  # the least of more repetitions is nearer to what it takes
                    again = times(engine, family, sizes, 2 * repeat)
                    pairs = zip((seconds, parsing), again, strict=True)
                    seconds, parsing = (list(map(min, one, other)) for one, other in pairs)
                rows.append(row(to, name, sizes, seconds, parsing))
                click.echo(rows[-1], err=True)
    shown = ["## Growth\n\n`python benchmarks/growth.py`\n", environment()]
    shown += [f"Load average at the end: {os.getloadavg()[0]:.1f}. CPU seconds by size; more than {LIMIT} is marked."]
    shown += [BOUND.format(bound(sizes)), ""]
    shown += [HEADER.format(" | ".join(map(str, sizes)), "|".join("--:" for _ in sizes)), *rows, ""]
    text = "\n".join(shown)
    click.echo(text)
    if write_results:
        write_section("growth", text)


def row(to: str, name: str, sizes: Sequence[int], seconds: Sequence[float], parsing: Sequence[float]) -> str:
    """A row of the table."""
    exponent, plain = slope(sizes[2:], seconds[2:]), slope(sizes[2:], parsing[2:])
    marks = " (!)" if exponent > LIMIT else "", " (!)" if seconds[-1] / seconds[0] > bound(sizes) else ""
    numbers = " | ".join(f"{s:.3f}" for s in seconds)
    growth = f"{seconds[-1] / seconds[0]:.1f}{marks[1]}"
    return f"| {to} | {name} | {exponent:.2f}{marks[0]} | {plain:.2f} | {growth} | {numbers} |"


def bound(sizes: Sequence[int]) -> float:
    """How often as long the greatest size may take as the least, by n·log(n)."""
    return sizes[-1] * math.log(sizes[-1]) / (sizes[0] * math.log(sizes[0]))


def times(engine: Engine, family: Family, sizes: Sequence[int], repeat: int) -> tuple[list[float], list[float]]:
    """CPU seconds for each size, of the conversion and of ``ast.parse``: the least of the repetitions."""
    sources = [family(size).encode() for size in sizes]
    converting, parsing = [math.inf] * len(sizes), [math.inf] * len(sizes)
    for _ in range(repeat):
        for number, source in enumerate(sources):
            converting[number] = min(converting[number], cpu(lambda source=source: engine.convert(source, "<growing>")))
            gc.collect()
            parsing[number] = min(parsing[number], cpu(lambda source=source: parse(source)))
    return converting, parsing


def parse(source: bytes) -> None:
    """Parse it as Python itself does; some families are no Python."""
    with suppress(SyntaxError):
        ast.parse(source)


def cpu(call: Callable[[], object]) -> float:
    """CPU seconds of a call, with what freeing its result takes."""
    start = time.process_time()
    call()
    return time.process_time() - start


def slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The exponent of a power of the size that fits the times best."""
    xs, ys = [math.log(s) for s in sizes], [math.log(max(s, 1e-6)) for s in seconds]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


if __name__ == "__main__":
    main()
