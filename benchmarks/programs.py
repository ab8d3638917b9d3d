"""Runs whole modules of real packages as they are and converted, where the source framework cannot be imported.

    python benchmarks/programs.py [--to paddle] [--package timm] [--only NAME] [--list] [--json FILE] [--write-results]

The cases are data, in program_cases/*.toml: a package of the package index, what makes a module, what it is called
with. For each: the original runs on its framework; its files are converted with default options; the converted module
runs on the other framework with the weights that ``paddletorch state convert`` makes; outputs, gradients, buffers and
three steps of training are compared. Nothing that did not change since the last run is run again.
"""

from __future__ import annotations

import itertools
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
from measure import write_section
from other_converter import OtherConverter
from program_bench import (
    CASES,
    HERE,
    TORCHVISION,
    Bench,
    Case,
    Verdict,
    cases_of,
    convert_package,
    install_dependencies,
    packages,
    run_source,
    run_target,
)
from program_blame import left_imports, name_difference, name_failure
from program_report import classes, report, table
from program_trees import cache_folder

FAILING = HERE / "programs-failing.md"


def judge(bench: Bench, case: Case) -> Verdict:
    """Run both sides of a case and say what became of it."""
    key, kept = run_source(bench, case)
    assert kept is not None
    if kept["error"]:
        return Verdict(case, "original", message=kept["error"])
    made = run_target(bench, case, kept, key)
    mode = "float32"
    if made["outcome"] == "differs":
        again = _in_float64(bench, case, made)
        if again is not None:
            made, mode = again, "float64"
    verdict = Verdict(case, made["outcome"], stage=made.get("stage", ""), seconds=made.get("seconds", 0.0), mode=mode)
    if made["outcome"] == "equal":
        return verdict
    verdict.message = made["message"]
    if made["outcome"] == "differs":
        traced = run_target(bench, case, kept, key, trace=True)
        name_difference(bench, case, verdict, traced)
    else:
        name_failure(bench, case, verdict, made)
        if made.get("absent"):
            verdict.left = left_imports(bench, case, [Path(one) for one in kept["loaded"]])
            stubbed = run_target(bench, case, kept, key, stubs=True)
            if stubbed["outcome"] == "differs":
                stubbed = _in_float64(bench, case, stubbed, stubs=True) or stubbed
            verdict.stubbed = stubbed["outcome"]
            if stubbed["outcome"] != "equal":
                verdict.stubbed += f": {stubbed.get('error', '')} {stubbed['message']}"
    return verdict


def _in_float64(bench: Bench, case: Case, made: Mapping[str, Any], **more: Any) -> dict[str, Any] | None:
    """The result in float64 if it is equal there: rounding grows in deep networks, and only a mistake is left."""
    if "largest difference" not in made["message"]:
        return None
    key, kept = run_source(bench, case, "float64")
    if kept is None or kept["error"]:
        return None
    again = run_target(bench, case, kept, key, "float64", **more)
    return again if again["outcome"] == "equal" and set(again["stages"]) >= set(made["stages"]) else None


@click.command()
@click.option("--to", type=click.Choice(["paddle", "torch"]), help="Only this direction.")
@click.option("--package", "names", multiple=True, help="Only this package, by the name of its file; may be repeated.")
@click.option("--only", multiple=True, metavar="TEXT", help="Only cases whose PACKAGE/NAME has this in it.")
@click.option("--list", "listing", is_flag=True, help="List the cases.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write every verdict to this file.")
@click.option("--failing", type=click.Path(path_type=Path), help="Write the failing cases by cause to this file.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder of what can be made again.")
@click.option(
    "--evidence", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Of this project's runs."
)
@click.option("--converter", help="Another converter to judge: its command, with {source} and {output}.")
@click.option("--jobs", default=2, show_default=True)
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md and the failing cases beside it.")
def main(
    to: str | None, names: tuple[str, ...], only: tuple[str, ...], listing: bool, json_file: Path | None,
    failing: Path | None, cache: Path | None, evidence: Path | None, converter: str | None, jobs: int,
    write_results: bool,
) -> None:  # fmt: skip
    """Run the cases and print a table."""
    chosen = [one for one in packages() if (not to or one.to == to) and (not names or one.name in names)]
    cases = [case for one in chosen for case in cases_of(one) if not only or any(text in case.id for text in only)]
    if listing:
        for case in cases:
            click.echo(f"{case.id}  to {case.package.to}: {', '.join(case.inputs)}")
        return
    bench = Bench(cache_folder(cache), jobs, evidence, OtherConverter(converter) if converter else None)
    if any(case.package.requirement for case in cases):
        install_dependencies(bench.cache, CASES / "dependencies.txt", TORCHVISION)
    start = time.monotonic()
    try:
        verdicts = []
        for verdict in run_all(bench, cases):
            verdicts.append(verdict)
            if failing and len(verdicts) % 25 == 0:
                _write_failing(failing, verdicts)
    finally:
        bench.close()
    click.echo(table(verdicts))
    missing = [one for one in verdicts if one.outcome == "original"]
    if missing:
        click.echo(f"\noriginals that do not run here: {len(missing)}")
        for verdict in missing[:10]:
            click.echo(f"  {verdict.case.id}: {verdict.message[:200]}")
    seconds = time.monotonic() - start
    click.echo(f"\n{seconds:.0f} s")
    if len(cases) <= 12:
        click.echo(classes(verdicts))
    if json_file:
        json_file.write_text(json.dumps([plain(one) for one in verdicts], indent=1))
    if failing or write_results:
        _write_failing(failing or FAILING, verdicts)
    if write_results:
        write_section("programs", report(verdicts, seconds))


def _write_failing(path: Path, verdicts: Sequence[Verdict]) -> None:
    path.write_text(f"# Programs that do not run alike\n\n{classes(verdicts)}\n", encoding="utf-8")


def run_all(bench: Bench, cases: Sequence[Case]) -> Iterator[Verdict]:
    """Package by package: originals, then conversions, then converted programs."""
    done = Counter[str]()
    with ThreadPoolExecutor(bench.jobs) as threads:
        for _, group in itertools.groupby(cases, lambda case: case.package.name):
            mine = list(group)
            bench.roots(mine[0].package)
            kept = list(threads.map(lambda case: run_source(bench, case)[1], mine))
            convert_package(bench, mine[0].package, {Path(file) for one in kept if one for file in one["loaded"]})
            for verdict in threads.map(lambda case: judge(bench, case), mine):
                done[verdict.outcome] += 1
                yield verdict
            click.echo(f"{mine[0].package.name}: {done.total()} of {len(cases)}, {dict(done)}", err=True)


def plain(verdict: Verdict) -> dict[str, Any]:
    case = verdict.case
    return {
        "case": case.id, "to": case.package.to, "outcome": verdict.outcome, "named": verdict.named,
        "stage": verdict.stage, "cause": verdict.cause, "message": verdict.message, "place": verdict.place,
        "source": verdict.source, "converted": verdict.text, "codes": list(verdict.codes), "stubbed": verdict.stubbed,
        "left": list(verdict.left), "mode": verdict.mode, "seconds": round(verdict.seconds, 2),
    }  # fmt: skip


if __name__ == "__main__":
    main()
