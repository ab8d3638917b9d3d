"""Converts one file's bytes: prefilter, parse, plan, splice, parse again."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

import paddletorch_rules
from paddletorch_rules import Table

from paddletorch.annotate import annotation_edits
from paddletorch.model import Diagnostic, FileResult, Options, Severity, Status
from paddletorch.newer import mask
from paddletorch.plan.context import FileContext, Finding, Settings
from paddletorch.plan.planner import Plan, plan_file
from paddletorch.resolve import Evaluator, ScopeTree
from paddletorch.shimming import keeps_row, overlays, settled, tables
from paddletorch.source import Source, Undecodable, outermost, splice
from paddletorch.suppress import Suppressions
from paddletorch.verify import find_problem


class Engine:
    """Converts files to ``options.target``. One engine serves any number of files.

    Raises:
        TableError: a table is wrong.
        ValueError: a release specifier cannot be read.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._made: dict[tuple[frozenset[str], bool], Settings] = {}
        self.settings = self._settings(frozenset())
        self._findings_alone = _findings_alone(options, self.settings.table)
        rows = self._settings(frozenset(), every_row=True).rows if self._findings_alone else self.settings.rows
        self.tokens = self.settings.table.tokens(options.source, rows)

    def _settings(self, shim: frozenset[str], *, every_row: bool = False) -> Settings:
        """What the options mean where ``shim`` says what goes to the runtime shim."""
        key = shim, every_row
        if key not in self._made:
            options = self._options
            table = paddletorch_rules.load((*options.tables, *tables(shim)))
            rows = (r for r in table.rows if r.serves(options.target) and (every_row or _wanted(r.code, options)))
            self._made[key] = Settings(
                options=options,
                table=table,
                source_releases=paddletorch_rules.select(options.source, options.source_version),
                target_releases=paddletorch_rules.select(options.target, options.target_version),
                rows=frozenset(r for r in rows if keeps_row(shim, r)),
                settled=settled(shim),
            )
        return self._made[key]

    def may_hit(self, data: bytes) -> bool:
        """Whether the file's bytes hold any token of a selected row."""
        return self.tokens.hit(data)

    def convert(self, data: bytes, path: str) -> FileResult:
        """Convert one file. Bad input never raises: the result says what is wrong."""
        if not self.may_hit(data):
            return FileResult(path, Status.CLEAN, data, data)
        try:
            source = Source(data)
        except Undecodable as error:
            return self._failed(path, data, "SRC002", str(error))
        try:
            module = ast.parse(source.text, filename=path)
        except (SyntaxError, ValueError) as error:
            if "too many nested" in str(error):
                return self._failed(path, data, "SRC008", "too deep")
            masked = mask(source, path)
            if masked is None:
                line = getattr(error, "lineno", None) or 1
                return self._failed(path, data, "SRC001", getattr(error, "msg", None) or str(error), line)
            source.masked, module = masked, masked.module
        except (RecursionError, MemoryError):
            return self._failed(path, data, "SRC008", "too deep")
        result = self._with_shim(data, path, source, module)
        if not self._findings_alone:
            return result
        whole = self._convert_module(data, path, source, module, self._settings(frozenset(), every_row=True))
        return whole if whole.status is Status.FAILED else replace(result, diagnostics=whole.diagnostics)

    def _with_shim(self, data: bytes, path: str, source: Source, module: ast.Module) -> FileResult:
        if self._options.shim == "always":
            return self._convert_module(data, path, source, module, self._settings(overlays(self._options, None)))
        native = self._convert_module(data, path, source, module, self.settings)
        shim = overlays(self._options, native)
        return self._convert_module(data, path, source, module, self._settings(shim)) if shim else native

    def _convert_module(
        self, data: bytes, path: str, source: Source, module: ast.Module, settings: Settings
    ) -> FileResult:
        try:
            context = self._context(settings, source, module)
            plan = plan_file(context)
            findings = self._shown(context)
            edits = plan.edits
            if self._options.annotate:
                edits = [*edits, *annotation_edits(context, findings)]
            body = splice(source.body, edits)
            output = source.encode(body)
        except RecursionError:
            return self._failed(path, data, "SRC008", "too deep")
        problem = find_problem(source, module, outermost(edits), body) if body != source.body else None
        if problem is not None:
            return self._failed(path, data, "SRC006", problem)
        diagnostics = [context.render(f) for f in findings] + self._unused_suppressions(context)
        diagnostics += self._masked_uses(source, settings)
        return _result(path, data, output, diagnostics, plan)

    def _context(self, settings: Settings, source: Source, module: ast.Module) -> FileContext:
        tree = ScopeTree(module)
        tree.expand_string_annotations(lambda node: source.slice(source.span(node)))
        bare = _bare_names(settings)
        for star in tree.stars:
            prefix = (star.module or "") + "."
            for name in settings.table.names(settings.source):
                if name.startswith(prefix) and "." not in name[len(prefix) :]:
                    bare[name[len(prefix) :]] = frozenset({name})
        evaluator = Evaluator(tree, (settings.source, settings.target), settings.table.makes, bare)
        return FileContext(settings, source, tree, evaluator, Suppressions(source))

    def _shown(self, context: FileContext) -> list[Finding]:
        """The findings that are selected and not suppressed."""
        options = self._options
        return [
            f
            for f in context.findings
            if f.code not in context.settings.settled
            and not _listed(f.code, options.ignore)
            and (_wanted(f.code, options) or (f.row is not None and _wanted(f.row.code, options)))
            and not context.suppressed(f.code, f.node)
        ]

    def _unused_suppressions(self, context: FileContext) -> list[Diagnostic]:
        if not _wanted("API214", self._options) or self._options.select:
            return []  # with a selection, a comment may be for what was not selected
        spec = self.settings.table.diagnostics["API214"]
        return [
            Diagnostic(
                "API214",
                spec.message.format(codes=codes),
                line,
                column,
                line,
                column,
                Severity.INFO,
                hint=spec.hint,
            )
            for line, column, codes in context.suppressions.unused()
        ]

    def _masked_uses(self, source: Source, settings: Settings) -> list[Diagnostic]:
        """A finding for each masked region that may hold an API."""
        found: list[Diagnostic] = []
        for span in source.masked.regions if source.masked is not None else ():
            if self.tokens.named(source.body[span.start : span.end]):
                spec = settings.table.diagnostics["API216"]
                line, column = source.position(span.start)
                end_line, end_column = source.position(span.end)
                message = spec.message.format(api="a use")
                found.append(Diagnostic("API216", message, line, column, end_line, end_column, hint=spec.hint))
        return found

    def _failed(self, path: str, data: bytes, code: str, problem: str, line: int = 0) -> FileResult:
        spec = self.settings.table.diagnostics[code]
        message = spec.message.format(problem=problem)
        diagnostic = Diagnostic(code, message, line, 1, line, 1, Severity.ERROR, hint=spec.hint)
        return FileResult(path, Status.FAILED, data, data, diagnostics=(diagnostic,))


