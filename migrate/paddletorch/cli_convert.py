"""``paddletorch convert``: options and settings in, files and a report out."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click

from paddletorch.cli_error import Interrupted, Refusal, nearest
from paddletorch.config import Config, ConfigError, load_config
from paddletorch.model import FileResult, Framework, Options, ShimMode, Status


@click.command()
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--to", type=click.Choice(get_args(Framework)), help="The framework to convert to.")
@click.option("--diff", is_flag=True, help="Print what would change as a unified diff; the report goes to stderr.")
@click.option("--write", is_flag=True, help="Edit the files in place.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write a converted copy of the tree to DIR.",
)
@click.option("--source-version", metavar="RELEASE", help='Release the code is for: "3.3", ">=2.6,<3", "installed".')
@click.option("--target-version", metavar="RELEASE", help="Release to convert to, in the same form.")
@click.option(
    "--select",
    multiple=True,
    metavar="CODE",
    help="Only this area (AMP), code (AMP101) or prefix (AMP1); may be repeated.",
)
@click.option("--ignore", multiple=True, metavar="CODE", help="All but this area, code or prefix; may be repeated.")
@click.option("--unsafe/--no-unsafe", default=None, help="Also convert what is likely right but not sure.")
@click.option("--annotate/--no-annotate", default=None, help="Put a comment above each use that is left.")
@click.option("--shim", type=click.Choice(get_args(ShimMode)), help="Use the runtime shim [default: never].")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out, in gitignore syntax; may be repeated.")
@click.option("--no-gitignore", is_flag=True, help="Also take what .gitignore leaves out.")
@click.option("--tables", multiple=True, metavar="FILE", help="TOML table to put before the built-in ones.")
@click.option("--stdin-filename", metavar="NAME", help="Name for the source that is read with '-'.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Form of the report.")
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes at most [default: one per CPU].")
@click.option("-q", "--quiet", is_flag=True, help="Findings only: no conversions, summary or progress.")
@click.pass_context
def convert(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Convert PATHS, files or folders (default: the current folder), to the other framework.

    Without --write, --output or --diff the files are only reported on. '-' reads the source from stdin and
    writes it, converted, to stdout (as it came, if that fails); the report then goes to stderr.
    Settings are read from [tool.paddletorch] in pyproject.toml; the command line goes before them.

    Exit code: 0 nothing is left to do; 1 findings are left, or files would change; 2 a file failed, or
    the command was not understood.
    """
    paths = paths or (".",)
    _check_combination(paths, given)
    stdin = paths == ("-",)
    try:
        config = load_config(Path("." if stdin else paths[0]))
    except ConfigError as error:
        raise Refusal(str(error)) from error
    options = _options(given, config)
    from paddletorch.single import engine_for

    try:
        engine_for(options)
    except ValueError as error:  # a table or a release specifier
        raise Refusal(str(error)) from error
    request = _Request(paths, given, config, options)
    ctx.exit(_convert_stdin(request) if stdin else _convert_paths(request))


@dataclass(frozen=True, slots=True)
class _Request:
    paths: tuple[str, ...]
    given: dict[str, Any]
    config: Config
    options: Options

    @property
    def mode(self) -> str:
        """What happens to the converted text."""
        if self.paths == ("-",):
            return "stdin"
        return next((mode for mode in ("write", "output", "diff") if self.given[mode]), "report")

    @property
    def applied(self) -> bool:
        """Whether the converted text goes where it is wanted, rather than being shown."""
        return self.mode in ("write", "output") or (self.mode == "stdin" and not self.given["diff"])


def _check_combination(paths: tuple[str, ...], given: dict[str, Any]) -> None:
    if given["write"] and given["output"]:
        raise click.UsageError("--write edits in place, --output makes a copy: give one of them")
    if given["diff"] and given["form"] == "json":
        raise click.UsageError("--diff and --format json both want stdout: give one of them")
    if "-" in paths:
        if len(paths) > 1:
            raise click.UsageError("'-' (stdin) cannot be given together with other paths")
        if given["write"] or given["output"]:
            raise click.UsageError("'-' writes to stdout: --write and --output do not go with it")
    elif given["stdin_filename"]:
        raise click.UsageError("--stdin-filename goes with '-' only")


def _options(given: dict[str, Any], config: Config) -> Options:
    def setting(name: str, default: Any) -> Any:
        """The command line's word, else the settings file's, else ``default``."""
        if given[name] not in (None, ()):
            return given[name]
        configured = getattr(config, name)
        return default if configured is None else configured

    target = setting("to", None)
    if target is None:
        raise click.UsageError("say where the code goes: --to paddle or --to torch (or 'to' in [tool.paddletorch])")
    tables = tuple(setting("tables", ()))
    return Options(
        target=target,
        source_version=setting("source_version", None),
        target_version=setting("target_version", None),
        select=_codes("select", setting("select", ()), tables),
        ignore=_codes("ignore", setting("ignore", ()), tables),
        unsafe=setting("unsafe", False),
        annotate=setting("annotate", False),
        shim=setting("shim", "never"),
        tables=tables,
    )


