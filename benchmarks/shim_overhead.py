"""Times a training step with the shim's loss scaler against the framework's own, on the CPU, in one run.

    python benchmarks/shim_overhead.py [--rounds 48] [--threads 1] [--write-results]

Two models: parameters of the shapes of ResNet-50 (161 tensors), and 1,000 tensors of 1,000 elements. A step is
zero_grad, scale, backward, scaler.step (unscale, check, SGD) and update; its loss is the sum of all parameters, the
cheapest there is, so that the scaler's part shows. The scaler alone leaves zero_grad, backward and SGD out. Gradients
are float32 and finite, and the scale stays 1.0. All scalers of a case take turns in each round on the same parameters.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import click
from measure import environment, write_section

Shape = tuple[int, ...]
OWN = "own"
HEAD = (
    "| framework | parameters | scaler | alone, ms | x own | (quartiles) | step, ms | x own | (quartiles) |\n"
    "|---|---|---|--:|--:|--:|--:|--:|--:|"
)


def resnet50() -> list[Shape]:
    """The shapes of the 161 parameters of ResNet-50."""
    shapes: list[Shape] = [(64, 3, 7, 7), (64,), (64,)]
    inputs = 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            shapes += [(width, inputs, 1, 1), (width,), (width,), (width, width, 3, 3), (width,), (width,)]
            shapes += [(width * 4, width, 1, 1), (width * 4,), (width * 4,)]
            if block == 0:
                shapes += [(width * 4, inputs, 1, 1), (width * 4,), (width * 4,)]
            inputs = width * 4
    return [*shapes, (1000, 2048), (1000,)]


MODELS: Mapping[str, list[Shape]] = {"ResNet-50, 161": resnet50(), "1,000 of 1,000": [(1000,)] * 1000}


@dataclass(frozen=True)
class Case:
    """One framework's parameters with gradients, an optimizer of them, and the scalers that take turns."""

    params: Sequence[Any]
    one: Any
    """A loss of 1.0 for the scaler alone."""
    optimizer: Any
    idle: Any
    """The optimizer's parameters without its work."""
    clear: Callable[[], None]
    scalers: Mapping[str, Any]


def torch_case(shapes: Sequence[Shape]) -> Case:
    """torch.amp's scaler, and the shim's with Paddle's API."""
    import torch
    from paddletorch_shim.torch import GradScaler

    params = [torch.nn.Parameter(torch.randn(shape)) for shape in shapes]
    for param in params:
        param.grad = torch.randn(param.shape)
    optimizer = torch.optim.SGD(params, lr=0.0)
    scalers = {
        OWN: torch.amp.GradScaler("cpu", init_scale=1.0),
        "shim, native": GradScaler(init_loss_scaling=1.0, backend="native"),
        "shim, native, 2 overflows tolerated": GradScaler(
            init_loss_scaling=1.0, backend="native", decr_every_n_nan_or_inf=3
        ),
        "shim, reference": GradScaler(init_loss_scaling=1.0, backend="reference"),
    }
    idle = SimpleNamespace(param_groups=optimizer.param_groups, step=lambda: None)
    return Case(params, torch.ones(()), optimizer, idle, optimizer.zero_grad, scalers)


def paddle_case(shapes: Sequence[Shape]) -> Case:
    """paddle.amp's scaler, and the shim's with torch's API."""
    import paddle
    from paddletorch_shim.paddle import GradScaler

    params = [paddle.create_parameter(list(shape), "float32") for shape in shapes]
    for param in params:
        param.grad = paddle.randn(param.shape)
    optimizer = paddle.optimizer.SGD(0.0, parameters=params)
    scalers = {
        OWN: paddle.amp.GradScaler(init_loss_scaling=1.0),
        "shim, native": GradScaler(init_scale=1.0, backend="native"),
        "shim, reference": GradScaler(init_scale=1.0, backend="reference"),
    }
    idle = SimpleNamespace(
        _param_groups=optimizer._param_groups, _parameter_list=optimizer._parameter_list, step=lambda: None
    )
    # set_to_zero=False frees the gradients, as torch's zero_grad() does
    return Case(params, paddle.ones([]), optimizer, idle, lambda: optimizer.clear_grad(False), scalers)


def scaler_alone(case: Case, scaler: Any) -> None:
    """scale, step without the optimizer's work, update."""
    scaler.scale(case.one)
    scaler.step(case.idle)
    scaler.update()


def training_step(case: Case, scaler: Any) -> None:
    """A whole step."""
    case.clear()
    loss = case.params[0].sum()
    for param in case.params[1:]:
        loss = loss + param.sum()
    scaler.scale(loss).backward()
    scaler.step(case.optimizer)
    scaler.update()


def timed(case: Case, what: Callable[[Case, Any], None], rounds: int) -> dict[str, list[float]]:
    """Seconds by scaler, one for each round; each scaler comes first as often as the others."""
    names = list(case.scalers)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds + len(names)):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            start = time.perf_counter()
            what(case, case.scalers[name])
            taken = time.perf_counter() - start
            if number >= len(names):  # the first turns warm up and do not count
                seconds[name].append(taken)
    return seconds


def cells(seconds: Mapping[str, Sequence[float]], name: str) -> str:
    """Median milliseconds; median and quartiles of the rounds' ratios to the framework's own scaler."""
    median = f"{statistics.median(seconds[name]) * 1e3:.2f}"
    if name == OWN:
        return f"{median} | 1 | |"
    ratios = [taken / own for taken, own in zip(seconds[name], seconds[OWN], strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return f"{median} | {middle:.2f} | {low:.2f} to {high:.2f} |"


@click.command()
@click.option("--rounds", default=48, show_default=True, type=click.IntRange(min=2, max=900))
@click.option("--threads", default=1, show_default=True, type=click.IntRange(min=1), help="For either framework.")
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md.")
def main(rounds: int, threads: int, write_results: bool) -> None:
    """Measure, and print the ratios."""
    os.environ["OMP_NUM_THREADS"] = str(threads)  # Paddle reads it when it is imported
    import torch
    from paddletorch_shim.parity.scalers import paddle_scaler_active

    torch.set_num_threads(threads)
    rows = []
    with paddle_scaler_active():  # Paddle's own scaler turns itself off on the CPU otherwise
        for framework, make in (("torch", torch_case), ("paddle", paddle_case)):
            for model, shapes in MODELS.items():
                case = make(shapes)
                alone = timed(case, scaler_alone, rounds)
                step = timed(case, training_step, rounds)
                rows += [
                    f"| {framework} | {model} | {name} | {cells(alone, name)} {cells(step, name)}"
                    for name in case.scalers
                ]
    text = "\n\n".join(
        [
            "## The shim's overhead",
            f"`python benchmarks/shim_overhead.py --rounds {rounds} --threads {threads}`",
            environment("torch", "paddlepaddle", "numpy"),
            "\n".join([HEAD, *rows]),
            f"CPU, float32, finite gradients, threads: {threads}; {rounds} rounds in which the scalers take "
            "turns. Milliseconds are medians; x own is the median of the rounds' ratios to the framework's own "
            "scaler. The step's loss is the sum of the parameters: a real model computes more, and is nearer to 1.",
        ]
    )
    click.echo(text)
    if write_results:
        write_section("shim_overhead", text)


if __name__ == "__main__":
    main()
