"""A parity run as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from paddletorch_shim.parity.known import Observation
from paddletorch_shim.parity.suite import Case, Outcome


def show(console: Console, outcomes: Sequence[Outcome], known: Sequence[Observation], *, steps: int) -> None:
    """Print both tables and, for each difference, where it is and how to see it again."""
    console.print(_comparisons(outcomes))
    if known:
        console.print(_known(known))
    for outcome in outcomes:
        if outcome.difference is not None:
            _explain(console, outcome, steps)
    for observation in known:
        if not observation.as_expected:
            console.print(
                f"[bold]{observation.known.code}[/] is not as recorded: {observation.known.title}. "
                "If a newer framework has changed it, the record and the shim's page need a look."
            )


def reproduce(outcome: Outcome, steps: int) -> str:
    """The command that shows a difference again."""
    case = outcome.case
    words = ["paddletorch parity", f"--framework {case.framework}"]
    if case.backend is not None:
        words += [f"--backend {case.backend}", f"--optimizer {case.optimizer}"]
    return " ".join([*words, f"--seed {outcome.seed}", "--schedules 1", f"--steps {steps}"])


def _comparisons(outcomes: Iterable[Outcome]) -> Table:
    table = _table("Same schedules, bit for bit")
    for name in ("scaler", "backend", "optimizer", "against"):
        table.add_column(name, no_wrap=True)
    for name in ("steps", "skipped"):
        table.add_column(name, justify="right")
    table.add_column("result", no_wrap=True)
    for outcome in outcomes:
        result = "[green]equal[/]" if outcome.difference is None else "[red]differs[/]"
        table.add_row(*_words(outcome.case), f"{outcome.steps:,}", f"{outcome.skipped:,}", result)
    return table


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)


def _words(case: Case) -> tuple[str, str, str, str]:
    if case.backend is None:
        return f"{case.framework}'s own", "", "", "policy"
    reference = f"{case.api}'s own" if case.against_own else f"policy of {case.api}"
    return f"shim on {case.framework}", case.backend, case.optimizer, reference


def _known(observations: Iterable[Observation]) -> Table:
    table = _table("Known differences of Paddle's own scaler")
    for name in ("code", "what"):
        table.add_column(name)
    for name in ("Paddle's own", "shim", "result"):
        table.add_column(name, no_wrap=True)
    for seen in observations:
        shims = sorted({outcome for _, outcome in seen.shims})
        result = "[green]as recorded[/]" if seen.as_expected else "[red]changed[/]"
        table.add_row(seen.known.code, seen.known.title, seen.own, " / ".join(shims), result)
    return table


def _explain(console: Console, outcome: Outcome, steps: int) -> None:
    difference = outcome.difference
    assert difference is not None
    console.print(f"[red]{', '.join(word for word in _words(outcome.case) if word)}[/]")
    console.print(
        f"  schedule {outcome.seed}, step {difference.step}: {difference.field}\n"
        f"    expected {difference.expected}\n"
        f"    found    {difference.found}\n"
        f"  again: {reproduce(outcome, steps)}",
        highlight=False,
        soft_wrap=True,
    )
