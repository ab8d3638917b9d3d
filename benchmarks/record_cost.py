"""Times training steps of fixtures while they are recorded against plain ones, on the CPU, in one run.

    python benchmarks/record_cost.py [--rounds 40] [--write-results]

Models and batches are small, so that the part of Python, which recording makes slower, is large. ``asked``: what the
converter leaves open about the file is looked at. ``everything``: type, dtype and rank of every expression of the file
are, more than any conversion asks. Plain and recorded steps take turns; before, each ran 200 steps.
"""

from __future__ import annotations

import ast
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import click
from measure import environment, write_section
from paddletorch.api.converter import Converter
from paddletorch.model import Ask, Framework, Question
from paddletorch.model.questions import place_of
from paddletorch_shim.recording.answers import Answers
from paddletorch_shim.recording.modules import observe
from paddletorch_shim.recording.recorder import Recorder

FIXTURES = Path(__file__).parents[1] / "fixtures"
HEAD = (
    "| fixture | framework | places asked | plain, ms | asked, x plain | everything, places | x plain |\n"
    "|---|---|--:|--:|--:|--:|--:|"
)

Step = Callable[[], object]


def transformer(module: Any) -> Step:
    """A step of a language model of two blocks of width 32."""
    import torch

    torch.manual_seed(0)
    model = module.LanguageModel(50, width=32, heads=2, depth=2, length=16)
    optimizer, ids = torch.optim.SGD(model.parameters(), lr=0.01), torch.randint(0, 50, (2, 16))

    def step() -> None:
        optimizer.zero_grad()
        model(ids).square().mean().backward()
        optimizer.step()

    return step


def penalty(module: Any) -> Step:
    """Four steps of the loop with a gradient penalty, of a linear layer."""
    import torch

    model, loss = torch.nn.Linear(4, 2), torch.nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = [(torch.ones(2, 4), torch.zeros(2, 2))] * 4
    return lambda: module.train(model, optimizer, loss, batches)


def evaluation(module: Any) -> Step:
    """The loop of evaluation over two batches."""
    import paddle

    loader = module.DataLoader(module.Numbers(8), batch_size=4)
    model = paddle.nn.Sequential(paddle.nn.Flatten(), paddle.nn.Linear(64, 10))
    return lambda: module.evaluate(model, loader)


CASES: tuple[tuple[str, Framework, Callable[[Any], Step]], ...] = (
    ("to_paddle/transformer_block", "torch", transformer),
    ("to_paddle/gradient_penalty", "torch", penalty),
    ("to_torch/training_loop", "paddle", evaluation),
)


def load(name: str, framework: Framework, root: str, questions: Iterable[Question]) -> tuple[Any, int]:
    """The fixture's module with the places of ``questions`` looked at, and how many these are."""
    file = FIXTURES / f"{name}.in.py"
    tree = ast.parse(file.read_bytes())
    recorder = Recorder(root, Answers(framework))
    spots = observe(tree, questions, file.name, recorder)
    recorder.watches("0" * 64, spots)
    module = ModuleType("fixture")
    exec(compile(tree, str(file), "exec"), vars(module))
    return module, len(spots)


def asked(name: str, framework: Framework) -> set[Question]:
    """What the converter leaves open about the fixture."""
    result = Converter("paddle" if framework == "torch" else "torch").convert((FIXTURES / f"{name}.in.py").read_bytes())
    return {question for finding in result.file.diagnostics for question in finding.questions}


def everything(name: str) -> set[Question]:
    """Type, dtype and rank of every expression of the fixture."""
    tree = ast.parse((FIXTURES / f"{name}.in.py").read_bytes())
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    return {Question(ask, place_of(node)) for node in nodes for ask in (Ask.TYPE, Ask.DTYPE, Ask.RANK)}


def seconds(steps: list[Step], rounds: int) -> list[float]:
    """The shortest time of each, taking turns: other work on the machine only adds."""
    taken: list[list[float]] = [[] for _ in steps]
    for _ in range(rounds):
        for step, times in zip(steps, taken, strict=True):
            start = time.perf_counter()
            for _ in range(5):
                step()
            times.append((time.perf_counter() - start) / 5)
    return [min(times) for times in taken]


def row(name: str, framework: Framework, make: Callable[[Any], Step], rounds: int) -> str:
    """The line of one fixture."""
    with tempfile.TemporaryDirectory() as root:
        loaded = [load(name, framework, root, q) for q in ((), asked(name, framework), everything(name))]
        steps = [make(module) for module, _ in loaded]
        for step in steps:
            for _ in range(200):
                step()
        plain, some, all_ = seconds(steps, rounds)
    count = [number for _, number in loaded]
    return (
        f"| {name} | {framework} | {count[1]} | {plain * 1000:.2f} | {some / plain:.2f} | {count[2]} | "
        f"{all_ / plain:.2f} |"
    )


@click.command()
@click.option("--rounds", default=40, show_default=True)
@click.option("--write-results", is_flag=True, help="Write them into RESULTS.md.")
def main(rounds: int, write_results: bool) -> None:
    """Print a table of the cases."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    table = "\n".join([HEAD, *(row(*case, rounds) for case in CASES)])
    click.echo(table)
    if write_results:
        text = (
            "## Recording a run\n\n`python benchmarks/record_cost.py`: a step while it is recorded against the same "
            f"plain, taking turns; the shortest of {rounds} rounds. {environment('torch', 'paddlepaddle')}\n\n{table}"
        )
        write_section("record_cost", text)


if __name__ == "__main__":
    main()
