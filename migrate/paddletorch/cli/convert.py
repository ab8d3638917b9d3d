"""``paddletorch convert``: options and settings in, files and a report out."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import click

from paddletorch.cli.baseline import Baselines
from paddletorch.cli.error import Interrupted, Refusal
from paddletorch.cli.settings import RunSettings
from paddletorch.cli.show import Request, show_report, write_diff, write_stdout
from paddletorch.model import FileResult, Framework, InitialValues, Options, ShimMode, Status
from paddletorch.report.forms import Form, form_of

_FORMATS = ("text", "full", *get_args(Form))


class _NamesApart(click.Command):
    """A command that takes no option that is the name of a file too, as ``*`` of a shell or a hook may give it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for argument in args if "--" not in args else ():
            if argument.startswith("-") and argument != "-" and os.path.lexists(argument):
                raise click.UsageError(
                    f"{argument} is an option, and a file is called so too: put -- before the names of files", ctx
                )
        return super().parse_args(ctx, args)


@click.command(cls=_NamesApart)
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
@click.option("-i", "--interactive", is_flag=True, help="Ask about each change, as git add -p does; edit in place.")
@click.option("--watch", is_flag=True, help="Run again whenever a file changes, until Ctrl-C.")
@click.option("--try", "tries", is_flag=True, help="With --output: import each module of the copy, as the command try.")
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
@click.option("--verify/--no-verify", default=None, help="Convert each result again; one that would change fails.")
@click.option("--annotate/--no-annotate", default=None, help="Put a comment above each use that is left.")
@click.option("--shim", type=click.Choice(get_args(ShimMode)), help="Use the runtime shim [default: never].")
@click.option(
    "--initial-values",
    type=click.Choice(get_args(InitialValues)),
    help="Whose default initial values layers get: 'source' writes initializers out [default: target].",
)
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out, in gitignore syntax; may be repeated.")
@click.option("--force-exclude", is_flag=True, help="Exclude also files that are named one by one, as hooks name them.")
@click.option("--follow-links", is_flag=True, help="Take, and with --write change, what links to elsewhere lead to.")
@click.option("--no-gitignore", is_flag=True, help="Also take what .gitignore leaves out.")
@click.option("--markdown/--no-markdown", default=None, help="Also take fenced Python of Markdown files in folders.")
@click.option(
    "--project-files/--no-project-files",
    default=None,
    help="Also change requirements, and the commands of scripts, where there is an exact counterpart.",
)
@click.option("--tables", multiple=True, metavar="FILE", help="TOML table to put before the built-in ones.")
@click.option("--max-file-size", type=click.IntRange(min=0), metavar="BYTES", help="Leave larger files [16000000].")
@click.option(
    "--max-file-seconds",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Leave a file that takes more CPU time [60]; 0: no limit, as of the size.",
)
@click.option("--trust", is_flag=True, help="Use all settings: of other users, naming files elsewhere, above limits.")
@click.option("--baseline", metavar="FILE", help="Count findings that FILE knows, without showing them.")
@click.option("--write-baseline", is_flag=True, help="Write the findings of this run into the baseline.")
@click.option(
    "--evidence",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What recorded runs showed [the nearest .paddletorch/evidence.json].",
)
@click.option("--no-evidence", is_flag=True, help="Convert by what the files show, whatever was recorded.")
@click.option("--stdin-filename", metavar="NAME", help="Name for the source that is read with '-'.")
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="text",
    help="Form of the report on stdout: full is a line for each finding and conversion.",
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write the report to FILE.html, FILE.sarif or FILE.json; may be repeated.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes at most [default: one per CPU].")
@click.option("--no-cache", is_flag=True, help="Convert every file anew, and keep no results for the next run.")
@click.option("--coverage", is_flag=True, help="List the API names that are left, the most frequent first.")
@click.option("--statistics", is_flag=True, help="Count the findings by code instead of listing them.")
@click.option("-v", "--verbose", is_flag=True, help="Also list what is, or would be, converted.")
@click.option("-q", "--quiet", is_flag=True, help="Findings only: no notes, summary or progress.")
@click.pass_context
def convert(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Convert PATHS, files or folders (default: the current folder), to the other framework.

    Folders are searched for Python files and notebooks; fenced Python in a Markdown file is converted where the
    file is given by name.

    Without --write, --output or --diff the files are only reported on. '-' reads the source from stdin and
    writes it, converted, to stdout (as it came, if that fails); the report then goes to stderr.
    Settings are read from paddletorch.toml or [tool.paddletorch] in pyproject.toml, for each file from the
    nearest one; the command line goes before them. 'paddletorch config' shows them.

    Exit code: 0 nothing is left to do; 1 findings are left, or files would change; 2 a file failed, or
    the command was not understood.
    """
    paths = paths or (".",)
    if given["interactive"]:
        from paddletorch.cli.interactive import check_interactive

        check_interactive(paths, given)
        given["write"] = True
    _check_combination(paths, given)
    _check_reports(given["reports"])
    request = Request(paths, given, RunSettings(given, _named(paths, given)))
    if given["watch"]:
        from paddletorch.cli.watch import watch

        ctx.exit(watch(paths, given, lambda: _convert_paths(Request(paths, given, RunSettings(given, paths)))))
    ctx.exit(_convert_stdin(request) if paths == ("-",) else _convert_paths(request).code)


class Ran(NamedTuple):
    """What one run gives."""

    code: int
    """The exit code."""
    written: dict[str, bytes]
    """What was put over files, by real path, if they are watched."""


_PART = 1_000_000
"""Bytes of stdin that are copied at once, if there are more than may be converted."""


def _named(paths: tuple[str, ...], given: dict[str, Any]) -> tuple[str, ...]:
    return paths if paths != ("-",) else tuple(filter(None, [given["stdin_filename"]]))


def _check_combination(paths: tuple[str, ...], given: dict[str, Any]) -> None:
    if given["write"] and given["output"]:
        raise click.UsageError("--write edits in place, --output makes a copy: give one of them")
    if given["tries"] and not given["output"]:
        raise click.UsageError("--try imports a converted copy: it needs --output DIR (else see paddletorch try)")
    if given["follow_links"] and given["output"]:
        raise click.UsageError("--output copies links as links: --follow-links does not go with it")
    if given["diff"] and given["form"] not in ("text", "full"):
        raise click.UsageError(
            f"--diff and --format {given['form']} both want stdout: give one of them, or --report FILE"
        )
    if given["statistics"] and given["quiet"]:
        raise click.UsageError("--statistics counts what --quiet lists: give one of them")
    if given["evidence"] and given["no_evidence"]:
        raise click.UsageError("--evidence names what --no-evidence leaves out: give one of them")
    if given["form"] == "html" and (sys.stderr if "-" in paths else sys.stdout).isatty():
        raise click.UsageError("--format html is for a browser: write it to a file, --report FILE.html")
    if given["write_baseline"] and (given["write"] or given["output"] or given["diff"] or "-" in paths):
        raise click.UsageError("--write-baseline is for a run that only reports: convert first")
    if "-" in paths:
        if len(paths) > 1:
            raise click.UsageError("'-' (stdin) cannot be given together with other paths")
        if given["write"] or given["output"]:
            raise click.UsageError("'-' writes to stdout: --write and --output do not go with it")
    elif given["stdin_filename"]:
        raise click.UsageError("--stdin-filename goes with '-' only")


def _check_reports(files: Sequence[Path]) -> None:
    """What is wrong with the names of the reports is said before the run, not after it."""
    for file in files:
        try:
            form_of(file)
        except ValueError as error:
            raise click.UsageError(f"--report {file}: {error}") from error
        if file.is_dir() or not file.parent.is_dir():
            problem = "is a folder" if file.is_dir() else f"no such folder: {file.parent}"
            raise click.UsageError(f"--report {file}: {problem}")


def _convert_stdin(request: Request) -> int:
    from paddletorch.batch.one_file import UnusableOptions, converter_for
    from paddletorch.cli.evidence import ProjectEvidence
    from paddletorch.inputs.discover import FileFilter, leaves_out
    from paddletorch.inputs.read import read_limited

    name = request.given["stdin_filename"]
    path = name or "<stdin>"
    options = request.settings.options(path)
    try:
        converter = converter_for(options)
    except UnusableOptions as error:
        raise Refusal(str(error)) from error
    left_out = request.given["force_exclude"] and name and leaves_out(FileFilter(request.settings.exclusion), name)
    if sys.stdin is None:
        raise Refusal("stdin is closed, and the source is read from there")
    baselines = Baselines(request.settings, [name] if name else [], writing=False)
    evidence = ProjectEvidence(request.settings, request.given, [name] if name else [])
    data = read_limited(sys.stdin.buffer, options.max_file_size)
    converted = None if left_out else converter.convert(data, path, evidence=evidence.by_path.get(path))
    result = FileResult(path, Status.CLEAN, data, data) if converted is None else converted.file
    if request.given["diff"]:
        write_diff([result])
    else:
        write_stdout(data if result.status is Status.FAILED else result.output)
        while rest := sys.stdin.buffer.read(_PART):  # of a source that is too large
            write_stdout(rest)
    results, remarks = baselines.apply([result])
    remarks += [*request.settings.remarks(), *evidence.remarks(results)]
    return show_report(request, options, results, scanned=1, remarks=remarks)


def _convert_paths(request: Request) -> Ran:
    from paddletorch.batch.one_file import UnusableOptions, converter_for
    from paddletorch.batch.run import run_each
    from paddletorch.cli.evidence import ProjectEvidence
    from paddletorch.inputs.discover import FileFilter, discover
    from paddletorch.inputs.gitignore import ExcludeError
    from paddletorch.output.error import OutputError

    given, settings = request.given, request.settings
    gitignore = not given["no_gitignore"]
    try:
        if given["output"]:
            from paddletorch.output.copy_tree import check_output

            check_output(request.paths, given["output"])
        follow = given["follow_links"]
        wanted_files = FileFilter(
            settings.exclusion,
            gitignore,
            given["force_exclude"],
            settings.takes_markdown,
            project_files=True,
            file_links=follow or not given["write"],
            folder_links=follow,
        )
        found = discover(request.paths, wanted_files)
        options = settings.overall(request.paths[0], found.files)
        if not found.files:
            converter_for(options)  # to say what is wrong with the tables
        baselines = Baselines(settings, found.files, writing=given["write_baseline"])
        evidence = ProjectEvidence(settings, given, found.files)
        ran = run_each(
            found.files,
            settings.options,
            jobs=given["jobs"] or _cpus(),
            progress=not given["quiet"],
            use_cache=not given["no_cache"],
            evidence=evidence.by_path,
            with_edits=given["tries"],  # it leads back to the source; texts are enough for all else
        )
        results = [*ran.results, *found.failures]
        if given["output"]:
            from paddletorch.output.copy_tree import copy_tree

            results = copy_tree(request.paths, given["output"], results, FileFilter(gitignore=gitignore))
        skipped = 0
        if given["interactive"]:
            from paddletorch.cli.interactive import ask

            results, skipped = ask(results, settings.options, evidence.by_path)
    except KeyboardInterrupt as stop:
        raise Interrupted("no file was changed", stop) from None
    except (OutputError, ExcludeError, UnusableOptions) as error:
        raise Refusal(str(error)) from error
    written: dict[str, bytes] = {}
    if given["write"]:
        results = _write(results)
        if given["watch"]:
            written = {os.path.realpath(r.path): r.output for r in results if r.status is Status.CONVERTED}
    if given["diff"]:
        write_diff(results)
    results, remarks = baselines.apply(results)
    remarks += [*settings.remarks(), *_settings_remarks(settings, found.files)]
    remarks += [*evidence.remarks(results), *ran.notes]
    if found.unfollowed:
        named = ", ".join(found.unfollowed)
        remarks.append(f"links out of the given paths were not followed, as --follow-links would: {named}")
    if skipped:
        remarks.append(f"{skipped} change{'' if skipped == 1 else 's'} skipped; the next run asks again")
    code = max(show_report(request, options, results, scanned=ran.scanned, remarks=remarks), int(skipped > 0))
    if given["tries"]:
        code = max(code, _try(request, options, found.files, results))
    return Ran(code, written)


def _try(request: Request, options: Options, files: Sequence[str], results: Sequence[FileResult]) -> int:
    """Import the modules of the copy; what became of them goes to stderr where the report has stdout for a program."""
    from paddletorch.cli.try_out import SECONDS, copied_tree, tried_modules
    from paddletorch.model.project_kinds import project_kind
    from paddletorch.output.copy_tree import copied_to
    from paddletorch.trial.report import exit_code, text_lines

    output = request.given["output"]
    modules = [file for file in files if project_kind(file) is None]
    copied = {file: place for file in modules if (place := copied_to(file, request.paths, output)) and place.is_file()}
    made = {str(copied[result.path]): result for result in results if result.path in copied}
    tree = copied_tree(made, output, options.target)
    tried = tried_modules(tree, list(map(str, copied.values())), [str(output)], SECONDS)
    click.echo("\n".join(["", *text_lines(tree, tried)]), err=request.given["form"] != "text")
    return exit_code(tried)


def _settings_remarks(settings: RunSettings, files: Sequence[str]) -> list[str]:
    used = {config.file: None for config in map(settings.file_config, files)}
    if len(used) < 2:
        return []
    named = ", ".join("none" if file is None else str(file) for file in used)
    return [f"files of this run have different settings, each from the nearest of: {named}"]


def _write(results: list[FileResult]) -> list[FileResult]:
    from paddletorch.model.interrupts import deferred_signals
    from paddletorch.output.write import write_back

    written: list[FileResult] = []
    try:
        for result in results:
            with deferred_signals():  # what was written is counted
                written.append(write_back(result) if result.status is Status.CONVERTED else result)
    except KeyboardInterrupt as stop:
        done = sum(result.status is Status.CONVERTED for result in written)
        raise Interrupted(f"{done} files were written, each of them whole", stop) from None
    return written


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
