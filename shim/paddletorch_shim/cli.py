"""The shim's part of the command line: ``paddletorch state …`` and ``paddletorch parity``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from paddletorch_rules import Framework

    from paddletorch_shim.parity.suite import Outcome, Plan

OPTIMIZERS = ("sgd", "adam", "adamw")


class Refusal(click.ClickException):
    """What was asked cannot be done; the message says why."""

    exit_code = 2


@click.group()
def state() -> None:
    """Scaler states in checkpoints."""


@state.command("convert")
@click.argument("source", metavar="IN", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--to", type=click.Choice(["paddle", "torch"]), required=True, help="The framework that will load OUT.")
@click.option("--key", help="Where the state is in a larger dict, for example 'trainer.scaler'.")
def convert_state(source: Path, target: Path, to: str, key: str | None) -> None:
    """Convert the loss-scaler state in the checkpoint IN into a new file OUT.

    OUT holds the scaler's state dict alone. IN is never changed and none of its code is run.
    """
    from paddletorch_shim import checkpoints

    try:
        found_at, known = checkpoints.convert(source, target, cast("Framework", to), key)
    except KeyError as error:
        raise Refusal(str(error.args[0])) from error
    except (RuntimeError, TypeError, ValueError, OSError) as error:
        raise Refusal(str(error)) from error
    where = f" (from key {found_at})" if found_at else ""
    click.echo(f"{target}: {to} scaler state, scale {known.scale:g}, {known.good} finite steps counted{where}")


@click.command()
@click.option("--schedules", default=25, show_default=True, type=click.IntRange(1), help="Random schedules to run.")
@click.option("--steps", default=24, show_default=True, type=click.IntRange(1), help="Iterations of each.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of the first schedule.")
@click.option(
    "--framework",
    "chosen",
    type=click.Choice(["torch", "paddle"]),
    multiple=True,
    help="Whose tensors the shim runs on; by default both, as far as installed.",
)
@click.option("--backend", "backend_names", multiple=True, help="Backend of the shim; by default all that work here.")
@click.option(
    "--optimizer",
    "optimizers",
    type=click.Choice(OPTIMIZERS),
    multiple=True,
    help="By default all three.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the first schedule to a .png or .svg file.",
)
def parity(
    schedules: int,
    steps: int,
    seed: int,
    chosen: tuple[str, ...],
    backend_names: tuple[str, ...],
    optimizers: tuple[str, ...],
    plot: Path | None,
) -> None:
    """Compare the shim with the frameworks' own scalers, bit for bit.

    Both go through the same random schedules of overflows, setters and checkpoints. Compared are the loss
    scale, the counters, the gradients after unscaling, the decision to step, and the parameters. Exit code 0:
    all equal and every known difference as recorded; 1: something differs; 2: it could not be run.
    """
    os.environ.setdefault("GLOG_minloglevel", "2")  # Paddle's notes about promoted dtypes
    from rich.console import Console

    from paddletorch_shim.backends import BackendError
    from paddletorch_shim.parity import known, report, suite

    installed = suite.available()
    frameworks = tuple(f for f in installed if not chosen or f in chosen)
    if not frameworks or set(chosen) - set(installed):
        missing = ", ".join(sorted(set(chosen) - set(installed))) or "neither torch nor paddle"
        raise Refusal(f"not installed: {missing}; pip install 'paddletorch[torch,paddle]'")
    plan = suite.Plan(frameworks, optimizers or OPTIMIZERS, backend_names or None, steps)
    try:
        if plot is not None:
            _draw(plot, seed, steps, backend_names)
        outcomes = _run(plan, range(seed, seed + schedules))
    except BackendError as error:
        raise Refusal(str(error)) from error
    observed = known.observe(frameworks) if "paddle" in installed else []
    report.show(Console(), outcomes, observed, steps=steps)
    if any(o.difference for o in outcomes) or not all(seen.as_expected for seen in observed):
        raise SystemExit(1)


def _draw(path: Path, seed: int, steps: int, backends: Sequence[str]) -> None:
    from paddletorch_shim.parity import plot

    try:
        plot.draw(path, seed, steps, backends[0] if backends else None)
    except (plot.PlotError, OSError) as error:
        raise Refusal(str(error)) from error


def _run(plan: Plan, seeds: Sequence[int]) -> list[Outcome]:
    """All outcomes, summed over the schedules; with a progress bar on a terminal."""
    from functools import reduce
    from operator import add

    from rich.console import Console
    from rich.progress import track

    from paddletorch_shim.parity import suite

    console = Console(stderr=True)
    parts = track(
        suite.execute(plan, seeds),
        total=len(seeds),
        description="schedules",
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    return [reduce(add, outcomes) for outcomes in zip(*parts, strict=True)]
