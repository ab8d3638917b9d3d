"""Runs the examples of the rows on other inputs than the ready-made ones, and compares their gradients.

    python benchmarks/row_inputs.py [--kind gradient ...] [--only TEXT] [--record FILE] [--verbose] [--write-results]

The inputs of every example are varied by machine: other dtypes, 0-d, empty and non-contiguous ones. What the source
framework takes, the target must take, and give the same. For gradients, the result's real tensors are weighted and
summed, and the gradients of all real inputs are compared; none counts as zeros. Cases run in forked processes, since
some calls end theirs. With ``--record``, outcomes go to FILE, and the table is made of all that it holds, so that kinds
can be run one after the other.
"""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import click
import numpy as np
from measure import environment, write_section
from paddletorch.api.convert import convert
from paddletorch.model import Framework, Severity, Status
from paddletorch.proof.compare import difference, is_tensor
from paddletorch.proof.environment import INPUTS, arrays
from paddletorch.proof.run import execute, module_text
from paddletorch_rules import Row, load, other_framework
from paddletorch_rules.fates import is_reported

SECONDS = 20.0
"""How long one case may take."""
_BATCH = 40
"""Examples of one process."""
_OUTCOMES = ("equal", "differs", "target raises", "ends the process", "with a finding", "source raises")


@dataclass(frozen=True, slots=True)
class Example:
    """An example of a row, as a module of the source and as it was converted; ``finding`` is a code, or nothing."""

    row: str
    number: int
    source: Framework
    text: str
    converted: str
    finding: str
    tolerance: float | None
    values: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one example did on one kind of inputs."""

    kind: str
    target: Framework
    row: str
    number: int
    outcome: str
    message: str = ""


def _is_real(array: Any) -> bool:
    return bool(array.dtype.kind == "f")


def _whole(dtype: str) -> Callable[[Any], Any]:
    return lambda array: np.trunc(array * 3).astype(dtype) if _is_real(array) else array


def _float64(array: Any) -> Any:
    return array.astype("float64") if array.dtype == "float32" else array


KINDS: Mapping[str, Callable[[Any], Any]] = {
    "gradient": lambda array: array,
    "int64": _whole("int64"),
    "int32": _whole("int32"),
    "bool": lambda array: array > 0.5 if _is_real(array) else array,
    "0-d": lambda array: array.reshape(-1)[0].reshape(()) if _is_real(array) else array,
    "empty": lambda array: array[:0],
    "non-contiguous": lambda array: array,
    "float64": _float64,
    "float16": lambda array: array,
    "bfloat16": lambda array: array,
}
"""What each kind makes of a ready-made array; what numpy cannot say is done to the tensor."""
_TOLERANCES = {"gradient": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


class Inputs:
    """Gives the inputs of one kind to an example, and remembers those whose gradients count."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.leaves: dict[str, Any] = {}

    def __call__(self, framework: Framework, name: str) -> Any:
        """A fresh input of ``framework``."""
        array = np.ascontiguousarray(KINDS[self.kind](arrays()[name])).reshape(KINDS[self.kind](arrays()[name]).shape)
        module = importlib.import_module(framework)
        value = module.from_numpy(array.copy()) if framework == "torch" else module.to_tensor(array)
        if self.kind == "non-contiguous" and array.ndim > 1:
            axes = [*range(1, array.ndim), 0]
            back = [array.ndim - 1, *range(array.ndim - 1)]
            moved = np.ascontiguousarray(array.transpose(axes))
            if framework == "torch":
                return module.from_numpy(moved).permute(back)
            return module.to_tensor(moved).transpose(back)
        if self.kind in ("float16", "bfloat16") and _is_real(array):
            return value.to(getattr(module, self.kind)) if framework == "torch" else value.astype(self.kind)
        if self.kind == "gradient" and _is_real(array):
            if framework == "torch":
                value.requires_grad_(True)
            else:
                value.stop_gradient = False
            self.leaves[name] = value
            return value.clone()  # what is written in place may be no leaf
        return value

    def gradients(self, framework: Framework, result: Any) -> dict[str, Any] | None:
        """The gradient of each real input, zeros where there is none; None if nothing in ``result`` has one."""
        loss = None
        for value in _real_tensors(framework, result):
            weights = np.linspace(0.5, 1.5, int(np.prod(value.shape)), dtype="float64").reshape(tuple(value.shape))
            module = importlib.import_module(framework)
            given = module.from_numpy(weights) if framework == "torch" else module.to_tensor(weights)
            weighted = value * (given.to(value.dtype) if framework == "torch" else given.astype(value.dtype))
            total = weighted.to(module.float64) if framework == "torch" else weighted.astype("float64")
            loss = total.sum() if loss is None else loss + total.sum()
        if loss is None:
            return None
        loss.backward()
        return {n: np.zeros(tuple(v.shape), "float32") if v.grad is None else v.grad for n, v in self.leaves.items()}


