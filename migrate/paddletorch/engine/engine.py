"""Converts one file's bytes: prefilter, parse, plan, and the gate that checks the converted text."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from functools import cached_property
from sys import intern

import paddletorch_rules
from paddletorch_rules import ShimPart, Table, packages

from paddletorch.engine.annotate import annotation_edits
from paddletorch.engine.diagnose import diagnostic_of, masked_uses, stated
from paddletorch.engine.idle_suppressions import problems
from paddletorch.engine.selection import Selection
from paddletorch.engine.settled import with_settled
from paddletorch.engine.shim_mode import CALLS, inapplicable_codes, parts_for, row_applies, tables
from paddletorch.gate.converted_text import ConvertedText
from paddletorch.gate.gate import violations
from paddletorch.gate.second_run import again, changed_again, imports_target, statements_changed_again
from paddletorch.gate.violation import Violation
from paddletorch.model import (
    NO_EVIDENCE,
    Conversion,
    Diagnostic,
    Edit,
    Evidence,
    Fates,
    FileResult,
    Options,
    Severity,
    Status,
)
from paddletorch.model.dependencies import Dependencies, joined
from paddletorch.model.failure import too_large, too_slow
from paddletorch.model.time_limit import OutOfTime, TimeLimit
from paddletorch.plan.model.settings import Settings
from paddletorch.plan.model.view import FileView
from paddletorch.plan.planner import plan_file
from paddletorch.plan.uses.count import unlisted_uses
from paddletorch.resolve import Evaluator, Parsed, ProjectIndex, Texts
from paddletorch.text.long_literals import parse
from paddletorch.text.masking import mask
from paddletorch.text.source import Source, Undecodable
from paddletorch.text.suppress import MARK, Suppressions

_AS_A_FRAMEWORK = re.compile(
    rb"\b(?:import|from)[ \t][^#\r\n'\"]{0,100}\bas[ \t]+(?:torch|paddle)\b"
    rb"|\bfrom[ \t]+[\w.]+[ \t]+import[ \t][^#\r\n'\"]{0,100}\b(?:torch|paddle)\b"
)
"""An import of something by a framework's name: which of two it means is seen after the conversion only."""


