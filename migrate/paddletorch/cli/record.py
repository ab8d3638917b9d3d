"""``paddletorch record``: runs a program as it is, and notes what a conversion cannot know about it."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, get_args

import click

from paddletorch.cli.error import Refusal
from paddletorch.inputs.config import ConfigError
from paddletorch.model import Framework
from paddletorch.model.failure import reason

if TYPE_CHECKING:
    from paddletorch_shim.importhook.settings import Settings
    from paddletorch_shim.recording.command import Command


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--to", type=click.Choice(get_args(Framework)), help="The framework that the program is to go to.")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False),
    help="The project's top folder [default: the nearest one with a .git, pyproject.toml or the like].",
)
@click.option("--fresh", is_flag=True, help="Forget the evidence of earlier runs.")
@click.option("--quiet", is_flag=True, help="Say nothing in the end.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="-- COMMAND [ARGS]...")
def record(
    arguments: tuple[str, ...], to: Framework | None, root: str | None, fresh: bool, quiet: bool
) -> Callable[[], NoReturn]:
    """Run COMMAND as it is, and note what `paddletorch convert` cannot know about it.

    COMMAND is `python FILE`, `python -m MODULE`, FILE.py or `pytest`, with its arguments. It runs unchanged, on its own
    framework, while the expressions that a conversion would leave open are looked at: types, dtypes, ranks, whether
    a tensor is shared, and no values. The evidence goes into .paddletorch/evidence.json in the project's top folder,
    beside that of earlier runs; convert finds it there.

    Exit code: that of the program; 2 there is nothing to run, or the command was not understood.
    """
    from paddletorch_shim.recording.command import CommandError, parse

    try:
        wanted = parse(arguments)
    except CommandError as error:
        raise Refusal(str(error)) from error
    if wanted.options:
        return partial(_begin_again, wanted, to, root, fresh, quiet)
    if wanted.kind == "script" and not Path(wanted.name).exists():
        raise Refusal(f"cannot open {wanted.name}: there is no such file")
    top = _top(wanted, root)
    if wanted.kind == "pytest":
        return partial(_run_pytest, wanted, to, str(top), fresh, quiet)
    return _program(wanted, _settings(wanted, top, to, fresh), quiet)


def _top(wanted: Command, root: str | None) -> Path:
    """The project's top folder.

    Raises:
        Refusal: the program is not in it.
    """
    from paddletorch_shim.recording.project import project_of

    start = Path.cwd()
    if wanted.kind == "script":
        path = Path(wanted.name).resolve()
        start = path if path.is_dir() else path.parent
    top = project_of(start) if root is None else Path(root).resolve()
    if not start.is_relative_to(top) and wanted.kind == "script":
        raise Refusal(f"{wanted.name} is not below --root {root}: only what lies there is recorded")
    return top


def _settings(wanted: Command, top: Path, to: Framework | None, fresh: bool) -> Settings:
    from paddletorch_shim.recording.project import UnknownDirection, options_for
    from paddletorch_shim.recording.session import NoFramework, settings_for

    program = Path(wanted.name) if wanted.kind == "script" and Path(wanted.name).is_file() else None
    try:
        return settings_for(top, options_for(top, to, program), fresh=fresh)
    except UnknownDirection as error:
        raise click.UsageError(str(error)) from error
    except (ConfigError, NoFramework, ValueError) as error:
        raise Refusal(str(error)) from error
    except OSError as error:
        raise Refusal(f"{top}: the evidence cannot be written: {reason(error)}") from error


def _program(wanted: Command, settings: Settings, quiet: bool) -> Callable[[], NoReturn]:
    from paddletorch_shim.importhook.program import Program
    from paddletorch_shim.recording.recorder import recorder_for

    if not quiet:
        # before the recorder asks to be called in the end, which is then called first
        atexit.register(_say, os.getpid(), lambda: recorder_for(settings.root, settings.options.source).summary())
    return Program(settings, wanted.name, wanted.arguments, wanted.is_module).run


def _say(process: int, summary: Callable[[], str]) -> None:
    if os.getpid() == process and sys.stderr is not None:  # not in what it forked
        print(f"paddletorch: {summary()}", file=sys.stderr)


def _run_pytest(wanted: Command, to: Framework | None, root: str, fresh: bool, quiet: bool) -> NoReturn:
    """Let pytest record, by its plugin."""
    options = ["-p", "paddletorch_shim.recording.pytest_plugin", "--paddletorch-record"]
    options += [f"--paddletorch-record-root={root}", *(["--paddletorch-record-fresh"] if fresh else [])]
    options += ["--paddletorch-record-quiet"] if quiet else []
    options += [f"--paddletorch-record-to={to}"] if to else []
    try:
        import pytest
    except ImportError:
        print("paddletorch: pytest is not installed here", file=sys.stderr)
        sys.exit(2)
    sys.argv[:] = [wanted.name, *options, *wanted.arguments]
    if wanted.is_module:
        sys.path[0] = str(Path.cwd())
    else:
        sys.path[0] = str(Path(sys.executable).parent)
    sys.exit(pytest.console_main())


def _begin_again(wanted: Command, to: str | None, root: str | None, fresh: bool, quiet: bool) -> NoReturn:
    """Start an interpreter with the options that the command gives its own."""
    own = [*(["--to", to] if to else []), *(["--root", root] if root else [])]
    own += [name for name, given in (("--fresh", fresh), ("--quiet", quiet)) if given]
    program = ["python", *(["-m"] if wanted.is_module else []), wanted.name, *wanted.arguments]
    words = [sys.executable, *wanted.options, "-m", "paddletorch", "record", *own, "--", *program]
    if os.name != "nt":
        os.execv(sys.executable, words)
    import subprocess

    sys.exit(subprocess.run(words, check=False).returncode)
