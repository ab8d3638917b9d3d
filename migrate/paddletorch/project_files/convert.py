"""Converts one project file, or reports what in it names the source framework."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import paddletorch_rules
from paddletorch_rules import Table
from paddletorch_rules.packages import packages

from paddletorch.model import Conversion, Diagnostic, Edit, FileResult, Options, Severity, Span, Status
from paddletorch.model.project_kinds import ProjectKind
from paddletorch.project_files.formats import READERS, in_setup_script
from paddletorch.project_files.found import Found
from paddletorch.project_files.lines import Lines
from paddletorch.project_files.requirements import Target
from paddletorch.project_files.second_run import Broken, changed_again, unreadable
from paddletorch.text.columns import Columns
from paddletorch.text.source import splice

_OFFER = "--project-files writes {}."


def target_of(options: Options) -> Target:
    """What a run with these options writes."""
    releases = paddletorch_rules.select(options.target, options.target_version)
    return Target(options.source, options.target, releases)


def may_name_framework(data: bytes, options: Options) -> bool:
    """Whether a project file with these bytes may hold anything to say, by a quick look."""
    return options.source.encode() in data or packages(options.source).may_be_required(data)


def convert_project_file(data: bytes, path: str, kind: ProjectKind, options: Options, table: Table) -> FileResult:
    """Convert a project file with ``options.project_files``, else report on it. It never raises."""
    body = data.removeprefix(BOM_UTF8)
    codec = _codec(body)
    if codec is None:
        return FileResult(path, Status.CLEAN, data, data)
    text = body.decode(codec)
    found = READERS[kind](text, target_of(options))
    result = _with(FileResult(path, Status.CLEAN, data, data), text, codec, found, options, table)
    bom = data[: len(data) - len(body)]
    new = splice(body, result.edits)
    if options.verify and new != body:
        changed = [one for one in selected(found, Lines(text), options) if one.edits]
        broken = unreadable(kind, text, new.decode(codec), changed)
        broken = broken or _changed_again(new.decode(codec), READERS[kind], options)
        if broken is not None:
            return _broken(result, broken, table)
    return replace(result, output=bom + new, status=Status.CONVERTED if new != body else Status.CLEAN)


def with_requirements(result: FileResult, options: Options, table: Table) -> FileResult:
    """The result of a ``setup.py`` with its requirements, unless the file could not be converted."""
    body = result.source.removeprefix(BOM_UTF8)
    codec = _codec(body)
    if result.status is Status.FAILED or codec != "utf-8":
        return result
    text = body.decode(codec)
    both = _with(result, text, codec, in_setup_script(text, target_of(options)), options, table)
    bom = result.source[: len(result.source) - len(body)]
    try:
        new = splice(body, both.edits)
    except ValueError:  # the module's own edits go through a requirement
        return result
    output = bom + new
    if options.verify and output != result.output:
        broken = _changed_again(new.decode(codec), in_setup_script, options)
        if broken is not None:
            return _broken(result, broken, table)
    return replace(both, output=output, status=Status.CONVERTED if output != result.source else Status.CLEAN)


def _changed_again(new: str, read: Callable[[str, Target], list[Found]], options: Options) -> Broken | None:
    return changed_again(selected(read(new, target_of(options)), Lines(new), options), new)


def _broken(result: FileResult, broken: Broken, table: Table) -> FileResult:
    """The file left as it was, as of a module that would change again."""
    spec = table.diagnostics["SRC016"]
    line, message = broken.line, spec.message.format(problem=broken.problem)
    diagnostic = Diagnostic("SRC016", message, line, 1, line, 1, Severity.ERROR, hint=spec.hint, examined=spec.examined)
    return FileResult(result.path, Status.FAILED, result.source, result.source, diagnostics=(diagnostic,))


def _codec(body: bytes) -> str | None:
    """The codec of a text in which all that matters is ASCII; None for one of wider characters."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in body:
        return None
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"  # gives every byte back as it came
    return "utf-8"


def _with(
    result: FileResult, text: str, codec: str, found: Sequence[Found], options: Options, table: Table
) -> FileResult:
    """The result with what was found: converted where that is wanted and exact, else reported."""
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    diagnostics: list[Diagnostic] = []
    lines = Lines(text)
    columns = Columns(text.encode(codec))

    def offset(place: int) -> int:
        return columns.offset(0, place) if codec == "utf-8" else place

    for one in selected(found, lines, options):
        line, column = lines.position(one.start)
        if one.edits and options.project_files:
            for start, end, written in one.edits:
                edits.append(Edit(Span(offset(start), offset(end)), written, one.code))
            conversions.append(Conversion(one.code, one.name, one.replacement, line, column))
        diagnostics += said(one, lines, options, table)
    return replace(
        result,
        edits=(*result.edits, *edits),
        conversions=tuple(sorted((*result.conversions, *conversions), key=lambda c: (c.line, c.column))),
        diagnostics=tuple(sorted((*result.diagnostics, *diagnostics), key=lambda d: (d.line, d.column, d.code))),
    )


def selected(found: Iterable[Found], lines: Lines, options: Options) -> list[Found]:
    """Those whose code is wanted and that no comment suppresses."""
    wanted = (one for one in found if options.wants(one.code))
    return [one for one in wanted if not lines.suppresses(lines.position(one.start)[0], one.code)]


def said(one: Found, lines: Lines, options: Options, table: Table) -> list[Diagnostic]:
    """The findings about one thing: that it is left, or what to know where it is converted."""
    if one.edits and options.project_files:
        return [_diagnostic(code, one, lines, options, table, "") for code in one.also if options.wants(code)]
    problem = one.problem or "it has an exact counterpart"
    hint = one.instead if one.problem else _OFFER.format(one.replacement)
    return [_diagnostic(one.code, one, lines, options, table, hint, problem=problem)]


def _diagnostic(
    code: str, one: Found, lines: Lines, options: Options, table: Table, hint: str, **details: str
) -> Diagnostic:
    spec = table.diagnostics[code]
    names = {"api": one.name, "source": options.source, "target": options.target, "written": one.replacement}
    (line, column), (end_line, end_column) = lines.position(one.start), lines.position(one.end)
    message = spec.message.format(**names, **details)
    severity = Severity(spec.severity)
    return Diagnostic(
        code, message, line, column, end_line, end_column, severity, name=one.name, hint=hint or spec.hint
    )
