"""Runs the long form of the fuzz tests in pieces and counts: cases, outcomes, violations by promise.

    python benchmarks/fuzz.py --cases 20000 --work FOLDER            # --write-results puts the table into RESULTS.md

Each piece is a process of its own with its own seed, and what it found lies in FOLDER afterwards: a run that was
stopped goes on where it was, and one with more cases only draws the further ones. FOLDER/found.txt has the smallest
case of each kind of violation.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
from measure import environment, write_section

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests are no package that is installed

from tests.fuzz.campaign import KINDS, Found, Tally, campaign
from tests.fuzz.promises import NAMES

PIECE = 500
LIMIT = 1800  # seconds for a piece; one that takes longer hangs
WHAT = {
    "programs": "generated programs",
    "mutated": "real files, changed at random",
    "wild": "bytes, most of them no Python",
    "extremes": "very long and deep files",
}
SHARE = {"programs": 1.0, "mutated": 1.0, "wild": 0.5, "extremes": 0.05}


@click.command()
@click.option("--cases", default=2000, show_default=True, help="Generated programs, and as many changed files.")
@click.option("--start", default=1, show_default=True, help="The first seed; another one draws other cases.")
@click.option("--jobs", default=2, show_default=True, help="Pieces that run at the same time.")
@click.option("--work", required=True, type=click.Path(file_okay=False, path_type=Path), help="For the pieces.")
@click.option("--only", type=click.Choice(list(KINDS)), multiple=True, help="Cases of this kind; may be repeated.")
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md.")
@click.option("--piece", nargs=3, type=(str, int, int), hidden=True)
def main(
    cases: int,
    start: int,
    jobs: int,
    work: Path,
    only: tuple[str, ...],
    write_results: bool,
    piece: tuple[str, int, int] | None,
) -> None:
    """Judge cases of every kind and print the table."""
    work.mkdir(parents=True, exist_ok=True)
    if piece is not None:
        run_piece(work, *piece)
        return
    pieces = [
        (kind, start + index, min(PIECE, wanted - index * PIECE))
        for kind in only or KINDS
        for wanted in [max(int(cases * SHARE[kind]), 1)]
        for index in range(-(-wanted // PIECE))
    ]
    began = time.perf_counter()
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda one: in_process(work, *one), pieces))
    tallies: dict[str, Tally] = {}
    for kind, number, size in pieces:
        path = piece_path(work, kind, number, size)
        tallies.setdefault(kind, Tally()).add(pickle.loads(path.read_bytes()) if path.exists() else hung(kind, number))
    text = table(tallies)
    click.echo(text)
    click.echo(f"{time.perf_counter() - began:.0f} s of wall time for the pieces that were missing")
    everything = Tally()
    for tally in tallies.values():
        everything.add(tally)
    (work / "found.txt").write_text(everything.shown(), encoding="utf-8", errors="surrogateescape")
    if write_results:
        asked = f"python benchmarks/fuzz.py --cases {cases} --start {start} --work FOLDER"
        write_section(
            "fuzz", f"## Promises\n\n`{asked}`\n\n{environment('hypothesis', 'pyflakes', 'libcst')}\n\n{text}"
        )
    sys.exit(1 if everything.broken else 0)


def piece_path(work: Path, kind: str, number: int, size: int) -> Path:
    """Where the tally of a piece lies."""
    return work / f"{kind}-{number}-{size}.pickle"


def in_process(work: Path, kind: str, number: int, size: int) -> None:
    """Run a piece in a process of its own, unless its tally is there already."""
    path = piece_path(work, kind, number, size)
    if path.exists():
        return
    command = [sys.executable, __file__, "--work", str(work), "--piece", kind, str(number), str(size)]
    try:
        subprocess.run(command, check=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        click.echo(f"{kind}, seed {number}: no end after {LIMIT} s", err=True)


def run_piece(work: Path, kind: str, number: int, size: int) -> None:
    """Judge the cases of a piece and keep the tally."""
    path = piece_path(work, kind, number, size)
    tally = campaign(kind, size, number)
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(pickle.dumps(tally))
    temporary.replace(path)
    rate = tally.cases / tally.seconds * 60
    click.echo(f"{kind}, seed {number}: {rate:,.0f} cases per CPU minute, {dict(tally.broken) or 'no violation'}")


def hung(kind: str, number: int) -> Tally:
    """The tally of a piece that came to no end."""
    tally = Tally(broken=Counter({"comes to an end": 1}))
    tally.keep(Found("comes to an end", f"{kind}, seed {number}", b"", None))  # type: ignore[arg-type]
    return tally


def table(tallies: dict[str, Tally]) -> str:
    """Two tables: what became of the cases, and how often each promise was broken."""
    kinds = list(tallies)
    outcomes = sorted({o for t in tallies.values() for o in t.outcomes})
    lines = ["| | " + " | ".join(WHAT[k] for k in kinds) + " |", "|---|" + "--:|" * len(kinds)]
    lines.append("| cases | " + " | ".join(f"{tallies[k].cases:,}" for k in kinds) + " |")
    for outcome in outcomes:
        lines.append(f"| {outcome} | " + " | ".join(f"{tallies[k].outcomes[outcome]:,}" for k in kinds) + " |")
    lines.append(
        "| mean size, bytes | " + " | ".join(f"{t.size // max(t.cases, 1):,}" for t in tallies.values()) + " |"
    )
    lines.append(
        "| cases per CPU minute | "
        + " | ".join(f"{t.cases / max(t.seconds, 1e-9) * 60:,.0f}" for t in tallies.values())
        + " |"
    )
    lines += ["", "| promise broken | " + " | ".join(WHAT[k] for k in kinds) + " |", "|---|" + "--:|" * len(kinds)]
    for promise in (*NAMES, "comes to an end"):
        lines.append(f"| {promise} | " + " | ".join(f"{t.broken[promise]:,}" for t in tallies.values()) + " |")
    seconds = sum(t.seconds for t in tallies.values())
    total, bad = sum(t.cases for t in tallies.values()), sum(t.broken.total() for t in tallies.values())
    lines += ["", f"{total:,} cases in {seconds / 60:,.1f} CPU minutes; {bad:,} violations."]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
