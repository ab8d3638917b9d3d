"""What every planning step reads of one file: its tree, names, tables and releases."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from paddletorch.model import Conversion, Framework
from paddletorch.plan.model.fstrings import enclosing_fstrings, free_quote, is_located
from paddletorch.plan.model.match import Match
from paddletorch.plan.model.refusals import NotLocated, Refused
from paddletorch.plan.model.settings import Settings
from paddletorch.resolve import Binding, Evaluator, NoneValue, Qualified, ScopeTree
from paddletorch.text.source import Source
from paddletorch.text.suppress import Suppressions

T = TypeVar("T")


@dataclass(frozen=True)
class FileView:
    """One file while it is planned: what it says, what its names mean, and what the options ask for."""

    settings: Settings
    source: Source
    tree: ScopeTree
    evaluator: Evaluator
    suppressions: Suppressions
    blocked: frozenset[int] = frozenset()
    """Lines on which nothing is edited: an earlier attempt made no valid text of them."""
    matches: Mapping[ast.expr, Match] = field(default_factory=dict)
    """Expressions that a row writes as a template."""

    def provide(self, kind: Callable[[FileView], T]) -> T:
        """The one answer of ``kind`` about this file, such as its ``Receivers``; made when first asked for."""
        if kind not in self._provided:
            self._provided[kind] = kind(self)
        found: T = self._provided[kind]
        return found

    @cached_property
    def _provided(self) -> dict[Callable[[FileView], Any], Any]:
        return {}

    @cached_property
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

    def suppressed(self, code: str, node: ast.expr | ast.stmt | ast.alias) -> bool:
        """Whether a comment on the node's lines keeps ``code`` away from it, or nothing is to be edited there."""
        if self.blocked and not self.blocked.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1)):
            return True
        return self.suppressions.covers(code, node.lineno, node.end_lineno or node.lineno)

    def is_deselected(self, code: str, node: ast.expr | ast.stmt | ast.alias) -> bool:
        """Whether ``code`` is deselected or suppressed at ``node``, for edits without a table row."""
        return not self.settings.options.wants(code) or self.suppressed(code, node)

    def quoted(self, text: str, node: ast.expr) -> str:
        """Generated code in the quotes that the file uses most, or that a string around ``node`` leaves free.

        Raises:
            Refused: the string uses both quotes, or the node cannot be found in it.
        """
        quote = self.source.quote
        around = enclosing_fstrings(self.tree.parents, node)
        annotation = self._enclosing_string(node)
        if annotation is not None and "'" in text:
            if around:
                raise Refused(NotLocated())
            quote = "'" if self.source.slice(self.source.span(annotation)).startswith('"') else '"'
        elif around and "'" in text:
            free = free_quote(self.source, around[-1], node) if len(around) == 1 else None
            if free is None:
                raise Refused(NotLocated())
            quote = free
        return text.replace("'", '"') if quote == '"' and '"' not in text and "\\" not in text else text

    def _enclosing_string(self, node: ast.expr) -> ast.Constant | None:
        """The annotation in quotes that ``node`` stands in."""
        current: ast.AST | None = node if self.tree.string_annotations else None
        while current is not None and not isinstance(current, ast.stmt):
            if isinstance(current, ast.Constant) and current in self.tree.string_annotations:
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

    def conversion(
        self, code: str, node: ast.expr | ast.stmt | ast.alias, name: str, replacement: str, row: str = ""
    ) -> Conversion:
        """A record that ``name``, at ``node``, became ``replacement``."""
        line, column = self.source.position(self.source.span(node).start)
        return Conversion(code, name, replacement, line, column, row)