def _result(path: str, data: bytes, output: bytes, diagnostics: list[Diagnostic], plan: Plan) -> FileResult:
    return FileResult(
        path,
        Status.CONVERTED if output != data else Status.CLEAN,
        data,
        output,
        tuple(sorted(plan.conversions, key=lambda c: (c.line, c.column))),
        tuple(sorted(diagnostics, key=lambda d: (d.line, d.column, d.code))),
        plan.counts,
    )


def _listed(code: str, prefixes: Iterable[str]) -> bool:
    return any(code.startswith(prefix) for prefix in prefixes)


def _findings_alone(options: Options, table: Table) -> bool:
    """Whether a code is selected that is a finding only: it comes from rows that are not selected."""
    return any(not any(row.code.startswith(code) for row in table.rows) for code in options.select)


def _wanted(code: str, options: Options) -> bool:
    return (not options.select or _listed(code, options.select)) and not _listed(code, options.ignore)


def _bare_names(settings: Settings) -> dict[str, frozenset[str]]:
    """Distinctive names that mean an API where nothing binds them, as in documentation."""
    found: dict[str, set[str]] = {}
    for row in settings.rows:
        if row.bare:
            for form in row.forms(settings.source):
                for name in form.names:
                    found.setdefault(name.rpartition(".")[2], set()).add(name)
    return {name: frozenset(names) for name, names in found.items()}
