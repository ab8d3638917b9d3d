"""Every comparison of a parity run: shim against framework, framework against policy, on many schedules."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

from paddletorch_rules import Framework, installed, other_framework
from paddletorch_rules.child_processes import end_with_parent

from paddletorch_shim import backends
from paddletorch_shim.parity import runs, scalers, schedules
from paddletorch_shim.parity.runs import Difference, Step

_PART = 5
"""Schedules that are run between two signs of progress."""

_WORTH_A_POOL = 200
"""Schedules from which on starting more processes, each importing both frameworks, pays."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is compared: a scaler with ``api``'s API and meaning on ``framework``'s tensors.

    Args:
        backend: of the shim's scaler; None is the framework's own one.
        against_own: compared with the own scaler of ``api``'s framework; otherwise with the policy.
    """

    api: Framework
    framework: Framework
    backend: str | None
    optimizer: str
    against_own: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case over all schedules so far; ``difference`` is the first one, at schedule ``seed``."""

    case: Case
    steps: int = 0
    skipped: int = 0
    seed: int | None = None
    difference: Difference | None = None

    def __add__(self, other: Outcome) -> Outcome:
        first, second = (self, other) if self.difference is not None else (other, self)
        return replace(first, steps=first.steps + second.steps, skipped=first.skipped + second.skipped)


@dataclass(frozen=True, slots=True)
class Plan:
    """A parity run. ``backends`` None means every one that works here."""

    frameworks: tuple[Framework, ...]
    optimizers: tuple[str, ...]
    backends: tuple[str, ...] | None
    steps: int

    def cases(self) -> list[Case]:
        """The comparisons to make.

        Raises:
            BackendError: a backend was asked for that cannot work here.
        """
        own, found = available(), []
        for framework in self.frameworks:
            api = other_framework(framework)
            found.append(Case(framework, framework, None, self.optimizers[0], against_own=False))
            for backend in self._backends(framework):
                found += [Case(api, framework, backend, o, against_own=api in own) for o in self.optimizers]
        return found

    def _backends(self, framework: Framework) -> list[str]:
        if self.backends is not None:
            return [backends.choose(framework, name).name for name in self.backends]
        working = []
        for name in backends.names(framework):
            try:
                working.append(backends.choose(framework, name).name)
            except backends.BackendError:
                continue
        return working


def available() -> tuple[Framework, ...]:
    """The frameworks that are installed here."""
    return tuple(framework for framework in ("torch", "paddle") if installed(framework) is not None)


def execute(plan: Plan, seeds: Sequence[int]) -> Iterator[list[Outcome]]:
    """Outcomes of one schedule after the other, one for each case; of many, in several processes.

    Raises:
        BackendError: a backend was asked for that cannot work here.
    """
    cases = plan.cases()
    parts = [seeds[start : start + _PART] for start in range(0, len(seeds), _PART)]
    jobs = min(os.cpu_count() or 1, len(parts))
    if len(seeds) < _WORTH_A_POOL or jobs == 1:
        for part in parts:
            yield from _compare_all(cases, plan.steps, part)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=end_with_parent) as pool:
        for outcomes in pool.map(_compare_all, [cases] * len(parts), [plan.steps] * len(parts), parts):
            yield from outcomes


def _compare_all(cases: Sequence[Case], steps: int, seeds: Sequence[int]) -> list[list[Outcome]]:
    own = available()
    with scalers.active(own):
        return [_compare(cases, own, schedules.make(seed, steps)) for seed in seeds]


def _compare(cases: Sequence[Case], own: Sequence[Framework], schedule: schedules.Schedule) -> list[Outcome]:
    predicted = {api: list(runs.predict(api, schedule)) for api in ("torch", "paddle")}
    real = {api: list(runs.run(api, None, "sgd", schedule)) for api in own}
    outcomes = []
    for case in cases:
        reference = real.get(case.api, predicted[case.api])
        if case.backend is None:
            difference = _own_difference(case, real[case.api], predicted[case.api])
        else:
            found = list(runs.run(case.api, case.backend, case.optimizer, schedule))
            difference = _difference(case, found, reference)
        skipped = sum(not step.stepped for step in reference)
        seed = None if difference is None else schedule.seed
        outcomes.append(Outcome(case, len(reference), skipped, seed, difference))
    return outcomes


def _own_difference(case: Case, real: Sequence[Step], predicted: Sequence[Step]) -> Difference | None:
    """The framework's own scaler against the policy."""
    return runs.compare(real, predicted, gradients_of_skipped=case.api == "torch")


def _difference(case: Case, found: Sequence[Step], reference: Sequence[Step]) -> Difference | None:
    # Gradients of a skipped step: Paddle's CPU kernel zeroes them, which is known difference S19.
    difference = runs.compare(found, reference, gradients_of_skipped=case.api == "torch")
    if difference is None:
        replayed = list(runs.replay(case.framework, case.optimizer, reference))
        difference = runs.compare_parameters(found, replayed)
    if difference is None and case.optimizer == "sgd" and reference[0].parameters:
        # Under SGD both frameworks compute the same bits from the same gradients.
        difference = runs.compare_parameters(found, [step.parameters for step in reference])
    return difference
