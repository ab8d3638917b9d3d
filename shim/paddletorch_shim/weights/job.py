"""``paddletorch state convert`` for weights: read, convert, compare the models, and only then write."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from paddletorch_rules import Framework
from paddletorch_rules.child_processes import end_with_parent

from paddletorch_shim import checkpoints
from paddletorch_shim.limits import Limits
from paddletorch_shim.weights import WeightsError, check, checkpoint, files, layout, models
from paddletorch_shim.weights.check import Difference
from paddletorch_shim.weights.models import Description, Inputs, Reference
from paddletorch_shim.weights.state import Choices


@dataclass(frozen=True, slots=True)
class Job:
    """What was asked for.

    Args:
        key: where in the checkpoint to look, dots between the keys; None converts all of it.
        model, target_model: as ``models.Reference`` reads them, with their arguments in JSON.
        target_arguments: None: those of the source's model.
        compare: run both models and compare their outputs.
        shapes: of the inputs; none: the source's module has ``example_inputs()``.
        tolerance: of a difference, in units of an output's largest value.
        limits: how much the file may hold.
    """

    source: Path
    target: Path
    to: Framework
    key: str | None = None
    model: str | None = None
    model_arguments: str = ""
    target_model: str | None = None
    target_arguments: str | None = None
    choices: Choices = field(default_factory=Choices)
    betas: tuple[float, float] = (0.9, 0.999)
    compare: bool = False
    shapes: Sequence[str] = ()
    tolerance: float = 1e-4
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a file.

    Args:
        lines: what was converted, for people.
        differences: of each model in the file, by its key, if they were to be compared.
        written: the output exists; it does not if the outputs differ.
    """

    lines: Sequence[str]
    differences: dict[str, Difference]
    written: bool


def run(job: Job) -> Result:
    """Convert a file.

    Raises:
        CheckpointError, WeightsError, StateConversionError, KeyError, TypeError, ValueError, OSError: it cannot be
            done; nothing is written then.
    """
    checkpoints.check_free(job.source, job.target)
    if job.compare and not (job.model and job.target_model):
        raise WeightsError("--check needs both models: --model for the source, --target-model for the converted one")
    work = checkpoint.Work(job.to, choices=job.choices, betas=job.betas)
    content = files.read(job.source, work.origin, job.limits)
    with _process() as elsewhere:
        arguments = job.model_arguments if job.target_arguments is None else job.target_arguments
        theirs = Reference(job.to, job.target_model, arguments) if job.target_model else None
        ours = Reference(work.origin, job.model, job.model_arguments) if job.model else None
        if theirs is not None:  # first, while no folder of the source's code is on the path that the process inherits
            described: Description = elsewhere(models.describe, theirs)
            work.target = described
        model = ours.build() if ours else None
        if model is not None:
            work.plan = layout.plan(model, work.origin)
        made = checkpoint.run(work, content, job.key)
        written = files.to_bytes(made, job.to, job.target)
        differences: dict[str, Difference] = {}
        if job.compare and ours is not None and theirs is not None:
            inputs = _inputs(job, ours, model)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"converted{job.target.suffix}"
                path.write_bytes(written)
                for key, converted in work.models.items():
                    expected = models.outputs(model, work.origin, converted.originals, inputs)
                    inside = key.removeprefix(job.key or "").removeprefix(".")
                    got = elsewhere(models.outputs_of_file, theirs, path, inside, inputs)
                    differences[key] = check.compare(expected, got)
    lines = [*work.lines, *(f"left: {key}: {reason}" for key, reason in work.left.items())]
    if not all(one.within(job.tolerance) for one in differences.values()):
        return Result(lines, differences, written=False)
    checkpoints.write(job.target, written)
    return Result(lines, differences, written=True)


def _inputs(job: Job, reference: Reference, model: Any) -> Inputs:
    if job.shapes:
        return check.random_inputs(job.shapes, check.smallest_vocabulary(model))
    return check.example_inputs(reference.module(), "--input-shape")


@contextmanager
def _process() -> Iterator[Any]:
    """A process for the target's model: its modules may have the names of the source's, and its framework its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=end_with_parent) as pool:

        def call(function: Any, *arguments: Any) -> Any:
            try:
                return pool.submit(function, *arguments).result()
            except BrokenProcessPool as error:
                raise WeightsError("the process with the target's model died") from error

        yield call
