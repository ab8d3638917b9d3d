"""Many cases in a row: every one is judged, none stops the run, and what is found is counted and made small."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from paddletorch.model import Framework, Options

from .mutations import mutated
from .options import options
from .programs import programs
from .promises import judge
from .reduce import reduced
from .wild import extremes, wild

KINDS: dict[str, Callable[[], st.SearchStrategy[tuple[Framework, bytes]]]] = {
    "programs": programs,
    "mutated": mutated,
    "wild": wild,
    "extremes": extremes,
}
"""What is drawn: generated programs, mutated real files, bytes that need not be Python, very long and deep files."""

_OTHER: dict[Framework, Framework] = {"torch": "paddle", "paddle": "torch"}
_KEPT = 40  # cases of one promise that are kept to be shown
_TO_SHOW = 300  # seconds; a file of megabytes takes minutes for each try
_ALIKE = 6  # of those with the same detail


@dataclass(frozen=True)
class Found:
    """A case that broke a promise."""

    promise: str
    detail: str
    data: bytes
    options: Options

    @property
    def group(self) -> tuple[str, str]:
        """What is counted as one: the promise, and its detail without numbers and texts."""
        return self.promise, re.sub(r"\d+|'[^']*'|\"[^\"]*\"", "_", self.detail)[:100]


@dataclass
class Tally:
    """What became of the cases of a run."""

    cases: int = 0
    size: int = 0
    seconds: float = 0.0
    """Of CPU time."""
    outcomes: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    """Violations by promise."""
    found: list[Found] = field(default_factory=list)
    """The smallest cases of each kind of violation."""

    def add(self, other: Tally) -> None:
        """Count the cases of another run as well."""
        self.cases += other.cases
        self.size += other.size
        self.seconds += other.seconds
        self.outcomes += other.outcomes
        self.broken += other.broken
        for found in other.found:
            self.keep(found)

    def keep(self, found: Found) -> None:
        """Keep the smallest cases of its group."""
        alike = sorted((k for k in self.found if k.group == found.group), key=lambda known: len(known.data))
        if len(alike) == _ALIKE and len(found.data) < len(alike[-1].data):
            self.found.remove(alike[-1])
        elif len(alike) == _ALIKE or sum(k.promise == found.promise for k in self.found) >= _KEPT:
            return
        self.found.append(found)

    def shown(self, seconds: float = _TO_SHOW) -> str:
        """The minimal case of each violation, for a person; as small as they get in about ``seconds`` for all."""
        until = time.perf_counter() + seconds
        smalls = []
        for number, found in enumerate(sorted(self.found, key=lambda found: len(found.data))):
            share = max(until - time.perf_counter(), 0) / (len(self.found) - number)
            smalls.append((found.promise, reduced(found.data, found.options, found.promise, seconds=share)))
        parts = [
            f"{promise}: {small.detail[:1500]}\n  {_given(small.options)}\n  {small.data!r}\n"
            + small.data.decode("utf-8", "replace")
            for promise, small in smalls
        ]
        return "\n\n".join(dict.fromkeys(parts))


def campaign(kind: str, cases: int, start: int) -> Tally:
    """Judge ``cases`` drawn cases of one kind; the same ``start`` draws the same ones."""
    tally = Tally()

    def run(drawn: tuple[Framework, bytes], data: st.DataObject) -> None:
        source, text = drawn
        chosen = data.draw(options(_OTHER[source]))
        verdict = judge(text, chosen)
        tally.cases += 1
        tally.size += len(text)
        tally.outcomes[verdict.outcome] += 1
        for violation in verdict.violations:
            tally.broken[violation.promise] += 1
            tally.keep(Found(violation.promise, violation.detail, text, chosen))

    began = time.process_time()
    with_each(run, cases, start, drawn=KINDS[kind](), data=st.data())
    tally.seconds = time.process_time() - began
    return tally


def with_each(run: Callable[..., None], cases: int, start: int, **drawn: st.SearchStrategy[Any]) -> None:
    """Call ``run`` with what is drawn, ``cases`` times; the same ``start`` draws the same, whatever ran before."""
    state = random.getstate()
    drawing = settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    with _no_constants():
        seed(start)(drawing(given(**drawn)(run)))()
    random.setstate(state)


@contextmanager
def _no_constants() -> Iterator[None]:
    """Hypothesis draws constants of all modules that are loaded: then code, and tests that ran before, would choose."""
    providers.CONSTANTS_CACHE.cache.clear()
    with mock.patch.object(providers, "_get_local_constants", return_value=providers.Constants()):
        yield
    providers.CONSTANTS_CACHE.cache.clear()


def _given(options: Options) -> str:
    """The options that are not default ones."""
    default = Options(options.target)
    named: dict[str, Any] = {n: getattr(options, n) for n in Options.__dataclass_fields__}
    return f"to {options.target} " + ", ".join(f"{n}={v!r}" for n, v in named.items() if v != getattr(default, n))
