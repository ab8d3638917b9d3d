"""Runs graphs that torch.fx, torch.export and dynamo write out as Python, as they are and converted to Paddle.

    python benchmarks/traced.py [--of timm] [--only TEXT] [--form dynamo] [--group check] [--write-results]

The models are data, in traced_models.toml. Their graphs are written once, by a process of its own (traced_graphs.py);
each is then a case of the stages that run whole programs (programs.py): converted with default options, run where torch
cannot be imported, outputs and gradients compared.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from measure import environment, write_section
from program_bench import HERE, TORCHVISION, Bench, Case, Package, Verdict, install_dependencies
from program_report import classes
from program_trees import cache_folder
from programs import judge, plain

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MODELS = HERE / "traced_models.toml"
FORMS = ("fx", "dynamo", "dynamo-readable", "dynamo-dynamic", "export", "core")


def models() -> Iterator[dict[str, Any]]:
    """Each model: its name, the code with ``build()``, its inputs, whether it is known or for a check."""
    for group in tomllib.loads(MODELS.read_text(encoding="utf-8"))["models"]:
        made = {name: (make, inputs) for name, (make, *inputs) in group.get("make", {}).items()}
        for name in group.get("names", ()):
            made[name] = (group["make_each"].format(name=name), group["inputs"])
        for name, (make, inputs) in made.items():
            code = f"{group['imports']}\n\n\ndef build():\n    return {make}\n"
            yield {
                "name": f"{group['of']}/{name}", "of": group["of"], "group": group.get("group", "known"), "code": code,
                "inputs": inputs, "train": group.get("train", False),
            }  # fmt: skip


def traced(cache: Path, wanted: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The graphs of each model; those that are not kept from before are written."""
    version = ast.dump(ast.parse((HERE / "traced_graphs.py").read_bytes()))
    place, waiting = cache / "graphs", []
    for model in wanted:
        model["key"] = str(hash_of(version, model["code"], *model["inputs"], str(model["train"])))
        model["kept"] = place / re.sub(r"[^\w.-]", "_", model["name"]) / "graphs.json"
        if not model["kept"].exists() or json.loads(model["kept"].read_text())["key"] != model["key"]:
            waiting.append({key: value for key, value in model.items() if key != "kept"})
    if waiting:
        command = [sys.executable, str(HERE / "traced_graphs.py"), str(place), str(cache / "deps")]
        command.append(str(cache / "torchvision"))
        subprocess.run(command, input=json.dumps(waiting), text=True, check=False)
    return {model["name"]: json.loads(model["kept"].read_text()) for model in wanted if model["kept"].exists()}


def hash_of(*parts: str) -> str:
    """A key for what follows from ``parts``."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def cases_of(name: str, graphs: dict[str, Any]) -> Iterator[Case]:
    """A case for each graph; its package is the form."""
    for graph in graphs["graphs"]:
        code = Path(graph["file"]).read_text(encoding="utf-8")
        yield Case(Package(graph["form"], "", "paddle"), graph["name"], code, tuple(graph["inputs"]))


def table(verdicts: Sequence[Verdict]) -> str:
    """A line for each form."""
    lines = ["| form | graphs | equal | differ | fail |", "|---|--:|--:|--:|--:|"]
    for form in (*FORMS, None):
        mine = [one for one in verdicts if form in (None, one.case.package.name) and one.outcome != "original"]
        counts = Counter(one.outcome for one in mine)
        if mine:
            share = f"{counts['equal']} ({counts['equal'] / len(mine):.1%})"
            lines.append(f"| {form or '**all**'} | {len(mine)} | {share} | {counts['differs']} | {counts['fails']} |")
    return "\n".join(lines)


@click.command()
@click.option("--of", multiple=True, help="Only models of this origin; may be repeated.")
@click.option("--group", type=click.Choice(["known", "check", "third"]), help="Only models of this group.")
@click.option("--form", multiple=True, type=click.Choice(FORMS), help="Only this form; may be repeated.")
@click.option("--only", multiple=True, metavar="TEXT", help="Only models whose name has this in it.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write every verdict to this file.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder of what can be made again.")
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md.")
def main(
    of: tuple[str, ...], group: str | None, form: tuple[str, ...], only: tuple[str, ...], json_file: Path | None,
    cache: Path | None, write_results: bool,
) -> None:  # fmt: skip
    """Write the graphs, run and convert them, print a table."""
    start = time.monotonic()
    wanted = [
        model
        for model in models()
        if (not of or model["of"] in of)
        and (not group or model["group"] == group)
        and (not only or any(text in model["name"] for text in only))
    ]
    bench = Bench(cache_folder(cache) / "traced", 1)
    install_dependencies(bench.cache, HERE / "traced_dependencies.txt", TORCHVISION)
    graphs = traced(bench.cache, wanted)
    cases = [case for name, one in graphs.items() for case in cases_of(name, one)]
    verdicts = []
    try:
        for case in cases:
            if not form or case.package.name in form:
                verdicts.append(judge(bench, case))
                if verdicts[-1].outcome != "equal":
                    click.echo(f"{case.id}: {verdicts[-1].outcome}: {verdicts[-1].message[:160]}", err=True)
    finally:
        bench.close()
    untraced = sum(len(one["failed"]) for one in graphs.values())
    click.echo(classes(verdicts))
    click.echo(table(verdicts))
    broken = [one for one in verdicts if one.outcome == "original"]
    click.echo(f"\n{untraced} could not be traced, {len(broken)} do not run alike twice on torch as written")
    for one in broken:
        click.echo(f"  {one.case.id}: {one.message[:160]}")
    if json_file:
        json_file.write_text(json.dumps([plain(one) for one in verdicts], indent=1))
    if write_results:
        write_section("traced", report(verdicts, time.monotonic() - start))


def report(verdicts: Sequence[Verdict], seconds: float) -> str:
    """The section for RESULTS.md."""
    return "\n".join(
        [
            "## Graphs written out as Python\n\n`python benchmarks/traced.py --write-results`\n",
            f"{environment('torch', 'paddlepaddle')}\n",
            "Graphs of small models of torchvision, timm and transformers and of a few of our own, as `torch.fx`, "
            "dynamo (`.code`, `print_readable`, with symbolic sizes) and `torch.export` (as traced, and decomposed "
            "into the core operators of ATen) write them; converted with default options and run where torch cannot "
            "be imported. Equal: outputs and gradients, compared as for whole programs.\n",
            table(verdicts),
            f"\nThe run took {seconds:.0f} s.",
        ]
    )


if __name__ == "__main__":
    main()
