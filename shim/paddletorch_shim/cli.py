"""The shim's part of the command line: ``paddletorch state …`` and ``paddletorch parity``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

if TYPE_CHECKING:
    from paddletorch_rules import Framework

    from paddletorch_shim.limits import Limits
    from paddletorch_shim.parity.suite import Outcome, Plan

OPTIMIZERS = ("sgd", "adam", "adamw")


class Refusal(click.ClickException):
    """What was asked cannot be done; the message says why."""

    exit_code = 2


@click.group()
def state() -> None:
    """Checkpoints across frameworks: weights, optimizers, scalers."""


def _say(text: str) -> None:
    """Print a line about a checkpoint, whose keys may hold what a terminal or the runner of a CI job would obey."""
    from paddletorch.report.printable import printable

    click.echo(printable(text))


def _betas(_: click.Context, __: click.Parameter, value: str) -> tuple[float, float]:
    try:
        first, second = (float(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"two numbers are needed, such as 0.9,0.999, not {value}") from None
    return first, second


@state.command("convert")
@click.argument("source", metavar="IN", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--to", type=click.Choice(["paddle", "torch"]), required=True, help="The framework that will load OUT.")
@click.option("--key", help="Where the state is in a larger dict, for example 'trainer.scaler'; OUT holds it alone.")
@click.option("--model", metavar="MODULE:CLASS", help="The model that IN is of: [FOLDER/]PACKAGE.MODULE:CLASS.")
@click.option(
    "--model-args",
    "model_arguments",
    metavar="JSON",
    default="",
    help="Its arguments: a list, or an object of keywords.",
)
@click.option("--target-model", metavar="MODULE:CLASS", help="The model that will load OUT; OUT is made to fit it.")
@click.option(
    "--target-args", "target_arguments", metavar="JSON", help="Its arguments; by default those of --model-args."
)
@click.option("--linear", metavar="PATTERN", multiple=True, help="Keys of Linear weights, which are transposed.")
@click.option("--keep", metavar="PATTERN", multiple=True, help="Keys that are the same in both frameworks.")
@click.option("--drop", metavar="PATTERN", multiple=True, help="Keys and entries to leave out.")
@click.option(
    "--betas", default="0.9,0.999", show_default=True, callback=_betas, help="Of Paddle's Adam, whose state lacks them."
)
@click.option("--check", "compare", is_flag=True, help="Run both models on the same inputs and compare the outputs.")
@click.option("--input-shape", "shapes", metavar="2x3x32x32[:DTYPE]", multiple=True, help="Random input; repeatable.")
@click.option(
    "--max-size",
    metavar="GIB",
    type=click.IntRange(1),
    help="The most memory that IN may take; by default 20 times its size, from 256 MiB to 64 GiB.",
)
@click.option(
    "--max-objects",
    default=2_000_000,
    show_default=True,
    type=click.IntRange(1),
    help="The most objects in IN, and operations to read them.",
)
@click.option("--tolerance", default=1e-4, show_default=True, help="Of --check, times the output's largest value.")
def convert_state(
    source: Path, target: Path, to: str, key: str | None, max_size: int | None, max_objects: int, **weights: Any
) -> None:
    """Convert the checkpoint IN into a new file OUT for the other framework.

    With --model the weights in it are converted as the types of the model's modules tell, and what stands beside
    them: scalers, moments of optimizers, plain values. Without it, and without another option about weights, a
    loss-scaler state in IN is converted alone; if there is none, the weights as far as names make them certain.

    IN is never changed and none of its code is run; --model and --target-model run the code they name.
    Exit code 0: OUT is written; 1: --check found a difference; 2: it cannot be done. OUT exists after 0 only.
    """

    from paddletorch_shim.limits import GIB, Limits

    weights["limits"] = limits = Limits(None if max_size is None else max_size * GIB, max_objects)
    asked = any(weights[name] for name in ("model", "target_model", "linear", "keep", "drop", "compare", "shapes"))
    asked = asked or source.suffix == ".safetensors"  # it holds tensors only
    try:
        no_scaler = None if asked else _convert_scaler(source, target, cast("Framework", to), key, limits)
        if asked or no_scaler:
            _convert_weights(source, target, to, key, weights, no_scaler)
    except KeyError as error:
        raise Refusal(str(error.args[0])) from error
    except (RuntimeError, TypeError, ValueError, OSError) as error:
        raise Refusal(str(error)) from error


def _convert_scaler(source: Path, target: Path, to: Framework, key: str | None, limits: Limits) -> Exception | None:
    """Convert a scaler state; where there is none, the error that says so."""
    from paddletorch_shim import checkpoints

    try:
        found_at, known = checkpoints.convert(source, target, to, key, limits)
    except checkpoints.NoScalerError as error:
        return error
    where = f" (from key {found_at})" if found_at else ""
    _say(f"{target}: {to} scaler state, scale {known.scale:g}, {known.good} finite steps counted{where}")
    return None


def _convert_weights(
    source: Path, target: Path, to: str, key: str | None, weights: dict[str, Any], no_scaler: Exception | None
) -> None:
    os.environ.setdefault("GLOG_minloglevel", "2")
    try:
        from paddletorch_shim.weights import checkpoint, job
        from paddletorch_shim.weights.state import Choices
    except ImportError as error:
        raise Refusal(
            f"converting weights needs numpy, which both frameworks use: {error}; pip install numpy"
        ) from error
    choices = Choices(**{name: weights.pop(name) for name in ("linear", "keep", "drop")})
    asked = job.Job(source, target, cast("Framework", to), key, choices=choices, **weights)
    try:
        result = job.run(asked)
    except checkpoint.NoWeightsError as error:
        raise Refusal(f"{no_scaler}; {error}" if no_scaler else str(error)) from error
    _say(f"{target}: {to} checkpoint" if result.written else "The outputs differ:")
    for line in result.lines:
        _say(f"  {line}")
    for key, one in result.differences.items():
        _say(
            f"  check{f' of {key}' if key else ''}: largest difference {one.largest:.3g} in {one.where}, whose largest "
            f"value is {one.scale:.3g} ({one.outputs} compared)"
        )
    if not result.written:
        _say(f"{target} was not written: a difference is above {asked.tolerance:g} of its output")
        raise SystemExit(1)


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
