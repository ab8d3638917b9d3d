"""What every planning step needs of one file: its tree, names, tables and releases."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from paddletorch_rules import Form, ReleaseSet, Row, Table
from paddletorch_rules.paths import MODULES

from paddletorch.model import Applicability, Diagnostic, Framework, Options, Severity
from paddletorch.plan.model.fstrings import enclosing_fstrings, free_quote, is_located
from paddletorch.plan.model.template import Template
from paddletorch.resolve import Binding, Evaluator, NoneValue, Qualified, ScopeTree
from paddletorch.text.source import Source
from paddletorch.text.suppress import Suppressions

T = TypeVar("T")


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
    at_run_time: bool = False
    """Calls of what only the running program knows are answered by the shim."""

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
        known = self._looked_up
        if name not in known:
            found = self.table.lookup(self.source, name)
            known[name] = found if found is not None and found[0] in self.rows else None
        return known[name]

    @cached_property
    def _looked_up(self) -> dict[str, tuple[Row, Form] | None]:
        return {}

    def overloads(self, name: str) -> list[tuple[Row, Form]]:
        """All selected rows of a source-side qualified name."""
        return [pair for pair in self.table.overloads(self.source, name) if pair[0] in self.rows]

    @cached_property
    def spellings(self) -> tuple[frozenset[str], frozenset[str]]:
        """Every part that a dotted use of an API or its members can have, and every module path that leads to one."""
        segments: set[str] = {"__init__", "__new__"}
        prefixes: set[str] = {self.source}
        if self.source == "paddle":
            prefixes.update(path + ".*" for path in MODULES)
        for row in self.rows:
            for form in row.forms(self.source):
                for name in form.names:
                    parts = name.removesuffix(".*").split(".")
                    if name.endswith(".*"):
                        prefixes.add(name)
                    segments.update(parts)
                    if row.receiver is None:
                        prefixes.update(".".join(parts[:n]) for n in range(1, len(parts) + 1))
        return frozenset(segments), frozenset(prefixes)

    @cached_property
    def bare(self) -> dict[str, frozenset[str]]:
        """Distinctive names that mean an API where nothing binds them, as in documentation."""
        found: dict[str, set[str]] = {}
        for row in self.rows:
            if row.bare:
                for form in row.forms(self.source):
                    for name in form.names:
                        found.setdefault(name.rpartition(".")[2], set()).add(name)
        return {name: frozenset(names) for name, names in found.items()}

    def exported(self, module: str) -> dict[str, frozenset[str]]:
        """The APIs of a module by their last name: what ``from module import *`` may bind."""
        if module not in self._exported:
            prefix = module + "."
            names = (name for name in self.table.names(self.source) if name.startswith(prefix))
            self._exported[module] = {n[len(prefix) :]: frozenset({n}) for n in names if "." not in n[len(prefix) :]}
        return self._exported[module]

    @cached_property
    def _exported(self) -> dict[str, dict[str, frozenset[str]]]:
        return {}

    def deselects(self, name: str) -> bool:
        """Whether the tables know ``name``, in rows that are not selected only."""
        first = self.table.lookup(self.source, name)  # knows prefixes too
        pairs = self.table.overloads(self.source, name) or [first] if first else []
        rows = [row for row, _ in pairs if row.serves(self.target)]
        return bool(rows) and self.rows.isdisjoint(rows)

    @cached_property
    def modules(self) -> frozenset[str]:
        """Every module path that leads to an API of the source."""
        names = {name for row in self.rows if row.receiver is None for f in row.forms(self.source) for name in f.names}
        return frozenset(".".join(p[:n]) for name in names for p in [name.split(".")] for n in range(1, len(p)))

    def once(self, question: str, key: Hashable, answer: Callable[[], T]) -> T:
        """The answer to a question about the tables and releases, which is the same for every file."""
        known = self._answered.setdefault(question, {})
        if key not in known:
            known[key] = answer()
        found: T = known[key]
        return found

    @cached_property
    def _answered(self) -> dict[str, dict[Hashable, Any]]:
        return {}

    def emitted(self, row: Row) -> Form | None:
        """The row's form to write: the first that every target release has."""
        return self.once("emitted", row, lambda: row.emitted(self.target, self.target_releases.versions))

    @cached_property
    def templates(self) -> dict[str, list[tuple[Row, Template]]]:
        """Source-side templates by the member that they begin with; filled when first needed."""
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
    applied: bool = False
    """What it is about was converted all the same, so that no option is needed for it."""


@dataclass(frozen=True, slots=True)
class Match:
    """An expression of the file that a row writes as a template, with what stands in its holes."""

    node: ast.expr
    start: ast.Attribute
    row: Row
    holes: dict[str, ast.expr]
    attributes: frozenset[ast.AST]
    """The members that are the template's own."""