def _real_tensors(framework: Framework, result: Any) -> Iterator[Any]:
    if is_tensor(result):
        if framework == "torch":
            counts = result.requires_grad and result.is_floating_point()
        else:
            counts = not result.stop_gradient and result.is_floating_point()
        if counts:
            yield result
    elif isinstance(result, Mapping):
        for value in result.values():
            yield from _real_tensors(framework, value)
    elif isinstance(result, Sequence) and not isinstance(result, str):
        for value in result:
            yield from _real_tensors(framework, value)


def examples_of(rows: Sequence[Row], only: str) -> Iterator[Example]:
    """Every example that is converted and takes an input, of rows that are proven in one process."""
    for row in rows:
        if is_reported(row) or row.unverified or row.prove == "processes" or only not in row.id:
            continue
        sides: tuple[tuple[Framework, Sequence[str]], ...] = (("torch", row.examples), ("paddle", row.paddle_examples))
        for source, examples in sides:
            for number, example in enumerate(examples):
                text = module_text(source, example)
                if "def example()" in text:
                    continue
                result = convert(
                    text, to=other_framework(source), source_version="installed", target_version="installed"
                )
                found = [d.code for d in result.findings if d.severity is not Severity.INFO]
                if result.status is not Status.FAILED:
                    finding = found[0] if found else ""
                    output = result.output
                    yield Example(row.id, number, source, text, output, finding, row.tolerance, row.prove != "shape")


def _run(example: Example, kind: str, framework: Framework, text: str) -> tuple[Any, dict[str, Any] | None]:
    inputs = Inputs(kind)
    result = execute(framework, text, f"<{example.row} for {framework}>", inputs=inputs)
    return result, inputs.gradients(framework, result) if kind == "gradient" else None


def outcome_of(example: Example, kind: str) -> tuple[str, str]:
    """How the example fares on one kind of inputs, with what differs; ("", "") if there is nothing to compare."""
    target = other_framework(example.source)
    if kind == "gradient" and ".backward(" in example.text:
        return "", ""  # the example's own gradients are its result, and its graph is gone
    try:
        expected, gradients = _run(example, kind, example.source, example.text)
    except Exception as error:
        return "source raises", _said(error)
    if kind == "gradient" and (gradients is None or not example.values):
        return "", ""
    try:
        found, theirs = _run(example, kind, target, example.converted)
    except Exception as error:
        return "with a finding" if example.finding else "target raises", _said(error)
    tolerance = max(example.tolerance or 0.0, _TOLERANCES.get(kind, 0.0)) or None
    if kind == "gradient":
        problem = "no gradient" if theirs is None else difference(gradients, theirs, tolerance=tolerance)
    else:
        problem = difference(expected, found, tolerance=tolerance, values=example.values)
    if problem is None:
        return "equal", ""
    return "with a finding" if example.finding else "differs", problem


