"""``paddletorch run``: a program on the other framework, with no file changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, get_args

import click

from paddletorch.cli.error import require_framework
from paddletorch.cli.settings import RunSettings, known_codes
from paddletorch.model import Framework, ShimMode
from paddletorch.report.printable import printable


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--on", "to", type=click.Choice(get_args(Framework)), help="The framework to run on.")
@click.option("-m", "is_module", is_flag=True, help="SCRIPT is the name of a module, as for python -m.")
@click.option(
    "--package",
    "packages",
    multiple=True,
    metavar="NAME",
    help="Convert this package too, wherever it is installed; may be repeated.",
)
@click.option(
    "--allow",
    multiple=True,
    metavar="CODE",
    help="Run in spite of findings with this code, area or prefix; may be repeated.",
)
@click.option("--source-version", metavar="RELEASE", help='Release the code is for: "3.3", ">=2.6,<3", "installed".')
@click.option("--target-version", metavar="RELEASE", help="Release to run on, in the same form.")
@click.option("--unsafe/--no-unsafe", default=None, help="Also convert what is likely right but not sure.")
@click.option("--shim", type=click.Choice(get_args(ShimMode)), help="Use the runtime shim [default: auto].")
@click.option("--tables", multiple=True, metavar="FILE", help="TOML table to put before the built-in ones.")
@click.option("--trust", is_flag=True, help="Use all settings: of other users, naming files elsewhere, above limits.")
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]...")
def run(
    script: str,
    arguments: tuple[str, ...],
    is_module: bool,
    packages: tuple[str, ...],
    allow: tuple[str, ...],
    **given: Any,
) -> Callable[[], NoReturn]:
    """Run SCRIPT, a file or a folder with a __main__.py, on the other framework, with ARGS.

    The script and the modules below its folder are converted when they are imported; no file is changed. Packages
    that are installed stay as they are, unless --package names them. A module that cannot be converted safely is an
    error where it is imported; what was converted and should be looked at is a warning.
    Settings are read from the settings file nearest to SCRIPT; those about files and reports do not apply.

    Exit code: that of the program; 1 the script cannot be converted safely; 2 there is nothing to run, or the
    command was not understood.
    """
    path = str(Path.cwd() / "__main__.py") if is_module else script
    settings = RunSettings(given, [path])
    config = settings.file_config(path)
    for remark in settings.remarks():
        click.echo(f"Note: {printable(remark)}", err=True)
    if not settings.says_direction(config):
        raise click.UsageError("say where to run: --on paddle or --on torch (or 'to' in a settings file)")
    options = settings.options(path)
    require_framework(options.target, "the program is to run on it")
    from paddletorch_shim.importhook.program import Program
    from paddletorch_shim.importhook.settings import Settings

    hook = Settings(
        replace(
            options,
            select=(),
            ignore=(),
            annotate=False,
            shim=given["shim"] or config.shim or "auto",  # the program runs with paddletorch anyway
            tables=tuple(str(Path(table).absolute()) for table in options.tables),
        ),
        packages=packages,
        # what the settings leave out of reports is of no matter here either
        allow=(*known_codes("--allow", allow, options.tables), *options.ignore),
    )
    return Program(hook, script, arguments, is_module).run
