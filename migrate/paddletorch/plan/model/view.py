"""What every step of planning reads: one file's tree and names, the tables and the options."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from paddletorch.model import Ask, Conversion, Edit, Evidence, Framework, Question, Span
from paddletorch.model.questions import place_of
from paddletorch.plan.model.fstrings import enclosing_fstrings, free_quote, is_located
from paddletorch.plan.model.match import Match
from paddletorch.plan.model.refusals import NotLocated, Refused
from paddletorch.plan.model.settings import Settings
from paddletorch.resolve import Binding, Evaluator, NoneValue, Origins, Qualified, ScopeTree, Value
from paddletorch.resolve.facts.tensors import Tensorhood, tensorhood
from paddletorch.text.kept_text import KeptText
from paddletorch.text.one_line import on_one_line
from paddletorch.text.source import Source
from paddletorch.text.suppress import Suppressions

T = TypeVar("T")


def without_device(names: Sequence[str]) -> list[str]:
    """The names without ``torch.cuda.FloatTensor`` if ``torch.FloatTensor`` is there: a GPU is the default anyway."""
    return [name for name in names if not (name.endswith("Tensor") and _elsewhere(name) in names)]


def _elsewhere(name: str) -> str:
    """The name of the class without ``cuda``; empty if it has none."""
    return name.replace(".cuda.", ".") if ".cuda." in name else ""


def _only_name(found: frozenset[Value]) -> str | None:
    """The qualified name among the values, if that is the only one besides None."""
    values = [v for v in found if not isinstance(v, NoneValue)] if len(found) > 1 else found
    names = [v.name for v in values if isinstance(v, Qualified)]
    names = without_device(names) if len(names) == len(values) else []
    return names[0] if len(names) == 1 else None


@dataclass(frozen=True)
class FileView:
    """One file: its source and tree, what its names mean, and the settings. It is never changed."""

    settings: Settings
    source: Source
    tree: ScopeTree
    evaluator: Evaluator
    suppressions: Suppressions
    blocked: frozenset[int] = frozenset()
    """Lines that must not be edited, since an earlier attempt made invalid text there."""
    matches: Mapping[ast.expr, Match] = field(default_factory=dict)
    """Expressions that match a template of the source side."""
    evidence: Evidence | None = None
    """What was seen of the file as it ran; None for what cannot be recorded, such as a notebook."""
    _provided: dict[Callable[[FileView], Any], Any] = field(default_factory=dict, repr=False, compare=False)
    _all_provided: list[dict[Callable[[FileView], Any], Any]] = field(default_factory=list, repr=False, compare=False)
    """What is provided of the views that were made of this one with other matches."""

    def leaving(self, lines: frozenset[int], suppressions: Suppressions) -> FileView:
        """The view for another attempt, which leaves these lines; what was found of values and syntax serves again."""
        if lines == self.blocked and suppressions is self.suppressions:
            return self
        return replace(self, blocked=lines, suppressions=suppressions)

    def matching(self, matches: Mapping[ast.expr, Match]) -> FileView:
        """The view with these expressions that match templates, on which what an argument can be rests."""
        if not matches:
            return self
        provided: dict[Callable[[FileView], Any], Any] = {}
        self._all_provided.append(provided)
        return replace(self, matches=matches, _provided=provided)

    def release(self) -> None:
        """Break the reference cycles, so that memory is freed at once; nothing can be planned afterwards."""
        for provided in (self._provided, *self._all_provided):
            provided.clear()
        self.evaluator.release()

    def provide(self, kind: Callable[[FileView], T]) -> T:
        """The file's only instance of ``kind``, such as ``Receivers``; created at the first call.

        It serves all attempts at the file, so it asks about values and syntax, and never whether a line is left.
        """
        if kind not in self._provided:
            self._provided[kind] = kind(self)
        found: T = self._provided[kind]
        return found

    def kept(self, edits: tuple[Edit, ...]) -> KeptText | None:
        """What the edits keep of the file; None if they cannot be applied."""
        return self.provide(_LastKept).of(edits)

    @cached_property
    def target(self) -> Framework:
        """The framework to convert to."""
        return self.settings.target

    @cached_property
    def module_imports(self) -> dict[str, list[str]]:
        """Module-level names that only imports bind, by the qualified name of what they import."""
        found: dict[str, list[str]] = {}
        for name, bindings in self.tree.scope.bindings.items():
            names = {b.qualified for b in bindings if b.qualified is not None}
            if len(names) == 1 and self._only_imported(bindings):
                found.setdefault(names.pop(), []).append(name)
        return found

    def _only_imported(self, bindings: list[Binding]) -> bool:
        """Whether a name is bound only by imports, or to None where an import fails."""
        others = [b for b in bindings if b.qualified is None and b.kind != "delete"]
        return not others or all(isinstance(v, NoneValue) for v in self.evaluator.bound(others))

    @cached_property
    def origins(self) -> Origins:
        """Which framework the file's code and values come from."""
        return Origins(self.tree, self.evaluator, self.target)

    @cached_property
    def is_sources(self) -> Callable[[ast.AST], bool]:
        """Whether the value of an expression, or the code of a statement, certainly comes from the source."""
        return self.origins.is_sources

    @cached_property
    def annotations(self) -> frozenset[ast.expr]:
        """The outermost expression of every annotation."""
        return frozenset(self.tree.annotations)

    def is_blocked(self, span: Span) -> bool:
        """Whether an edit of ``span`` is on lines that must not be edited."""
        if not self.blocked:
            return False
        first, last = self.source.position(span.start)[0], self.source.position(span.end)[0]
        return not self.blocked.isdisjoint(range(first, last + 1))

    def suppressed(self, code: str, node: ast.expr | ast.stmt | ast.alias) -> bool:
        """Whether a comment on the node's lines suppresses ``code``, or those lines must not be edited."""
        if self.blocked and not self.blocked.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1)):
            return True
        return self.suppressions.covers(code, node.lineno, node.end_lineno or node.lineno)

    def is_deselected(self, code: str, node: ast.expr | ast.stmt | ast.alias) -> bool:
        """Whether ``code`` is deselected or suppressed at ``node``, for edits without a table row."""
        return not self.settings.options.wants(code) or self.suppressed(code, node)

    def quoted(self, text: str, node: ast.expr) -> str:
        """Generated code with the quotes that the file uses most, or with those free inside a string around ``node``.

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
        """The string annotation around ``node``, if any."""
        current: ast.AST | None = node if self.tree.string_annotations else None
        while current is not None and not isinstance(current, ast.stmt):
            if isinstance(current, ast.Constant) and current in self.tree.string_annotations:
                return current
            current = self.tree.parents.get(current)
        return None

    def in_fstring(self, node: ast.expr) -> bool:
        """Whether the node is inside an f-string."""
        return node in self.tree.in_fstrings

    def in_string(self, node: ast.expr) -> bool:
        """Whether the node is inside an f-string or a string annotation, where lines cannot be broken."""
        return self.in_fstring(node) or self._enclosing_string(node) is not None

    def is_located(self, node: ast.expr) -> bool:
        """Whether the node's position can be trusted."""
        return not self.in_fstring(node) or is_located(self.source, node)

    def seen(self, ask: Ask, node: ast.expr) -> frozenset[str]:
        """What recorded runs answered about an expression; empty if none did."""
        if self.evidence is None or not self.evidence.seen:
            return frozenset()
        return self.evidence.answers(Question(ask, place_of(node)))

    @cached_property
    def parent(self) -> Callable[[ast.AST], ast.AST | None]:
        """The function that gives a node's syntactic parent; asked so often that it is the look-up itself."""
        return self.tree.parents.get

    def text(self, node: ast.expr) -> str:
        """The expression as written, on one line and shortened, for messages."""
        text = " ".join(self.source.slice(self.source.span(node)).split())
        return text if len(text) <= 60 else text[:57] + "..."

    def written(self, node: ast.expr) -> str:
        """The expression as written, on one line, for text that is written elsewhere."""
        return on_one_line(self.source.slice(self.source.span(node)))

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that is or holds ``node``."""
        return self.tree.statement(node)

    def tensor(self, node: ast.expr) -> Tensorhood:
        """How far the expression is a tensor."""
        return tensorhood(self.evaluator.values(node))

    def source_tensor(self, node: ast.expr) -> Tensorhood:
        """As ``tensor``; what does not come from the source is none."""
        found = self.tensor(node)
        return found if self.is_sources(node) else found.of(self.settings.source)

    def qualified(self, node: ast.expr) -> str | None:
        """The qualified name of an expression, if it has exactly one besides None."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        found = self.evaluator.values(node)
        if found not in self._only_names:
            self._only_names[found] = _only_name(found)
        return self._only_names[found]

    @cached_property
    def _only_names(self) -> dict[frozenset[Value], str | None]:
        """What ``_only_name`` says: many expressions of a file have the same values."""
        return {}

    def conversion(
        self, code: str, node: ast.expr | ast.stmt | ast.alias, name: str, replacement: str, row: str = ""
    ) -> Conversion:
        """The record of a conversion: ``name``, at ``node``, became ``replacement``."""
        span = self.source.span(node)
        return Conversion(
            code, name, replacement, *self.source.position(span.start), *self.source.position(span.end), row
        )


class _LastKept:
    """What edits keep of one file, found once for passes in a row that add no edits."""

    def __init__(self, view: FileView) -> None:
        self._body = view.source.body
        self._edits: tuple[Edit, ...] | None = None
        self._kept: KeptText | None = None

    def of(self, edits: tuple[Edit, ...]) -> KeptText | None:
        if edits != self._edits:
            self._edits = edits
            try:
                self._kept = KeptText(self._body, edits)
            except ValueError:
                self._kept = None
        return self._kept
