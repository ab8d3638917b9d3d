"""Records runs of models of real packages, and counts what the evidence settles when the packages are converted.

    python benchmarks/evidence.py [--package vit_pytorch] [--write-results]

For each package: its models of program_cases are made and run, forward, backward and for optimizer steps, under
``paddletorch record``; its files are converted with ``--no-evidence`` and with what was seen; the converted modules
are imported by ``paddletorch try``; and ``programs.py`` runs the models of both conversions.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from measure import PADDLETORCH, environment, run, write_section
from program_bench import CASES, HERE, TORCHVISION, Package, cases_of, install_dependencies, packages
from program_trees import cache_folder, distribution_folder, top_levels

DEFAULT = ("vit_pytorch", "kornia", "pytorchcv", "smp", "ppim", "paddleseg", "ppgan", "paddlesci")
COUNTED = ("API201", "API202", "API212", "API226", "API227", "API229", "DTY2", "TEN214")
MODELS = "models_of_the_run"
"""The package of the modules that make the models; it is no part of what is counted."""


@dataclass(slots=True)
class Row:
    """What became of one package."""

    package: Package
    models: int
    ran: int
    files: int
    asked: int
    answered: int
    without: Counter[str]
    settled: Counter[str]
    """Findings with evidence, by code."""
    open: tuple[int, int]
    """Findings that a run could settle, without and with evidence."""
    tried: dict[str, Any] = field(default_factory=dict)
    equal: tuple[int, int] | None = None
    judged: int = 0
    changed: list[str] = field(default_factory=list)
    """Models that come out otherwise with evidence than without."""


@click.command()
@click.option("--package", "names", multiple=True, help="Only this package, by the name of its file; may be repeated.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder of what can be made again.")
@click.option("--programs/--no-programs", default=True, help="Also run the models of both conversions.")
@click.option("--try/--no-try", "trying", default=True, help="Also import the modules of the conversion with evidence.")
@click.option("--jobs", default=1, show_default=True, help="Of programs.py.")
@click.option("--kept", is_flag=True, help="Take what was measured before from the cache.")
@click.option("--write-results", is_flag=True, help="Put the tables into RESULTS.md.")
def main(
    names: tuple[str, ...], cache: Path | None, programs: bool, trying: bool, jobs: int, kept: bool, write_results: bool
) -> None:
    """Record, convert and try every package, and print the tables."""
    place = cache_folder(cache)
    install_dependencies(place, CASES / "dependencies.txt", TORCHVISION)
    rows = []
    for package in packages():
        if package.name in (names or DEFAULT):
            start = time.monotonic()
            held = place / "evidence" / f"{package.name}.pkl"
            if not (kept and held.exists()):
                held.write_bytes(pickle.dumps(measured(package, place, programs, trying, jobs)))
            rows.append(pickle.loads(held.read_bytes()))
            click.echo(f"{package.name}: {time.monotonic() - start:.0f} s", err=True)
            click.echo(findings_line(rows[-1]), err=True)
    rows.sort(key=lambda row: (row.package.to, row.package.name))
    text = report(rows)
    click.echo(text)
    if write_results:
        write_section("evidence", text)


def measured(package: Package, cache: Path, programs: bool, trying: bool, jobs: int) -> Row:
    """Everything about one package."""
    project, ran = recorded(package, cache)
    plain, _ = converted(package, project, ["--no-evidence"])
    settled, output = converted(package, project, [])
    row = Row(
        package,
        len(ran),
        sum(not trouble for trouble in ran.values()),
        plain["summary"]["files"]["scanned"],
        *asked_and_answered(project),
        _codes(plain),
        _codes(settled),
        (plain["summary"]["evidence"]["open"], settled["summary"]["evidence"]["open"]),
    )
    if trying:
        row.tried = tried(package, cache, output)
    if programs:
        one, other = (verdicts(package, cache, jobs, folder) for folder in (None, project))
        row.equal = (sum(v == "equal" for v in one.values()), sum(v == "equal" for v in other.values()))
        row.judged = sum(v != "original" for v in one.values())
        row.changed = [f"{name}: {one[name]}, then {other[name]}" for name in one if one[name] != other.get(name)]
    return row


def recorded(package: Package, cache: Path) -> tuple[Path, dict[str, str]]:
    """A project with the package and a program, its evidence, and what came of each model."""
    project = cache / "evidence" / package.name
    shutil.rmtree(project, ignore_errors=True)
    (project / MODELS).mkdir(parents=True)
    (project / MODELS / "__init__.py").touch()
    beside = _copy_trees(package, cache, project)
    listed = []
    for number, case in enumerate(cases_of(package)):
        (project / MODELS / f"model_{number}.py").write_text(case.code)
        module = f"{MODELS}.model_{number}"
        listed.append({"module": module, "inputs": list(case.inputs), "keywords": dict(case.keywords)})
    models = project / MODELS / "models.json"
    models.write_text(json.dumps(listed))
    program = project / MODELS / "run_models.py"
    shutil.copy(HERE / "evidence_program.py", program)
    command = [*PADDLETORCH, "record", "--to", package.to, "--root", str(project), "--", "python", str(program)]
    done = subprocess.run(
        [*command, str(models), package.origin],
        cwd=project,
        env=environ([project, *beside, *dependencies(cache)]),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{package.name}: exit code {done.returncode}\n{done.stderr[-3000:]}")
    (project / MODELS / "said.txt").write_text(done.stderr)
    return project, json.loads(models.with_suffix(".ran.json").read_text())


def _copy_trees(package: Package, cache: Path, project: Path) -> list[Path]:
    """The package itself into the project; the folders of what lies beside."""
    folder = distribution_folder(cache, package.requirement)
    for top in top_levels(folder):
        source = folder / top if (folder / top).is_dir() else folder / f"{top}.py"
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, project / source.name)
    return [distribution_folder(cache, one) for one in package.beside]


def dependencies(cache: Path) -> list[Path]:
    """Folders of what the packages need besides a framework."""
    return [cache / "deps", _vision(cache), HERE]


def environ(folders: list[Path]) -> dict[str, str]:
    """The environment of a program, with folders on the path."""
    path = os.pathsep.join([*map(str, folders), os.environ.get("PYTHONPATH", "")])
    quiet = {"GLOG_minloglevel": "3", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    return {**os.environ, **quiet, "PYTHONPATH": path}


def asked_and_answered(project: Path) -> tuple[int, int]:
    """What the recorder said in its last line."""
    said = (project / MODELS / "said.txt").read_text().rpartition("paddletorch: ")[2].split()
    numbers = [int(word.replace(",", "")) for word in said if word.replace(",", "").isdigit()]
    return (numbers[1], numbers[0]) if len(numbers) > 1 else (0, 0)


def converted(package: Package, project: Path, options: list[str]) -> tuple[dict[str, Any], Path]:
    """The report of converting the package, and the folder that it went to."""
    output = project.with_name(f"{project.name}-{'plain' if options else 'settled'}")
    shutil.rmtree(output, ignore_errors=True)
    command = [*PADDLETORCH, "convert", "--to", package.to, "--no-gitignore", "--no-cache", "--format", "json"]
    made = run([*command, *options, "--exclude", MODELS, "--output", str(output), str(project)], good=(0, 1, 2))
    shutil.rmtree(output / MODELS)
    return json.loads(made.output), output


def _codes(report: dict[str, Any]) -> Counter[str]:
    return Counter(found["code"] for found in report["diagnostics"])


def tried(package: Package, cache: Path, output: Path) -> dict[str, Any]:
    """What ``paddletorch try`` says of a converted tree."""
    beside = [distribution_folder(cache, one) for one in package.beside]
    path = environ([*beside, *dependencies(cache)])
    command = [
        *PADDLETORCH,
        "try",
        "--to",
        package.to,
        "--format",
        "json",
        "--source",
        str(cache / "evidence" / package.name),
    ]
    done = subprocess.run([*command, str(output)], env=path, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise RuntimeError(f"try {package.name}: exit code {done.returncode}\n{done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _vision(cache: Path) -> Path:
    """A folder with a torchvision that can be imported without its compiled operators."""
    folder = cache / "vision"
    if not folder.exists():
        part = folder.with_name(f"vision.{os.getpid()}")
        shutil.copytree(cache / "torchvision", part)
        first = part / "torchvision" / "__init__.py"
        defined = "import torch\nfrom program_vision import define_vision_operators\n\ndefine_vision_operators(torch)\n"
        first.write_text(defined + first.read_text())
        part.rename(folder)
    return folder


def verdicts(package: Package, cache: Path, jobs: int, evidence: Path | None) -> dict[str, str]:
    """What ``programs.py`` says of each model."""
    written = cache / "evidence" / f"{package.name}.verdicts.json"
    command = [sys.executable, str(HERE / "programs.py"), "--package", package.name, "--cache", str(cache)]
    command += ["--jobs", str(jobs), "--json", str(written), *(["--evidence", str(evidence)] if evidence else [])]
    run(command, good=(0,))
    return {one["case"]: one["outcome"] for one in json.loads(written.read_text())}


def findings_line(row: Row) -> str:
    """How many findings of each code there are without and with evidence."""
    cells = []
    for code in COUNTED:
        before, after = (
            sum(n for name, n in counts.items() if name.startswith(code)) for counts in (row.without, row.settled)
        )
        cells.append(f"{before:,}" if before == after else f"{before:,} → {after:,}")
    cells.append(f"{row.open[0]:,} → {row.open[1]:,}")
    return f"| {row.package.requirement} | {row.package.to} | {' | '.join(cells)} |"


def _run_line(row: Row) -> str:
    equal = f"{row.equal[0]} | {row.equal[1]} of {row.judged}" if row.equal else "not run | not run"
    return (
        f"| {row.package.requirement} | {row.package.to} | {row.files:,} | {row.ran} of {row.models} | "
        f"{row.answered:,} of {row.asked:,} | {equal} |"
    )


def _try_line(row: Row) -> str:
    modules = row.tried["modules"]
    failing = [one for one in modules if one["outcome"] != "imports"]
    missing = sum(bool(one.get("missing")) for one in failing)
    package = sum(one["outcome"] == "package" for one in failing)
    own = [one for one in failing if not one.get("missing") and one["outcome"] != "package"]
    behind = sum(bool(one["diagnostics"]) for one in own)
    codes = Counter(code for one in own for code in {found["code"] for found in one["diagnostics"]})
    listed = ", ".join(f"{code} {n}" for code, n in codes.most_common(5)) or "none"
    return (
        f"| {row.package.requirement} | {row.package.to} | {len(modules):,} | {len(modules) - len(failing):,} | "
        f"{missing:,} | {package:,} | {len(own):,} | {behind:,} | {listed} |"
    )


def report(rows: list[Row]) -> str:
    """The section for RESULTS.md."""
    parts = [
        f"## Evidence from a run\n\n`python benchmarks/evidence.py`: models of each package are made and run forward, "
        "backward and for three optimizer steps under `paddletorch record`; then the package is converted with "
        f"`--no-evidence` and with the evidence. {environment('torch', 'paddlepaddle')}\n",
        "| package | to | files | models that ran | questions answered, of imported modules | models equal without | "
        "with evidence |\n|---|---|--:|--:|--:|--:|--:|",
        *map(_run_line, rows),
        "\nFindings without → with evidence, and those that carry a question that is open.\n",
        f"| package | to | {' | '.join('DTY2xx' if code == 'DTY2' else code for code in COUNTED)} | open |\n"
        f"|---|---|{'--:|' * (len(COUNTED) + 1)}",
        *map(findings_line, rows),
    ]
    changed = [line for row in rows for line in row.changed]
    parts.append(f"\nModels that come out otherwise with evidence: {'; '.join(changed) or 'none'}.")
    parts += [
        "\n`paddletorch try` on the trees that were converted with evidence.\n",
        "| package | to | modules | import | need what is not installed | only their package fails | fail themselves | "
        "of these with a finding | codes |\n|---|---|--:|--:|--:|--:|--:|--:|---|",
        *(_try_line(row) for row in rows if row.tried),
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    main()
