"""Loss-scale trajectories of a schedule as a picture: the own scalers, the shim's, the overflows."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from paddletorch_rules import Framework, other_framework

from paddletorch_shim import backends
from paddletorch_shim.parity import runs, scalers, schedules
from paddletorch_shim.parity.suite import available


class PlotError(ValueError):
    """The picture cannot be drawn."""


def draw(path: Path, seed: int, steps: int, backend: str | None) -> None:
    """Draw both rules over the schedule of ``seed`` to ``path`` (``.png`` or ``.svg``).

    Raises:
        PlotError: matplotlib is missing, or the suffix is another.
    """
    if path.suffix.lower() not in (".png", ".svg"):
        raise PlotError(f"{path}: the plot must be a .png or an .svg file")
    try:
        figures = import_module("matplotlib.figure")
    except ImportError:
        raise PlotError("a plot needs matplotlib: pip install 'paddletorch[plot]'") from None
    own = available()
    schedule = schedules.make(seed, steps)
    figure = figures.Figure(figsize=(9, 6), layout="constrained")
    panels = figure.subplots(2, 1, sharex=True)
    with scalers.active(own):
        _panel(panels[0], "torch", own, schedule, backend)
        _panel(panels[1], "paddle", own, schedule, backend)
    panels[-1].set_xlabel("iteration")
    figure.savefig(path)


def _panel(
    axes: Any, api: Framework, own: Sequence[Framework], schedule: schedules.Schedule, backend: str | None
) -> None:
    """One rule: the framework's own scaler, the shim's on the other framework, what is installed of them."""
    target = other_framework(api)
    steps = list(runs.run(api, None, "sgd", schedule)) if api in own else list(runs.predict(api, schedule))
    numbers = range(1, len(steps) + 1)
    axes.step(
        numbers,
        [step.state.scale for step in steps],
        where="post",
        linewidth=4,
        alpha=0.4,
        label=f"{api}'s own scaler" if api in own else f"{api}'s rule",
    )
    if target in own:
        name = backends.choose(target, backend).name
        shim = [step.state.scale for step in runs.run(api, name, "sgd", schedule)]
        axes.step(numbers, shim, where="post", linestyle="--", label=f"shim on {target} tensors ({name})")
    overflows = [(n, step.state.scale) for n, step in zip(numbers, steps, strict=True) if not step.stepped]
    if overflows:
        axes.plot(*zip(*overflows, strict=True), "rx", label="overflow, step skipped")
    axes.set_yscale("log", base=2)
    axes.set_ylabel("loss scale")
    axes.set_title(f"{api}'s rule, schedule {schedule.seed}")
    axes.legend(loc="best", fontsize="small")
