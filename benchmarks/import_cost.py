"""What a module costs that is converted as it is imported: the first time, kept, and beside a plain import.

    python benchmarks/import_cost.py [--modules 40] [--repeat 5]

A package is made whose modules import each other and use torch. Paddle is imported before the clock starts; each sample
is a process of its own, in turns, and CPU seconds count.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

import click
from measure import PADDLETORCH, run

_MODULE = '''"""Part {number}."""

import torch
from torch import nn
from torch.nn import functional as F
{imports}

class Block{number}(nn.Module):
    def __init__(self, width: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first = nn.Linear(width, 4 * width)
        self.second = nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.second(F.gelu(self.first(self.norm(x))))
        return x + self.dropout(y)


def masked_mean(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    weights = mask.unsqueeze(-1).to(x.dtype)
    return (x * weights).sum(dim=1) / torch.clamp(weights.sum(dim=1), min=1.0)
'''

_CHILD = """
import importlib, sys, time
import paddle
kind, folder, count = sys.argv[1:]
sys.path.insert(0, folder)
if kind != "plain":
    import paddletorch_shim
start = time.process_time()
if kind != "plain":
    paddletorch_shim.install("paddle", packages=["blocks"])
for number in range(int(count)):
    importlib.import_module(f"blocks.part{number}")
print(time.process_time() - start)
"""


def measure(modules: int, repeat: int) -> dict[str, float]:
    """Milliseconds of CPU time for each module: ``plain``, ``kept`` and ``first``, as medians."""
    with tempfile.TemporaryDirectory() as place:
        source, output = Path(place, "source"), Path(place, "converted")
        _write(source / "blocks", modules)
        run([*PADDLETORCH, "convert", "--to", "paddle", "--output", str(output), str(source)])
        folders = {"first": source, "kept": source, "plain": output}
        samples: dict[str, list[float]] = {kind: [] for kind in folders}
        for turn in range(repeat + 1):
            for kind, folder in folders.items():
                cache = Path(place, f"cache{turn}")  # new for each turn: its first run converts
                environment = {"PADDLETORCH_CACHE_DIR": str(cache), "PYTHONPYCACHEPREFIX": str(cache / "code")}
                if kind == "first":
                    cache.mkdir(mode=0o700)
                    run([*PADDLETORCH, "convert", "--to", "paddle", "--no-cache", str(source)], env=environment)
                if kind == "plain":
                    run(_child(kind, folder, modules), env=environment)  # Python keeps the bytecode
                taken = float(run(_child(kind, folder, modules), env=environment).output.split()[-1])
                if turn:
                    samples[kind].append(1000 * taken / modules)
    return {kind: statistics.median(taken) for kind, taken in samples.items()}


def _child(kind: str, folder: Path, modules: int) -> list[str]:
    return [sys.executable, "-W", "ignore", "-c", _CHILD, kind, str(folder), str(modules)]


def _write(package: Path, modules: int) -> None:
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for number in range(modules):
        used = range(max(0, number - 3), number)
        imports = "".join(f"from blocks.part{other} import Block{other}  # noqa: F401\n" for other in used)
        (package / f"part{number}.py").write_text(_MODULE.format(number=number, imports=imports))


def table(found: dict[str, float], modules: int) -> str:
    """The section's text."""
    kept, first = found["kept"] - found["plain"], found["first"] - found["plain"]
    return "\n".join(
        [
            f"A package of {modules} modules, imported on Paddle: CPU milliseconds a module, `install()` included; the "
            "tables are compiled before.",
            "",
            "| plain import of the converted module | kept | first | kept, beside plain | first, beside plain |",
            "|--:|--:|--:|--:|--:|",
            f"| {found['plain']:.2f} | {found['kept']:.2f} | {found['first']:.2f} | +{kept:.2f} | +{first:.2f} |",
        ]
    )


@click.command()
@click.option("--modules", default=40, show_default=True, type=click.IntRange(min=1))
@click.option("--repeat", default=5, show_default=True, type=click.IntRange(min=1))
def main(modules: int, repeat: int) -> None:
    """Measure, and print the table."""
    click.echo(table(measure(modules, repeat), modules))


if __name__ == "__main__":
    main()
