"""What every planning step needs of one file: its tree, names, tables and releases."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from paddletorch_rules import Row

from paddletorch.model import Applicability, Diagnostic, Framework, Severity
from paddletorch.plan.model.findings import Finding, Match
from paddletorch.plan.model.fstrings import enclosing_fstrings, free_quote, is_located
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.settings import Settings
from paddletorch.resolve import Binding, Evaluator, NoneValue, Qualified, ScopeTree
from paddletorch.text.source import Source
from paddletorch.text.suppress import Suppressions

T = TypeVar("T")


@dataclass
class FileView:
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