def _said(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    hint = next((line for line in lines if "Error:" in line), lines[0] if lines else "no message")
    return f"{type(error).__name__}: {hint[:200]}"


def _serve(pipe: Connection, cases: Sequence[tuple[Example, str]]) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    for example, kind in cases:
        try:
            pipe.send(outcome_of(example, kind))
        except Exception as error:
            pipe.send(("differs", f"cannot be compared: {_said(error)}"))


def outcomes(cases: Sequence[tuple[Example, str]]) -> Iterator[Outcome]:
    """Run cases in forked processes; one that ends its process or takes too long is followed by a fresh process."""
    context = multiprocessing.get_context("fork")
    at = 0
    while at < len(cases):
        batch = cases[at : at + _BATCH]
        pipe, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_serve, args=(theirs, batch), daemon=True)
        process.start()
        theirs.close()
        for example, kind in batch:
            target = other_framework(example.source)
            try:
                outcome, message = pipe.recv() if pipe.poll(SECONDS) else ("ends the process", "takes too long")
            except EOFError:
                process.join()
                code = process.exitcode or 0
                outcome, message = "ends the process", signal.Signals(-code).name if code < 0 else f"exit {code}"
            at += 1
            if outcome:
                yield Outcome(kind, target, example.row, example.number, outcome, message)
            if outcome == "ends the process":
                break
        process.kill()
        process.join()
        pipe.close()


def table(found: Sequence[Outcome]) -> str:
    """The outcomes counted by kind and target."""
    counts = Counter((each.kind, each.target, each.outcome) for each in found)
    lines = [f"| inputs | to | {' | '.join(_OUTCOMES)} |", f"|---|---|{'--:|' * len(_OUTCOMES)}"]
    for kind in KINDS:
        for target in ("paddle", "torch"):
            numbers = [counts[kind, target, outcome] for outcome in _OUTCOMES]
            if any(numbers):
                lines.append(f"| {kind} | {target} | {' | '.join(f'{n:,}' for n in numbers)} |")
    return "\n".join(lines)


@click.command()
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)), help="All kinds if not given.")
@click.option("--only", default="", help="Rows whose id holds this text.")
@click.option("--record", type=click.Path(dir_okay=False, path_type=Path), help="Outcomes, one JSON object a line.")
@click.option("--verbose", is_flag=True, help="Print every case that is not equal and that the source takes.")
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md.")
def main(kinds: Sequence[str], only: str, record: Path | None, verbose: bool, write_results: bool) -> None:
    """Run the cases, and print the table."""
    warnings.simplefilter("ignore")
    os.environ.update(OMP_NUM_THREADS="1", GLOG_minloglevel="2", CUDA_VISIBLE_DEVICES="")
    chosen = kinds or tuple(KINDS)
    kept = (
        [Outcome(**json.loads(line)) for line in record.read_text().splitlines()] if record and record.exists() else []
    )
    for framework in ("torch", "paddle"):
        importlib.import_module(framework)
    examples = list(examples_of(load().rows, only))
    print(f"{len(examples)} examples of {len(INPUTS)} ready-made inputs", file=sys.stderr)
    fresh: list[Outcome] = []
    for kind in chosen:
        for outcome in outcomes([(example, kind) for example in examples]):
            fresh.append(outcome)
            if verbose and outcome.outcome not in ("equal", "source raises"):
                print(
                    f"{kind} to {outcome.target}: {outcome.row} [{outcome.number}] {outcome.outcome}: {outcome.message}"
                )
    again = {(each.kind, each.target, each.row, each.number) for each in fresh}
    kept = [each for each in kept if (each.kind, each.target, each.row, each.number) not in again] + fresh
    if record:
        record.write_text("".join(json.dumps(asdict(each)) + "\n" for each in kept))
    text = (
        "## Inputs of the rows' examples\n\n`python benchmarks/row_inputs.py`\n\n"
        f"{environment('torch', 'paddlepaddle')}\n\n{table(kept)}"
    )
    print(text)
    if write_results:
        write_section("row inputs", text)


if __name__ == "__main__":
    main()
