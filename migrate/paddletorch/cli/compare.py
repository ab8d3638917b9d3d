"""``paddletorch compare``: a model and what it became, run side by side and compared layer by layer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from paddletorch.cli.error import Interrupted, Refusal, require_framework
from paddletorch.cli.settings import RunSettings
from paddletorch.model import FileResult, Framework

if TYPE_CHECKING:
    from paddletorch.comparison.comparison import Compared, Pair, Result


@click.command()
@click.option("--source", required=True, metavar="MODEL", help="[FOLDER/]PACKAGE.MODULE:NAME, FILE.py:NAME or FOLDER.")
@click.option("--converted", required=True, metavar="MODEL", help="What it became, in the same form.")
@click.option(
    "--module",
    "modules",
    multiple=True,
    metavar="PACKAGE.MODULE:NAME",
    help="The model in both, if --source and --converted are folders; may be repeated.",
)
@click.option("--to", type=click.Choice(get_args(Framework)), help="The framework of the converted model.")
@click.option("--args", "arguments", metavar="JSON", default="", help="Its arguments: a list, or keywords.")
@click.option("--converted-args", "converted_arguments", metavar="JSON", help="By default those of --args.")
@click.option("--input", "inputs", metavar="2x3x32x32[:DTYPE]", multiple=True, help="Random input; may be repeated.")
@click.option("--optimizer", metavar="[MODULE:]NAME", help="A function of both sides that takes the model.")
@click.option("--loss", metavar="[MODULE:]NAME", help="A function of both sides that takes what the model returns.")
@click.option("--scaler", metavar="[MODULE:]NAME", help="A function of both sides that makes a loss scaler.")
@click.option("--train-step", metavar="[MODULE:]NAME", help="A function of both sides that does a whole training step.")
@click.option("--steps", default=3, show_default=True, type=click.IntRange(0), help="Steps of the optimizer.")
@click.option("--tolerance", type=click.FloatRange(min=0, min_open=True), help="In place of those by dtype.")
@click.option("--seconds", default=600.0, show_default=True, type=click.FloatRange(min=0, min_open=True), help="A run.")
@click.option("--no-second-look", is_flag=True, help="Do not look a second time, in float64.")
@click.option("--format", "form", default="text", type=click.Choice(["text", "json"]), help="Of the report on stdout.")
@click.option(
    "--report",
    "reports",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write the report to FILE.html or FILE.json; may be repeated.",
)
@click.option("--tables", multiple=True, metavar="FILE", help="TOML table to put before the built-in ones.")
@click.option("--trust", is_flag=True, help="Use all settings: of other users, naming files elsewhere, above limits.")
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    source: str,
    converted: str,
    modules: tuple[str, ...],
    reports: tuple[Path, ...],
    **given: Any,
) -> None:
    """Run a model and what it became on the same inputs and weights, and compare them layer by layer.

    NAME is a class or a function that makes the model. Of two folders without --module, each file is a model that has
    functions build() and example_inputs(); its loss(), optimizer(), scaler() and train_step() are used as well.

    Both run in processes of their own, on the CPU and without dropout: forward and backward, in both modes, and some
    steps of the optimizer, in float32 and again in float64. The weights are carried over as by 'state convert'. The
    first layer that differs is named, with the lines on both sides and the findings on them.

    Exit code: 0 all equal; 1 something differs, or the converted model fails; 2 the source's model cannot be run, or
    the command was not understood.
    """
    from paddletorch.comparison.comparison import UnusablePair
    from paddletorch.comparison.report import exit_code, json_text, text_lines

    _check_reports(reports)
    pairs = _pairs(source, converted, modules, given)
    for framework in get_args(Framework):
        require_framework(framework, "one of the two models runs on it")
    modes = ("float32",) if given["no_second_look"] else ("float32", "float64")
    found: list[Compared] = []
    try:
        for pair, results in pairs:
            from paddletorch.comparison.comparison import compare as compare_pair

            found.append(compare_pair(pair, results, modes))
            if given["form"] == "text":
                click.echo("\n".join(text_lines(found[-1])))
    except UnusablePair as error:
        raise Refusal(str(error)) from error
    except KeyboardInterrupt as stop:
        raise Interrupted("nothing was written", stop) from None
    if given["form"] == "json":
        click.echo(json_text(found))
    _write(reports, found)
    ctx.exit(exit_code(found))


def _check_reports(files: Sequence[Path]) -> None:
    for file in files:
        if file.suffix not in (".html", ".json"):
            raise click.UsageError(f"--report {file}: the name must end in .html or .json")
        if not file.parent.is_dir():
            raise click.UsageError(f"--report {file}: no such folder: {file.parent}")


def _write(files: Sequence[Path], found: Sequence[Compared]) -> None:
    from paddletorch.comparison.html import page
    from paddletorch.comparison.report import json_text
    from paddletorch.model.failure import reason
    from paddletorch.output.write import write_whole

    for file in files:
        text = page(found) if file.suffix == ".html" else json_text(found)
        try:
            write_whole(file, f"{text}\n".encode())
        except OSError as error:
            raise Refusal(f"--report {file}: {reason(error)}") from error


def _pairs(source: str, converted: str, modules: Sequence[str], given: dict[str, Any]) -> list[tuple[Pair, Result]]:
    from paddletorch.comparison.comparison import Pair, folder_of

    folder = source if Path(source).is_dir() else folder_of(source)
    settings = RunSettings(given, [folder])
    target = settings.base(settings.config(folder)).target
    from paddletorch.comparison.cases import OWN_FUNCTIONS

    options = ("arguments", "converted_arguments", "inputs", *OWN_FUNCTIONS, "steps", "tolerance", "seconds")
    values = {name: given[name] for name in options}
    results = _results(settings)
    if Path(source).is_dir() and Path(converted).is_dir() and not modules:
        wanted = {name: value for name, value in values.items() if value is not None}
        return [(Pair(target=target, **{**found, **wanted}), results) for found in _cases(source, converted)]
    names = [(_model("--source", source), _model("--converted", converted))]
    if modules:
        if not Path(source).is_dir() or not Path(converted).is_dir():
            raise click.UsageError("--module is a model of two folders: --source and --converted must be these")
        names = [(f"{source}/{module}", f"{converted}/{module}") for module in modules]
    if not all(":" in one for pair in names for one in pair):
        raise click.UsageError("say which model: PACKAGE.MODULE:NAME")
    return [(Pair(one, other, target, **values), results) for one, other in names]


def _cases(source: str, converted: str) -> list[dict[str, str]]:
    """The models of two folders that say themselves how they are compared."""
    from paddletorch.comparison.cases import BUILD, OWN_FUNCTIONS, cases_in

    found = []
    for case in cases_in(Path(source)):
        own = {name: name for name in OWN_FUNCTIONS if case.named(name)}
        places = {
            side: f"{folder}/{case.module}:{BUILD}" for side, folder in (("source", source), ("converted", converted))
        }
        found.append({**places, **own})
    if not found:
        raise click.UsageError(
            f"no file in {source} has functions build() and example_inputs(): say which model, with --module"
        )
    return found


def _model(option: str, text: str) -> str:
    """A model as [FOLDER/]PACKAGE.MODULE:NAME; that of a file is called ``build`` if nothing else is said."""
    place, _, name = text.partition(":")
    if place.endswith(".py"):
        if not Path(place).is_file():
            raise click.UsageError(f"{option} {text}: no such file: {place}")
        return f"{place.removesuffix('.py')}:{name or 'build'}"
    if ":" in text and not re.fullmatch(r"\w+(\.\w+)*", place.rpartition("/")[2]):
        raise click.UsageError(f"{option} {text}: {place.rpartition('/')[2]!r} is no name of a module")
    return text


def _results(settings: RunSettings) -> Result:
    from paddletorch.batch.one_file import converter_for
    from paddletorch.cli.evidence import evidence_of
    from paddletorch.origins.origin import shown

    known: dict[Path, FileResult | None] = {}

    def result(path: Path) -> FileResult | None:
        if path not in known:
            known[path] = None
            if path.is_file():
                converter = converter_for(settings.options(str(path)))
                evidence = evidence_of(settings, str(path))
                known[path] = converter.convert(path.read_bytes(), shown(str(path)), evidence=evidence).file
        return known[path]

    return result
