"""Converts fixtures and generated programs in other forms that mean the same, and counts what converts otherwise.

    python benchmarks/rewritten_forms.py --programs 5000 --work FOLDER   # --write-results puts them into RESULTS.md
    python benchmarks/rewritten_forms.py --programs 0 --work FOLDER --write-known

The forms are those of ``tests/forms``: a loop around a function's body, a name for an argument, a method for a
function. Each fixture is written in every form, each generated program in one. FOLDER/failing.txt has what differs,
the most frequent class first, with its smallest program. ``--write-known`` takes what no longer differs out of
``tests/forms/known_failures.txt``, and adds nothing; ``--write-all-known`` writes it anew.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
from measure import environment, write_section

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests are no package that is installed

from paddletorch.model import Framework, Options

from tests.fixture_files import FIXTURES
from tests.forms.forms import FORMS, Difference, difference
from tests.forms.known import FILE, KNOWN, is_sampled
from tests.fuzz.campaign import with_each
from tests.fuzz.programs import programs

PIECE = 100


@dataclass(frozen=True)
class Result:
    """What became of a program in a form."""

    program: str
    form: str
    target: Framework
    found: Difference | None = None
    source: bytes = b""
    """Of one that differs."""

    @property
    def group(self) -> str:
        """What is counted as one class: the form, and findings or APIs that differ."""
        assert self.found is not None
        codes = [f"-{code}" for code, _ in self.found.missing] + [f"+{code}" for code, _ in self.found.more]
        if codes:
            return f"{self.form} to {self.target}: {' '.join(sorted(set(codes)))}"
        names = [_api(text) for text in (self.found.plain, self.found.form)]
        return f"{self.form} to {self.target}: {names[0]} | {names[1]}"


def _api(text: str) -> str:
    found = re.findall(r"[\w.]+(?=\()", text)
    return found[0] if found else text.strip()[:30]


@click.command()
@click.option("--programs", "number", default=5000, show_default=True, help="Generated programs.")
@click.option("--start", default=1, show_default=True, help="The first seed; another one draws other programs.")
@click.option("--fixtures/--no-fixtures", default=True, show_default=True, help="Also all fixtures in all forms.")
@click.option("--sampled", is_flag=True, help="Of the fixtures' forms those that the tests run each time.")
@click.option("--jobs", default=2, show_default=True, help="Processes.")
@click.option("--work", required=True, type=click.Path(file_okay=False, path_type=Path), help="For what differs.")
@click.option("--write-known", is_flag=True, help="Take what is mended out of the list of known failures.")
@click.option("--write-all-known", is_flag=True, help="Write the list of known failures anew.")
@click.option("--write-results", is_flag=True, help="Put the tables into RESULTS.md.")
def main(
    number: int,
    start: int,
    fixtures: bool,
    sampled: bool,
    jobs: int,
    work: Path,
    write_known: bool,
    write_all_known: bool,
    write_results: bool,
) -> None:
    """Convert the forms and print how many convert as the plain program."""
    work.mkdir(parents=True, exist_ok=True)
    places = [index for index, one in enumerate(FIXTURES) if fixtures and not one.name.startswith("untouched/")]
    pieces = [(start + index, min(PIECE, number - index * PIECE)) for index in range(-(-number // PIECE))]
    with ProcessPoolExecutor(jobs) as pool:
        of = partial(of_fixture, sampled=sampled)
        of_fixtures = [one for found in pool.map(of, places, chunksize=4) for one in found]
        of_programs = [one for found in pool.map(of_generated, pieces) for one in found]
    text = table(len(places), of_fixtures, number, of_programs)
    click.echo(text)
    differ = [one for one in (*of_fixtures, *of_programs) if one.found is not None]
    (work / "failing.txt").write_text(classes(differ), encoding="utf-8")
    failing = {(one.program, one.form) for one in of_fixtures if one.found is not None}
    if write_known or write_all_known:
        seen = {(one.program, one.form) for one in of_fixtures}
        kept = (failing if write_all_known else failing & KNOWN) | (KNOWN - seen if sampled else set())
        FILE.write_text("".join(f"{fixture} {form}\n" for fixture, form in sorted(kept)), encoding="utf-8")
    if write_results:
        asked = f"python benchmarks/rewritten_forms.py --programs {number} --start {start} --work FOLDER"
        write_section(
            "rewritten forms", f"## Rewritten forms\n\n`{asked}`\n\n{environment('hypothesis', 'libcst')}\n\n{text}"
        )
    sys.exit(1 if differ else 0)


def of_fixture(index: int, sampled: bool) -> list[Result]:
    """A fixture in all forms in which it can be written."""
    fixture = FIXTURES[index]
    forms = [form for form in FORMS if not sampled or is_sampled(fixture.id, form)]
    return list(_results(fixture.id, fixture.source, fixture.options, forms))


def of_generated(piece: tuple[int, int]) -> list[Result]:
    """Generated programs, each in the first form that it can be written in of a row that begins with another one."""
    start, cases = piece
    results: list[Result] = []

    def run(drawn: tuple[Framework, bytes]) -> None:
        source, text = drawn
        names = list(FORMS)
        turn = (start * PIECE + len(results)) % len(names)
        options = Options("paddle" if source == "torch" else "torch")
        results.extend(
            _results(f"program {start}.{len(results)}", text, options, names[turn:] + names[:turn], first=True)
        )

    with_each(run, cases, start, drawn=programs())
    return results


def _results(program: str, source: bytes, options: Options, forms: list[str], first: bool = False) -> Iterator[Result]:
    for form in forms:
        try:
            found = difference(source, options, FORMS[form])
        except LookupError:
            continue
        yield Result(program, form, options.target, found, source if found is not None else b"")
        if first:
            return


def table(fixtures: int, of_fixtures: list[Result], number: int, of_programs: list[Result]) -> str:
    """By form: how many programs were written in it, and how many of them convert as the plain program."""
    lines = [
        f"| form | of {fixtures} fixtures | convert alike | of {number:,} generated programs | convert alike |",
        "|---|--:|--:|--:|--:|",
    ]
    for form in (*FORMS, "all"):
        cells = []
        for results in (of_fixtures, of_programs):
            mine = [one for one in results if form in (one.form, "all")]
            alike = sum(one.found is None for one in mine)
            share = f" ({alike / len(mine):.1%})" if mine else ""
            cells += [f"{len(mine):,}", f"{alike:,}{share}"]
        lines.append(f"| {form} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def classes(differ: list[Result]) -> str:
    """The classes of differences, the most frequent first, each with its smallest program."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for one in differ:
        groups[one.group].append(one)
    counts = Counter({group: len(ones) for group, ones in groups.items()})
    parts = []
    for group, count in counts.most_common():
        least = min(groups[group], key=lambda one: len(one.source))
        others = ", ".join(sorted({one.program for one in groups[group]} - {least.program})[:8])
        parts.append(f"## {count} {group}\n{least.program}{f' (also {others})' if others else ''}\n{least.found}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    main()