@dataclass
class FileContext:
    """One file while it is planned."""

    settings: Settings
    source: Source
    tree: ScopeTree
    evaluator: Evaluator
    suppressions: Suppressions
    blocked: frozenset[int] = frozenset()
    """Lines on which nothing is edited: an earlier attempt made no valid text of them."""
    findings: list[Finding] = field(default_factory=list)
    matches: dict[ast.expr, Match] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    """Names that the converted file has for modules of the target."""
    only_left: bool = False
    """What the source is named for in this file stays: members of its objects stay too, where the target is in use."""
    kept: frozenset[str] = frozenset()
    """APIs of which every call in the file stays."""
    dtype_of: Callable[[ast.expr], str | None] = lambda _: None
    """The dtype of the tensor that an expression is, as far as it is seen."""
    settled: set[ast.AST] = field(default_factory=set)
    """Members that a plan of whole statements has dealt with."""

    @property
    def target(self) -> Framework:
        """The framework to convert to."""
        return self.settings.target

    @cached_property
    def module_imports(self) -> dict[str, list[str]]:
        """Module-level names by the qualified name that an import gives them, where they have no other meaning."""
        found: dict[str, list[str]] = {}
        for name, bindings in self.tree.scope.bindings.items():
            names = {b.qualified for b in bindings if b.qualified is not None}
            if len(names) == 1 and self._only_imported(bindings):
                found.setdefault(names.pop(), []).append(name)
        return found

    def _only_imported(self, bindings: list[Binding]) -> bool:
        """Whether a name has nothing but the value that its imports give it, or None where they fail."""
        others = [b for b in bindings if b.qualified is None and b.kind != "delete"]
        return not others or all(isinstance(v, NoneValue) for v in self.evaluator.bound(others))

    @cached_property
    def is_half_converted(self) -> bool:
        """Whether the file imports the target too: an earlier run did what adds something to plain expressions."""
        return any(name.partition(".")[0] == self.target for name in self.module_imports)

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
        """Add a finding about ``api``."""
        self.add(Finding(code, node, api, tuple(sorted(holes.items())), row))

    def add(self, finding: Finding) -> None:
        """Add a finding; the same one at the same place counts once."""
        if finding not in self.findings:
            self.findings.append(finding)

    def suppressed(self, code: str, node: ast.expr | ast.stmt | ast.alias) -> bool:
        """Whether a comment on the node's lines keeps ``code`` away from it, or nothing is to be edited there."""
        if self.blocked and not self.blocked.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1)):
            return True
        return self.suppressions.covers(code, node.lineno, node.end_lineno or node.lineno)

    def leaves(self, code: str, node: ast.expr | ast.stmt | ast.alias) -> bool:
        """Whether ``node`` is not to be edited by what no row states and goes by ``code``."""
        return not self.settings.options.wants(code) or self.suppressed(code, node)

    def quoted(self, text: str, node: ast.expr) -> str:
        """Generated code in the quotes that the file uses most, or that a string around ``node`` leaves free.

        Raises:
            Refusal: the string uses both quotes, or the node cannot be found in it.
        """
        quote = self.source.quote
        around = enclosing_fstrings(self.tree.parents, node)
        annotation = self._enclosing_string(node)
        if annotation is not None and "'" in text:
            if around:
                raise Refusal("API216")
            quote = "'" if self.source.slice(self.source.span(annotation)).startswith('"') else '"'
        elif around and "'" in text:
            free = free_quote(self.source, around[-1], node) if len(around) == 1 else None
            if free is None:
                raise Refusal("API216")
            quote = free
        return text.replace("'", '"') if quote == '"' and '"' not in text and "\\" not in text else text

    def _enclosing_string(self, node: ast.expr) -> ast.Constant | None:
        """The annotation in quotes that ``node`` stands in."""
        current: ast.AST | None = node if self.tree.quoted else None
        while current is not None and not isinstance(current, ast.stmt):
            if isinstance(current, ast.Constant) and current in self.tree.quoted:
                return current
            current = self.tree.parents.get(current)
        return None

    def in_fstring(self, node: ast.expr) -> bool:
        """Whether the node stands inside an f-string."""
        return node in self.tree.in_fstrings

    def in_string(self, node: ast.expr) -> bool:
        """Whether the node stands inside an f-string or an annotation in quotes, where a line cannot be broken."""
        return self.in_fstring(node) or self._enclosing_string(node) is not None

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
        hint = spec.hint.format_map(holes)
        return Diagnostic(
            code=finding.code,
            message=spec.message.format_map(holes),
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            severity=Severity(spec.severity),
            applicability=Applicability.DISPLAY if finding.applied else Applicability(spec.applicability),
            name=finding.name,
            hint=re.sub("; --unsafe .*", ".", hint) if finding.applied else hint,
        )


class _Holes(dict[str, str]):
    """Holes that a message leaves unfilled stay readable."""

    def __init__(self, holes: Iterable[tuple[str, str]], **more: str) -> None:
        super().__init__({**more, **dict(holes)})

    def __missing__(self, key: str) -> str:
        return "…"
