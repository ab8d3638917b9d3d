"""Times one conversion at several sizes for each way that code can be long, and fits how the time grows.

    python benchmarks/growth.py [--family NAME] [--size 1920] [--write-results]

CPU seconds of this process with warm tables and without garbage collection, the least of the repetitions. The exponent
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

import click
from growing import FAMILIES, Family
from measure import environment, write_section
from paddletorch.engine.engine import Engine
from paddletorch.model import Options

LIMIT = 1.15
HEADER = "| to | family | exponent | of `ast.parse` | {} |\n|---|---|--:|--:|{}|"


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
                exponent, plain = slope(sizes[2:], seconds[2:]), slope(sizes[2:], parsing[2:])
                mark = " (!)" if exponent > LIMIT else ""
                numbers = " | ".join(f"{s:.3f}" for s in seconds)
                rows.append(f"| {to} | {name} | {exponent:.2f}{mark} | {plain:.2f} | {numbers} |")
                click.echo(rows[-1], err=True)
    shown = ["## Growth\n\n`python benchmarks/growth.py`\n", environment()]
    shown += [f"Load average at the end: {os.getloadavg()[0]:.1f}. CPU seconds by size; more than {LIMIT} is marked.\n"]
    shown += [HEADER.format(" | ".join(map(str, sizes)), "|".join("--:" for _ in sizes)), *rows, ""]
    text = "\n".join(shown)
    click.echo(text)
    if write_results:
        write_section("growth", text)


def times(engine: Engine, family: Family, sizes: Sequence[int], repeat: int) -> tuple[list[float], list[float]]:
    """CPU seconds for each size, of the conversion and of ``ast.parse``: the least of the repetitions."""
    sources = [family(size).encode() for size in sizes]
    converting, parsing = [math.inf] * len(sizes), [math.inf] * len(sizes)
    for _ in range(repeat):
        for number, source in enumerate(sources):
            converting[number] = min(converting[number], cpu(lambda source=source: engine.convert(source, "<growing>")))
            gc.collect()
            parsing[number] = min(parsing[number], cpu(lambda source=source: ast.parse(source)))
    return converting, parsing


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
