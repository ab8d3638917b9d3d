"""What ``convert`` is asked for, and what it prints: the report, the diff, and converted stdin."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from paddletorch.cli.error import Refusal
from paddletorch.cli.settings import RunSettings
from paddletorch.model import FileResult, Options
from paddletorch.report.forms import form_of

if TYPE_CHECKING:
    from paddletorch.report.record import Mode, Origin, Report


class Request(NamedTuple):
    """What one command asks for."""

    paths: tuple[str, ...]
    given: dict[str, Any]
    settings: RunSettings

    @property
    def mode(self) -> Mode:
        """What happens to the converted text."""
        modes: tuple[Mode, ...] = ("write", "output", "diff")
        if self.paths == ("-",):
            return "stdin"
        return next((mode for mode in modes if self.given[mode]), "report")

    @property
    def applied(self) -> bool:
        """Whether the converted text goes where it is wanted, rather than being shown."""
        return self.mode in ("write", "output") or (self.mode == "stdin" and not self.given["diff"])


def show_report(
    request: Request,
    options: Options,
    results: Sequence[FileResult],
    *,
    scanned: int,
    remarks: Sequence[str] = (),
) -> int:
    """Print the report in the form that is asked for, write the files asked for, and give the exit code."""
    from paddletorch.model.failure import reason
    from paddletorch.report.forms import render
    from paddletorch.report.record import Report
    from paddletorch.report.summary import summarise

    given = request.given
    summary = summarise(results, options, scanned=scanned, applied=request.applied, remarks=remarks)
    # stdout belongs to the diff or the converted source where there is one
    to_stderr = given["diff"] or request.mode == "stdin"
    report = Report(results, summary, options, request.mode, _origin(request))
    if given["form"] in ("text", "full"):
        lines = _text_lines(request, report) if given["form"] == "text" else _full_lines(request, report)
        if lines:
            click.echo("\n".join(lines), err=to_stderr)
    else:
        click.echo(render(report, given["form"]), err=to_stderr)
    for file in given["reports"]:
        from paddletorch.output.write import write_whole

        try:
            write_whole(file, render(report, form_of(file)).encode() + b"\n")
        except OSError as error:
            raise Refusal(f"--report {file}: {reason(error)}") from error
    return summary.exit_code


def _origin(request: Request) -> Origin:
    """Says what only the HTML page does; SOURCE_DATE_EPOCH stands for the time, so that a page can be made again."""
    from paddletorch.report.record import Origin

    wanted = {request.given["form"], *map(form_of, request.given["reports"])}
    if "html" not in wanted:
        return Origin()
    from datetime import datetime, timezone

    from paddletorch.inputs.checkout import head_commit, project_folder, project_name

    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        made = datetime.fromtimestamp(int(fixed), timezone.utc) if fixed.isdecimal() else datetime.now(timezone.utc)
    except (ValueError, OverflowError, OSError):
        raise Refusal(f"SOURCE_DATE_EPOCH: no time that a calendar has: {fixed}") from None
    named = [] if request.mode == "stdin" else list(request.paths)
    folder = project_folder(named or [os.curdir])
    command = shlex.join(["paddletorch", *sys.argv[1:]])
    return Origin(project_name(folder), f"{made:%Y-%m-%d %H:%M} UTC", head_commit(folder), command)


def _text_lines(request: Request, report: Report) -> list[str]:
    from paddletorch.report.next_step import Asked
    from paddletorch.report.text import finding_lines, note_lines, summary_lines

    given, options, summary = request.given, report.options, report.summary
    statistics = given["statistics"]
    lines = [] if statistics else list(finding_lines(report.results, conversions=given["verbose"]))
    if given["quiet"]:
        return lines[:-1]  # without the line that keeps the summary apart
    arguments = sys.argv[2:] if sys.argv[1:2] == ["convert"] else request.paths
    asked = Asked(arguments, request.mode, request.paths, str(given["output"] or ""), given["tries"])
    lines += note_lines(report.results, summary, options)
    lines += summary_lines(summary, options, asked, coverage=given["coverage"], statistics=statistics)
    return lines


def _full_lines(request: Request, report: Report) -> list[str]:
    from paddletorch.report.full import finding_lines, summary_lines

    given = request.given
    listed = given["verbose"] or (request.mode == "report" and not given["quiet"])
    lines = [] if given["statistics"] else list(finding_lines(report.results, conversions=listed))
    if not given["quiet"]:
        after = summary_lines(report.summary, report.options, coverage=given["coverage"])
        lines += [*([""] if lines else []), *after]
    return lines


def write_diff(results: Sequence[FileResult]) -> None:
    """Print the changes; a runner's log takes no line of the source for a command."""
    from paddletorch.report.diff import unified_diff
    from paddletorch.report.printable import holds_command

    terminal = sys.stdout is not None and sys.stdout.isatty()
    diffs: Iterable[bytes] = (unified_diff(result, colour=_colour(), terminal=terminal) for result in results)
    stopped = False
    if os.environ.get("GITHUB_ACTIONS") == "true":
        diffs = all_diffs = list(diffs)
        stopped = any(map(holds_command, all_diffs))
    token = os.urandom(16).hex().encode() if stopped else b""
    if stopped:  # patch and git apply pass over both lines
        write_stdout(b"::stop-commands::%b\n" % token)
    for diff in diffs:
        write_stdout(diff)
    if stopped:
        write_stdout(b"::%b::\n" % token)


def write_stdout(data: bytes) -> None:
    """Write bytes behind what was printed so far."""
    if sys.stdout is None:
        raise Refusal("stdout is closed, and the result goes there")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _colour() -> bool:
    wanted = click.get_current_context().color
    return sys.stdout is not None and sys.stdout.isatty() if wanted is None else wanted
