"""Plants faults in converted models of real packages, and looks whether ``paddletorch compare`` finds them.

    python benchmarks/planted.py [--only vit_pytorch] [--write-results]

A fault is a replacement in one file: of the converted copy, or of both sides where the same text means another thing
(a missed alias). Without a fault the models must be equal. The figures say whether the fault was found, in which layer,
and whether the line that was named is in what was replaced.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from evidence import dependencies, environ
from measure import PADDLETORCH, environment, run, write_section
from program_bench import CASES, HERE, TORCHVISION, install_dependencies, packages, tomllib
from program_trees import cache_folder, distribution_folder

HEADER = (
    "| package | to | model | fault | outcome | first layer named | as planted | lines named | planted among them |\n"
    "|---|---|---|---|---|---|---|--:|---|"
)

CAVEAT = (
    "`as planted` compares with a layer that is written beside each fault and follows from it: the layer that gets "
    "another epsilon or weight, or, for values that go wrong between layers, the next layer that takes them. For two "
    "of DeepViT's the layer around was written first, and set to this after a run. `planted among them` follows from "
    "the files alone."
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A replacement, and where it should be found.

    Args:
        layer: the layer that is to be named.
        both: the replacement is made in the source too, before the conversion would have seen it.
    """

    kind: str
    old: str
    new: str
    layer: str
    both: bool = False


@dataclass(frozen=True, slots=True)
class Model:
    """A model of a package, in ``file``; ``files``: what of the package is converted, empty for all of it."""

    package: str
    file: str
    name: str
    arguments: str
    shape: str
    faults: Sequence[Fault]
    files: Sequence[str] = ()


def models() -> list[Model]:
    """The models of planted_faults.toml."""
    listed = tomllib.loads((HERE / "planted_faults.toml").read_text(encoding="utf-8"))["model"]
    return [Model(faults=[Fault(**fault) for fault in one.pop("fault")], **one) for one in listed]


@click.command()
@click.option("--only", multiple=True, metavar="PACKAGE", help="Only models of this package; may be repeated.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder of what can be made again.")
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md.")
def main(only: tuple[str, ...], cache: Path | None, write_results: bool) -> None:
    """Plant every fault, compare, and print the table."""
    place = cache_folder(cache)
    install_dependencies(place, CASES / "dependencies.txt", TORCHVISION)
    lines = [HEADER]
    click.echo(HEADER)
    for model in models():
        if not only or model.package in only:
            with tempfile.TemporaryDirectory() as folder:
                for line in rows(model, place, Path(folder)):
                    click.echo(line)
                    lines.append(line)
    if write_results:
        said = f"`python benchmarks/planted.py`. {environment('torch', 'paddlepaddle')}\n\n{CAVEAT}"
        write_section("planted", "\n".join(["## Planted faults that `compare` finds\n", said, "", *lines]))


def rows(model: Model, cache: Path, folder: Path) -> list[str]:
    """The lines of the table about one model: without a fault, and with each."""
    package = next(one for one in packages() if one.name == model.package)
    tree = distribution_folder(cache, package.requirement)
    source, output = folder / "source", folder / "converted"
    for name in model.files or (model.file.partition("/")[0],):
        copy = shutil.copytree if (tree / name).is_dir() else shutil.copy
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        copy(tree / name, source / name)
    run([*PADDLETORCH, "convert", "--to", package.to, "--output", str(output), str(source)], good=(0, 1))
    made = []
    for fault in (None, *model.faults):
        planted = range(0)
        kept = {side: (side / model.file).read_text() for side in (source, output)}
        if fault is not None:
            for side in (source, output) if fault.both else (output,):
                planted = _replace(side / model.file, fault.old, fault.new)
        found = compared(model, package.to, source, output, cache)
        made.append(_line(model, package.requirement, package.to, fault, planted, found))
        if fault is None and found["outcome"] != "equal":
            break  # what is planted cannot be told from what is wrong anyway
        for side, text in kept.items():
            (side / model.file).write_text(text)
    return made


def _replace(file: Path, old: str, new: str) -> range:
    """The lines of what was replaced."""
    text = file.read_text()
    if text.count(old) != 1:
        raise ValueError(f"{file} has {text.count(old)} times {old!r}")
    file.write_text(text.replace(old, new))
    first = text[: text.index(old)].count("\n") + 1
    return range(first, first + new.rstrip("\n").count("\n") + 1)


def compared(model: Model, to: str, source: Path, output: Path, cache: Path) -> dict[str, Any]:
    """What ``paddletorch compare`` reports."""
    name = f"{model.file.removesuffix('.py').replace('/', '.')}:{model.name}"
    command = [*PADDLETORCH, "compare", "--to", to, "--source", f"{source}/{name}", "--converted", f"{output}/{name}"]
    command += ["--args", model.arguments, "--input", model.shape, "--format", "json"]
    done = subprocess.run(command, env=environ(dependencies(cache)), capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise RuntimeError(f"{name}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)["pairs"][0]
    return found


def _line(model: Model, requirement: str, to: str, fault: Fault | None, planted: range, found: dict[str, Any]) -> str:
    start = f"| {requirement} | {to} | {model.name} | {fault.kind if fault else 'none'} | {found['outcome']} |"
    named = found["fault"]
    if named is None:
        return f"{start} | | | |"
    if fault is None:
        return f"{start} {named['message']} | | | |"
    right = "yes" if named["layer"] == fault.layer else f"no, {fault.layer}"
    place = named["converted"]
    lines = range(place["line"], place["end_line"] + 1) if place and place["path"].endswith(model.file) else range(0)
    among = "yes" if set(lines) & set(planted) else "no"
    return f"{start} {named['layer'] or 'the model'}, {named['what']} | {right} | {len(lines)} | {among} |"


if __name__ == "__main__":
    main()
