"""Converts one file's bytes: prefilter, parse, plan, splice, parse again."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import paddletorch_rules

from paddletorch.annotate import annotation_edits
from paddletorch.model import Diagnostic, FileResult, Options, Severity, Status
from paddletorch.plan.context import FileContext, Finding, Settings
from paddletorch.plan.planner import Plan, plan_file
from paddletorch.resolve import Evaluator, ScopeTree
from paddletorch.source import Source, Undecodable, splice
from paddletorch.suppress import Suppressions


class Engine:
    """Converts files to ``options.target``. One engine serves any number of files.

    Raises:
        TableError: a table is wrong.
        ValueError: a release specifier cannot be read.
    """

    def __init__(self, options: Options) -> None:
        table = paddletorch_rules.load(options.tables)
        rows = frozenset(r for r in table.rows if r.serves(options.target) and _wanted(r.code, options))
        self.settings = Settings(
            options=options,
            table=table,
            source_releases=paddletorch_rules.select(options.source, options.source_version),
            target_releases=paddletorch_rules.select(options.target, options.target_version),
            rows=rows,
        )
        self.tokens = table.tokens(options.source, rows)
        self._bare = _bare_names(self.settings)

    def may_hit(self, data: bytes) -> bool:
        """Whether the file's bytes hold any token of a selected row."""
        return any(token in data for token in self.tokens)

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
            line = getattr(error, "lineno", None) or 1
            return self._failed(path, data, "SRC001", getattr(error, "msg", None) or str(error), line)
        except (RecursionError, MemoryError):
            return self._failed(path, data, "SRC008", "too deep")
        return self._convert_module(data, path, source, module)

    def _convert_module(self, data: bytes, path: str, source: Source, module: ast.Module) -> FileResult:
        try:
            context = self._context(source, module)
            plan = plan_file(context)
            findings = self._shown(context)
            edits = plan.edits
            if self.settings.options.annotate:
                edits = [*edits, *annotation_edits(context, findings)]
            body = splice(source.body, edits)
            output = source.encode(body)
        except RecursionError:
            return self._failed(path, data, "SRC008", "too deep")
        problem = _problem(body, path) if body != source.body else None
        if problem is not None:
            return self._failed(path, data, "SRC006", problem)
        diagnostics = [context.render(f) for f in findings] + self._unused_suppressions(context)
        return _result(path, data, output, diagnostics, plan)

    def _context(self, source: Source, module: ast.Module) -> FileContext:
        tree = ScopeTree(module)
        tree.expand_string_annotations(lambda node: source.slice(source.span(node)))
        bare = dict(self._bare)
        for star in tree.stars:
            prefix = (star.module or "") + "."
            for name in self.settings.table.names(self.settings.source):
                if name.startswith(prefix) and "." not in name[len(prefix) :]:
                    bare[name[len(prefix) :]] = frozenset({name})
        roots = (self.settings.source, self.settings.target)
        evaluator = Evaluator(tree, roots, self.settings.table.makes, bare)
        return FileContext(self.settings, source, tree, evaluator, Suppressions(source))

    def _shown(self, context: FileContext) -> list[Finding]:
        """The findings that are selected and not suppressed."""
        options = self.settings.options
        return [
            f
            for f in context.findings
            if not _listed(f.code, options.ignore)
            and (_wanted(f.code, options) or (f.row is not None and _wanted(f.row.code, options)))
            and not context.suppressed(f.code, f.node)
        ]

    def _unused_suppressions(self, context: FileContext) -> list[Diagnostic]:
        if not _wanted("API214", self.settings.options) or self.settings.options.select:
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


def _problem(body: bytes, path: str) -> str | None:
    try:
        ast.parse(body.decode("utf-8"), filename=path)
    except (SyntaxError, ValueError) as error:
        return str(error)
    return None


def _listed(code: str, prefixes: Iterable[str]) -> bool:
    return any(code.startswith(prefix) for prefix in prefixes)


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