class Engine:
    """Converts files to ``options.target``. One engine serves any number of files.

    Raises:
        TableError: a table is wrong.
        ValueError: a release specifier cannot be read.
    """

    def __init__(self, options: Options, *, tree: bool = False, texts: Texts = lambda path: None) -> None:
        """``tree``: a path names a real file, and imports may be resolved through its neighbours.

        ``texts``: what counts as the content of such a neighbour, by absolute path; None where the file does.
        """
        self._texts = texts
        self._options = options
        self._settings_by_shim: dict[tuple[frozenset[ShimPart], bool], Settings] = {}
        self.settings = self._settings(frozenset())
        self._selection = Selection.by(options, self.settings.table)
        self._findings_alone = _findings_alone(options, self.settings.table)
        rows = self._settings(frozenset(), every_row=True).rows if self._findings_alone else self.settings.rows
        self.tokens = self.settings.table.tokens(options.source, rows)
        wants_packages = any(map(options.wants, packages.CODES))
        self._packages = packages.packages(options.source) if wants_packages else None
        self._index = self._new_index() if tree else None

    def _new_index(self) -> ProjectIndex:
        options = self._options
        return ProjectIndex((options.source, options.target), self.settings.table, self._texts)

    def _settings(self, shim: frozenset[ShimPart], *, every_row: bool = False) -> Settings:
        """The settings of a run that uses these parts of the runtime shim."""
        key = shim, every_row
        if key not in self._settings_by_shim:
            options = self._options
            table = paddletorch_rules.load((*options.tables, *tables(shim)))
            rows = table.selected(options.target, (lambda code: True) if every_row else options.wants)
            self._settings_by_shim[key] = Settings(
                options=options,
                table=table,
                source_releases=paddletorch_rules.select(options.source, options.source_version),
                target_releases=paddletorch_rules.select(options.target, options.target_version),
                rows=frozenset(r for r in rows if row_applies(shim, r)),
                inapplicable=inapplicable_codes(shim, table),
                shim_wraps_calls=CALLS in shim,
            )
        return self._settings_by_shim[key]

    def may_hit(self, data: bytes) -> bool:
        """Whether the file must be parsed: its bytes hold a selected row's token, a known import or a suppression.

        A file in UTF-16 or UTF-32 must be too: tokens do not show in its bytes, and Python refuses such a file.
        """
        if self.tokens.hit(data) or (self._packages is not None and self._packages.may_be_imported(data)):
            return True
        return (MARK in data and self._options.wants("API214")) or data.startswith(_WIDE)

    def renewed(self) -> Engine:
        """An engine with the same options that remembers no file."""
        engine = copy(self)
        if self._index is not None:
            engine._index = self._new_index()
        for others in ("_both_directions", "_second_run"):  # they remember files too
            vars(engine).pop(others, None)
        return engine

    def convert(
        self, data: bytes, path: str, evidence: Evidence | None = None, left: frozenset[int] = frozenset()
    ) -> FileResult:
        """Convert one file. Bad input never raises: the result says what is wrong.

        ``evidence``: what was seen of the file as it ran; of other bytes than ``data`` it says nothing.
        ``left``: lines, from 1, whose statements stay as they are; what depends on them is planned with them left.
        """
        if not self.may_hit(data):
            return FileResult(path, Status.CLEAN, data, data)
        index = self._index_for(path)
        parsed = index.cached(path, data) if index is not None else None
        if parsed is None:
            found = self._parse(data, path)
            if isinstance(found, FileResult):
                return found
            parsed = found
        try:
            with parsed.in_use():
                seen = _evidence(data, path, evidence)
                result = self._convert_parsed(path, replace(parsed, evidence=seen, left=left))
                if seen is None or not seen.seen:
                    return result
                bare = self._convert_parsed(path, replace(parsed, evidence=NO_EVIDENCE, left=left))
                return with_settled(result, bare, seen)
        finally:
            if index is not None and parsed.source.masked is None:
                index.add(path, parsed)
            else:
                parsed.tree.release()

    def convert_source(self, source: Source, path: str, left: frozenset[int] = frozenset()) -> FileResult:
        """Convert code taken from the document at ``path``: as :meth:`convert`, without the prefilter."""
        parsed = self._parse_source(source, path)
        if isinstance(parsed, FileResult):
            return parsed
        try:
            return self._convert_parsed(path, replace(parsed, left=left))
        finally:
            parsed.tree.release()

    def oversized(self, data: bytes, path: str) -> FileResult | None:
        """The result for a file that is larger than a file may be; None for others."""
        limit = self._options.max_file_size
        return too_large(path, limit, source=data) if 0 < limit < len(data) else None

    def dependencies(self, path: str) -> Dependencies | None:
        """The other files that the result for ``path`` depends on; None if one of them changed meanwhile."""
        index = self._index_for(path)
        if index is None:
            return Dependencies()
        found = [index.dependencies(path)]
        if "_both_directions" in vars(self):  # they have read files, if not this one
            found += [engine.dependencies(path) for engine in self._both_directions]
        known = [one for one in found if one is not None]
        return joined(known) if len(known) == len(found) else None

    def _index_for(self, path: str) -> ProjectIndex | None:
        return None if path.startswith("<") else self._index  # stdin without a name has no neighbours

    def _parse(self, data: bytes, path: str) -> Parsed | FileResult:
        try:
            source = Source(data)
        except Undecodable as error:
            return self.failed(path, data, "SRC002", str(error))
        return self._parse_source(source, path)

    def _parse_source(self, source: Source, path: str) -> Parsed | FileResult:
        data = source.data
        try:
            return Parsed.of(source, parse(source.text, path))
        except (SyntaxError, ValueError) as error:
            if "too many nested" in str(error):
                return self.failed(path, data, "SRC008", "too deep")
            masked = mask(source, path)
            if masked is None:
                line = getattr(error, "lineno", None) or 1
                return self.failed(path, data, "SRC001", getattr(error, "msg", None) or str(error), line)
            return Parsed.of(source.with_masked(masked), masked.module)
        except (RecursionError, MemoryError):
            return self.failed(path, data, "SRC008", "too deep")

    def _convert_parsed(self, path: str, parsed: Parsed) -> FileResult:
        seconds = self._options.max_file_seconds
        try:
            return self._convert_in_time(path, replace(parsed, limit=TimeLimit(seconds)))
        except OutOfTime:
            return too_slow(path, seconds, source=parsed.source.data)

    def _convert_in_time(self, path: str, parsed: Parsed) -> FileResult:
        result = self._with_shim(path, parsed)
        doubtful = self._options.verify or _AS_A_FRAMEWORK.search(parsed.source.body) is not None
        if doubtful and result.status is Status.CONVERTED:
            result = self._verified(path, parsed, result)
        if not self._findings_alone:
            return result
        whole = self._convert_module(path, parsed, self._settings(frozenset(), every_row=True))
        return whole if whole.status is Status.FAILED else replace(result, diagnostics=whole.diagnostics)

    def _verified(self, path: str, parsed: Parsed, result: FileResult) -> FileResult:
        """The result if converting its output again changes nothing, else that of a file that is left."""
        text = ConvertedText(parsed.source, parsed.module, parsed.tree, result.edits)
        found = changed_again(text, self._second_run.convert_source(again(text), path, _moved(parsed.left, text)))
        return result if found is None else self.failed(path, result.source, "SRC016", found.problem, found.line)

    @cached_property
    def _second_run(self) -> Engine:
        """The engine that converts outputs again; what ``--unsafe`` guesses it would guess again."""
        options = replace(self._options, unsafe=False, annotate=False, verify=False)
        return Engine(options, tree=self._index is not None, texts=self._texts)

    def _with_shim(self, path: str, parsed: Parsed) -> FileResult:
        if self._options.shim == "always":
            return self._convert_module(
                path, parsed, self._settings(parts_for(self._options, self.settings.table, None))
            )
        native = self._convert_module(path, parsed, self.settings)
        shim = parts_for(self._options, self.settings.table, native)
        return self._convert_module(path, parsed, self._settings(shim)) if shim else native

    def _convert_module(self, path: str, parsed: Parsed, settings: Settings) -> FileResult:
        with ExitStack() as releases:
            try:
                return self._convert_soundly(path, parsed, settings, releases)
            except RecursionError:
                return self.failed(path, parsed.source.data, "SRC008", "too deep")

    def _convert_soundly(self, path: str, parsed: Parsed, settings: Settings, releases: ExitStack) -> FileResult:
        """Convert the module; leave out the statements with which the gate finds something wrong, and try again.

        ``releases`` frees the evaluators on exit."""
        source = parsed.source
        blocked = parsed.left
        left: list[Violation] = []
        view = self._view(settings, parsed, path)
        view = view.leaving(blocked, view.suppressions)
        releases.callback(view.release)
        while True:
            planned = plan_file(view)
            every, findings, ignored = self._selection.of(view, planned)
            edits = planned.edits
            if self._options.annotate:
                edits = (*edits, *annotation_edits(view, findings))
            text = ConvertedText(source, parsed.module, parsed.tree, edits)
            releases.callback(text.release)
            found = violations(text, settings.source, settings.target, planned.conversions)
            if not found and planned.edits and not imports_target(text, settings.target):
                found = self._taken_for_source(text, settings.without_guesses, path, parsed.left)
            if not found:
                break
            lines = frozenset(line for one in found for line in one.lines) - blocked
            if not lines or len(left) >= _MOST_LEFT:
                return self.failed(path, source.data, "SRC006", found[0].problem)
            blocked |= lines
            left += found
            view = view.leaving(blocked, self._suppressions(source))
        diagnostics = [diagnostic_of(view, f) for f in findings] + masked_uses(view, self.tokens)
        diagnostics += self._unused_suppressions(view, path)
        diagnostics += [
            stated(self.settings.table, one.code, line, problem=one.problem)
            for one in left
            for line in ([one.line] if one.line else _first_lines(one.lines))
        ]
        output = source.encode(text.body) if edits else source.data
        unlisted = unlisted_uses(view, planned, every, ignored)
        conversions = [_with_written_text(text, conversion) for conversion in planned.conversions]
        return _result(path, source.data, output, diagnostics, conversions, edits, unlisted)

    def _taken_for_source(
        self, text: ConvertedText, settings: Settings, path: str, left: frozenset[int]
    ) -> list[Violation]:
        """What a second run would change in new text that does not import the target: nothing shows whose it is.

        What ``--unsafe`` guesses it would guess again, so ``settings`` are without it; and lines that were to be
        ``left`` it would convert.
        """
        parsed = self._parse_source(again(text), path)
        if isinstance(parsed, FileResult):
            return []
        view = self._view(settings, parsed, path)
        try:
            planned = plan_file(view.leaving(_moved(left, text), view.suppressions))
        finally:
            view.release()
            parsed.tree.release()
        return statements_changed_again(text, planned.edits, planned.conversions)

    def unread_code(self, code: str, line: int, **details: str) -> list[Diagnostic]:
        """A diagnostic about code that could not be read; none if its code is ignored."""
        if code.startswith(self._options.ignore):
            return []
        return [stated(self.settings.table, code, line, source=self._options.source, **details)]

    def _view(self, settings: Settings, parsed: Parsed, path: str) -> FileView:
        source, tree = parsed.source, parsed.tree
        modules = dict.fromkeys(star.module or "" for star in tree.stars)
        of_target = any(module.partition(".")[0] == settings.target for module in modules)
        bare = {} if of_target else settings.bare
        for module in modules:
            bare = {**bare, **settings.exported(module)}
        index = self._index_for(path)
        outside = index.view_from(path) if index is not None else None
        frameworks = settings.source, settings.target
        seen = parsed.evidence
        evaluator = Evaluator(
            tree, frameworks, settings.table, bare, outside, limit=parsed.limit, evidence=seen or NO_EVIDENCE
        )
        return FileView(settings, source, tree, evaluator, self._suppressions(source), evidence=seen)

    def _suppressions(self, source: Source) -> Suppressions:
        """The file's comments, of which none has suppressed anything yet."""
        return Suppressions(source, self._selection.former_codes)

    def _unused_suppressions(self, view: FileView, path: str) -> list[Diagnostic]:
        """A finding for each comment, or code in a comment, that suppresses nothing with any options."""
        if not view.suppressions.comments or not self._options.wants("API214"):
            return []
        unused = view.suppressions.unused()
        for engine in self._both_directions if unused else ():
            unused &= engine.unused_suppressions(view.source.data, path)
        table = self.settings.table
        return [
            stated(table, "API214", comment.line, (comment.column, comment.end_column), problem=problem)
            for comment in view.suppressions.comments
            for problem in problems(comment, unused, table.codes)
        ]

    @cached_property
    def _both_directions(self) -> list[Engine]:
        """Engines for both directions that decide whether a suppression is unused."""
        own = self._options
        every = Options(own.target, tables=own.tables, max_file_seconds=own.max_file_seconds)
        tree, texts = self._index is not None, self._texts
        return [Engine(replace(every, target=t), tree=tree, texts=texts) for t in (every.target, every.source)]

    def unused_suppressions(self, data: bytes, path: str) -> set[tuple[int, int, str]]:
        """Line, column and code for each code in a comment that suppresses nothing in this file."""
        found = self._parse(data, path)
        if isinstance(found, FileResult):
            return set()
        parsed = replace(found, limit=TimeLimit(self._options.max_file_seconds))
        view = self._view(self.settings, parsed, path)
        try:
            self._selection.of(view, plan_file(view))
        except (RecursionError, OutOfTime):
            return set()
        finally:
            view.release()
            parsed.tree.release()
        return view.suppressions.unused()

    def failed(self, path: str, data: bytes, code: str, problem: str, line: int = 0) -> FileResult:
        """The result for a file that is left unchanged because of a problem."""
        diagnostic = replace(stated(self.settings.table, code, line, problem=problem), severity=Severity.ERROR)
        return FileResult(path, Status.FAILED, data, data, diagnostics=(diagnostic,))


