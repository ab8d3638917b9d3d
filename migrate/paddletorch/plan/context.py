"""What every planning step needs of one file: its tree, names, tables and releases."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from paddletorch_rules import Form, ReleaseSet, Row, Table

from paddletorch.model import Applicability, Diagnostic, Framework, Options, Severity
from paddletorch.plan.fstrings import enclosing_fstrings, free_quote, is_located
from paddletorch.resolve import Evaluator, NoneValue, Qualified, ScopeTree
from paddletorch.source import Source
from paddletorch.suppress import Suppressions


@dataclass(frozen=True)
class Settings:
    """What a run's options mean once the tables are loaded; the same for every file."""

    options: Options
    table: Table
    source_releases: ReleaseSet
    target_releases: ReleaseSet
    rows: frozenset[Row]
    settled: frozenset[str] = frozenset()
    """Findings that do not apply with the shim."""

    @property
    def source(self) -> Framework:
        """The framework that the code is written for."""
        return self.options.source

    @property
    def target(self) -> Framework:
        """The framework to convert to."""
        return self.options.target

    def lookup(self, name: str) -> tuple[Row, Form] | None:
        """Row and spelling of a source-side qualified name, if it is selected."""
        found = self.table.lookup(self.source, name)
        return found if found is not None and found[0] in self.rows else None

    @cached_property
    def defaults(self) -> dict[tuple[Form, str], tuple[str, ...]]:
        """Target defaults that were looked up already: they are the same for every file."""
        return {}

    @cached_property
    def member_names(self) -> frozenset[str]:
        """Names that a member of a tracked instance can have."""
        return frozenset(
            name for row in self.rows if row.receiver is not None for f in row.forms(self.source) for name in f.names
        )

    def members(self, name: str) -> list[tuple[Row, Form]]:
        """Selected rows for a member of a tracked instance."""
        return [pair for pair in self.table.members(self.source, name) if pair[0] in self.rows]


class Refusal(Exception):
    """A site that must not be edited; carries the finding that says why."""

    def __init__(self, code: str, **holes: str) -> None:
        super().__init__(code)
        self.code = code
        self.holes = holes


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagnostic before its text is filled in."""

    code: str
    node: ast.expr | ast.stmt | ast.alias
    name: str
    holes: tuple[tuple[str, str], ...]
    row: Row | None = None


@dataclass
class FileContext:
    """One file while it is planned."""

    settings: Settings
    source: Source
    tree: ScopeTree
    evaluator: Evaluator
    suppressions: Suppressions
    findings: list[Finding] = field(default_factory=list)

    @property
    def target(self) -> Framework:
        """The framework to convert to."""
        return self.settings.target

    @cached_property
    def module_imports(self) -> dict[str, list[str]]:
        """Module-level names by the qualified name that an import gives them."""
        found: dict[str, list[str]] = {}
        for name, bindings in self.tree.scope.bindings.items():
            for qualified in dict.fromkeys(b.qualified for b in bindings if b.qualified is not None):
                found.setdefault(qualified, []).append(name)
        return found

    @cached_property
    def annotations(self) -> frozenset[ast.expr]:
        """The outermost expression of every annotation."""
        return frozenset(self.tree.annotations)

    def report(
        self,
        code: str,
        node: ast.expr | ast.stmt | ast.alias,
        api: str = "",
        row: Row | None = None,
        /,
        **holes: str,
    ) -> None:
        """Add a finding about ``api``; the same one at the same place counts once."""
        finding = Finding(code, node, api, tuple(sorted(holes.items())), row)
        if finding not in self.findings:
            self.findings.append(finding)

    def suppressed(self, code: str, node: ast.expr | ast.stmt | ast.alias) -> bool:
        """Whether a comment on the node's lines keeps ``code`` away from it."""
        return self.suppressions.covers(code, node.lineno, node.end_lineno or node.lineno)

    def quoted(self, text: str, node: ast.expr) -> str:
        """Generated code in the quotes that the file uses most, or that an f-string around ``node`` leaves free.

        Raises:
            Refusal: the f-string uses both quotes, or the node cannot be found in it.
        """
        quote = self.source.quote
        around = enclosing_fstrings(self.tree.parents, node)
        if around and "'" in text:
            free = free_quote(self.source, around[-1], node) if len(around) == 1 else None
            if free is None:
                raise Refusal("API216")
            quote = free
        return text.replace("'", '"') if quote == '"' and '"' not in text and "\\" not in text else text

    def in_fstring(self, node: ast.expr) -> bool:
        """Whether the node stands inside an f-string."""
        return bool(enclosing_fstrings(self.tree.parents, node))

    def is_located(self, node: ast.expr) -> bool:
        """Whether the node's position can be trusted."""
        return not self.in_fstring(node) or is_located(self.source, node)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The syntactic parent."""
        return self.tree.parents.get(node)

    def text(self, node: ast.expr) -> str:
        """The expression as written, on one line and cut short for messages."""
        text = " ".join(self.source.slice(self.source.span(node)).split())
        return text if len(text) <= 60 else text[:57] + "..."

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that holds ``node``."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.tree.parents.get(current)
        return current

    def qualified(self, node: ast.expr) -> str | None:
        """The one qualified name of an expression, if it has exactly one (None values aside)."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        values = [v for v in self.evaluator.values(node) if not isinstance(v, NoneValue)]
        return values[0].name if len(values) == 1 and isinstance(values[0], Qualified) else None

    def render(self, finding: Finding) -> Diagnostic:
        """Fill in a finding's text and place."""
        spec = self.settings.table.diagnostics[finding.code]
        span = self.source.span(finding.node)
        line, column = self.source.position(span.start)
        end_line, end_column = self.source.position(span.end)
        holes = _Holes(
            finding.holes,
            source=self.settings.source,
            target=self.settings.target,
            api=finding.name or "the API",
        )
        return Diagnostic(
            code=finding.code,
            message=spec.message.format_map(holes),
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            severity=Severity(spec.severity),
            applicability=Applicability(spec.applicability),
            name=finding.name,
            hint=spec.hint.format_map(holes),
        )


class _Holes(dict[str, str]):
    """Holes that a message leaves unfilled stay readable."""

    def __init__(self, holes: Iterable[tuple[str, str]], **more: str) -> None:
        super().__init__({**more, **dict(holes)})

    def __missing__(self, key: str) -> str:
        return "…"
