"""The coverage page: how much the tables hold, and how much of it is proven by execution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from paddletorch_rules.schema import Kind
from paddletorch_rules.verified import Record

from paddletorch.pages.area_names import NAMES
from paddletorch.pages.markdown import table
from paddletorch.pages.standing import Standing
from paddletorch.proof.proof import Verdict

_INTRODUCTION = """\
# What the tables cover

A row pairs one API of torch with one of Paddle; the page of an area lists its rows. A row's *proof* is an example that
was converted and run on both frameworks, with equal values, shapes and dtypes ([how](proof.md)). *Both ways*: proven to
Paddle and to torch; what a row writes that serves one target only comes back by other rows. *One way*: proven, the row
serves one target only, and what it writes does not come back. *Not verified*: converts, and no example has been
run. *No counterpart*: known, and reported rather than converted.
"""
_METHODS: tuple[Kind, ...] = ("method", "attribute")
_KINDS: tuple[tuple[str, tuple[Kind, ...]], ...] = (
    ("functions", ("function", "context", "constant", "module")),
    ("classes", ("class",)),
    ("methods", _METHODS),
)
_VERDICTS = ("both ways", "of these methods", "one way", "not verified", "no counterpart")


def page(areas: Mapping[str, Sequence[Standing]], record: Record) -> str:
    """The whole page in Markdown."""
    releases = {f"torch {e.torch} and Paddle {e.paddle}" for e in record.entries.values()}
    lines = [_INTRODUCTION]
    if releases:
        lines += [f"Run on {'; '.join(sorted(releases))}, on a CPU.", ""]
    rows = [(f"[{area}](areas/{area}.md): {NAMES[area]}", *_counts(found)) for area, found in areas.items()]
    rows.append(("all", *_counts([s for found in areas.values() for s in found])))
    header = ("area", "rows", *(name for name, _ in _KINDS), *_VERDICTS)
    lines += table(header, rows, numbers=True)
    lines += ["", "Written by `paddletorch rules pages --write docs`."]
    return "\n".join(lines) + "\n"


def _counts(found: Iterable[Standing]) -> list[int]:
    every = list(found)
    kinds = Counter(s.row.kind for s in every if s.verdict is not Verdict.REPORTED)
    verdicts = Counter(s.verdict for s in every)
    return [
        len(every),
        *(sum(kinds[kind] for kind in members) for _, members in _KINDS),
        verdicts[Verdict.BOTH],
        sum(s.verdict is Verdict.BOTH and s.row.kind in _METHODS for s in every),
        verdicts[Verdict.ONE],
        verdicts[Verdict.UNVERIFIABLE] + verdicts[Verdict.NO_EXAMPLE],
        verdicts[Verdict.REPORTED],
    ]