def _result(
    path: str,
    data: bytes,
    output: bytes,
    diagnostics: list[Diagnostic],
    conversions: Sequence[Conversion],
    edits: Sequence[Edit],
    unlisted: dict[str, Fates],
) -> FileResult:
    return FileResult(
        path,
        Status.CONVERTED if output != data else Status.CLEAN,
        data,
        output,
        tuple(sorted(conversions, key=lambda c: (c.line, c.column))),
        tuple(sorted(diagnostics, key=lambda d: (d.line, d.column, d.code))),
        unlisted,
        tuple(edits),
    )


def _with_written_text(text: ConvertedText, conversion: Conversion) -> Conversion:
    written = " ".join(text.written_at(text.source.span_of(conversion)).split())
    if len(written) > _LONGEST_TEXT:
        written = f"{written[:_LONGEST_TEXT]}…"
    if not written:
        return conversion
    one = conversion  # one for each use, so without the cost of ``replace``
    place = one.line, one.column, one.end_line, one.end_column
    name, replacement, written = map(intern, (one.name, one.replacement, written))  # a run has each many times
    return Conversion(one.code, name, replacement, *place, one.row, one.cell, written)


_LONGEST_TEXT = 200
"""Characters of what was written that a conversion keeps."""

_WIDE = (BOM_UTF16_LE, BOM_UTF16_BE, BOM_UTF32_LE, BOM_UTF32_BE)

_MOST_LEFT = 100
"""With more statements than these that the gate wants left, the whole file is."""


def _evidence(data: bytes, path: str, given: Evidence | None) -> Evidence | None:
    """What holds of ``given`` for the file; None where no file can be run."""
    if path.startswith("<"):
        return None
    return given if given is not None and given.is_of(data) else NO_EVIDENCE


def _moved(lines: frozenset[int], text: ConvertedText) -> frozenset[int]:
    """Where lines of the old text that stay as they are stand in the new one."""
    return frozenset(map(text.new_line, lines))


def _first_lines(lines: frozenset[int]) -> list[int]:
    """The first line of each run of lines."""
    return sorted(line for line in lines if line - 1 not in lines)


def _findings_alone(options: Options, table: Table) -> bool:
    """Whether only findings are wanted of rows that are not selected, since a finding's own code is selected."""
    return any(not any(known.startswith(code) for known in table.row_codes) for code in options.select)