def _codes(name: str, values: Sequence[str], tables: tuple[str, ...]) -> tuple[str, ...]:
    """Split, check and normalise the values of ``select`` or ``ignore``."""
    wanted = [code.strip().upper() for value in values for code in value.split(",") if code.strip()]
    if not wanted:
        return ()
    from paddletorch_rules import TableError, load

    try:
        table = load(tables)
    except TableError as error:
        raise Refusal(str(error)) from error
    known = {row.code for row in table.rows} | set(table.diagnostics)
    areas = {code.rstrip("0123456789") for code in known}
    for code in wanted:
        if code.rstrip("0123456789") not in areas or not any(full.startswith(code) for full in known):
            near = nearest(code, areas | known)
            raise click.UsageError(f"--{name}: no such code or area: {code}{near}")
    return tuple(dict.fromkeys(wanted))


def _convert_stdin(request: _Request) -> int:
    from paddletorch.report.diff import unified_diff
    from paddletorch.single import Source, convert, engine_for

    path = request.given["stdin_filename"] or "<stdin>"
    data = sys.stdin.buffer.read()
    if engine_for(request.options).may_hit(data):
        result = convert(Source(path, data), request.options)
    else:
        result = FileResult(path, Status.CLEAN, data, data)
    if request.given["diff"]:
        _write_stdout(unified_diff(result, colour=_colour()))
    else:
        _write_stdout(data if result.status is Status.FAILED else result.output)
    return _report(request, [result], scanned=1)


def _convert_paths(request: _Request) -> int:
    from paddletorch.discover import Scope, discover
    from paddletorch.gitignore import ExcludeError
    from paddletorch.output import OutputError, check_output, copy_tree
    from paddletorch.run import run

    given = request.given
    gitignore = not given["no_gitignore"]
    patterns, base = (given["exclude"], ".") if given["exclude"] else (request.config.exclude, request.config.folder)
    scope = Scope(tuple(patterns or ()), str(base), gitignore)
    try:
        if given["output"]:
            check_output(request.paths, given["output"])
        found = discover(request.paths, scope)
        ran = run(found.files, request.options, jobs=given["jobs"] or _cpus(), progress=not given["quiet"])
        results = [*ran.results, *found.failures]
        if given["output"]:
            results = copy_tree(request.paths, given["output"], results, Scope(gitignore=gitignore))
    except KeyboardInterrupt:
        raise Interrupted("no file was changed") from None
    except (OutputError, ExcludeError) as error:
        raise Refusal(str(error)) from error
    if given["write"]:
        results = _write(results)
    if given["diff"]:
        from paddletorch.report.diff import unified_diff

        for result in results:
            _write_stdout(unified_diff(result, colour=_colour()))
    return _report(request, results, scanned=ran.scanned, unfollowed=found.unfollowed)


def _write(results: list[FileResult]) -> list[FileResult]:
    from paddletorch.write import write_back

    written: list[FileResult] = []
    try:
        for result in results:
            written.append(write_back(result) if result.status is Status.CONVERTED else result)
    except KeyboardInterrupt:
        done = sum(result.status is Status.CONVERTED for result in written)
        raise Interrupted(f"{done} files were written, each of them whole") from None
    return written


def _report(request: _Request, results: Sequence[FileResult], *, scanned: int, unfollowed: Sequence[str] = ()) -> int:
    from paddletorch.report.summary import summarise

    given, options = request.given, request.options
    summary = summarise(results, options, scanned=scanned, applied=request.applied, unfollowed=unfollowed)
    # stdout belongs to the diff or the converted source where there is one
    to_stderr = given["diff"] or request.mode == "stdin"
    if given["form"] == "json":
        from paddletorch.report.json import render

        click.echo(render(results, summary, options, request.mode), err=to_stderr)
        return summary.exit_code
    from paddletorch.report.text import finding_lines, summary_lines

    lines = list(finding_lines(results, conversions=request.mode == "report" and not given["quiet"]))
    if not given["quiet"]:
        lines += [*([""] if lines else []), *summary_lines(summary, options)]
    if lines:
        click.echo("\n".join(lines), err=to_stderr)
    return summary.exit_code


def _write_stdout(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _colour() -> bool:
    wanted = click.get_current_context().color
    return sys.stdout.isatty() if wanted is None else wanted


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
