"""The file and the decisions about its uses, as those ask who write its imports."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import Planned
from paddletorch.plan.model.naming import Group, Naming
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding
from paddletorch.resolve.scopes.spans import SpanIndex
from paddletorch.text.kept_text import KeptText


@dataclass(frozen=True)
class Converted:
    """The file and the decisions about its uses."""

    view: FileView
    planned: Planned

    @property
    def naming(self) -> Naming:
        """How the names of the file are written."""
        return self.planned.naming

    @cached_property
    def is_changed(self) -> bool:
        """Whether something of the file converts."""
        return bool(self.planned.uses.converted)

    def imported(self, bindings: Sequence[Binding]) -> frozenset[str]:
        """The names that imports bind among all bindings of one name."""
        found = self._imported.get(id(bindings))
        if found is None:
            found = self._imported[id(bindings)] = frozenset(b.qualified for b in bindings if b.qualified is not None)
        return found

    @cached_property
    def _imported(self) -> dict[int, frozenset[str]]:
        return {}

    def asked(self, key: Hashable, question: Callable[[], bool]) -> bool:
        """The answer to a question that all imports of one name ask."""
        if key not in self._answers:
            self._answers[key] = question()
        return self._answers[key]

    @cached_property
    def _answers(self) -> dict[Hashable, bool]:
        return {}

    def uses(self, group: Group) -> list[Use]:
        """The uses of the sites of a group."""
        return [self.planned.uses[site] for site in group.sites]

    def remaining(self, bindings: list[Binding], group: Group | None) -> list[ast.expr]:
        """The uses of a name that the converted file still has."""
        loads = self.view.tree.reads(bindings)
        written = (
            [] if group is None else [u for u in self.uses(group) if u.converts and u.site in self.naming.rewritten]
        )
        gone = {use.site.anchor.node for use in written}
        return [load for load in loads if load not in gone and not self.replaces(load)]

    def replaces(self, load: ast.expr) -> bool:
        """Whether an edit removes the text of ``load``, such as an argument that is dropped."""
        span = self.view.source.span(load)
        if self._kept is not None:
            return not self._kept.touches(span)
        start, end = (span.start, 0), (span.end, 0)
        return not any(self._parts.around(start, end)) and any(self._spans.around(start, end))

    def loses_name(self, node: ast.expr | ast.stmt, module: str) -> bool:
        """Whether an edit writes something that does without the module where ``node`` stands: ``"float16"``."""
        span = self.view.source.span(node)
        found = [*self._edits.around((span.start, 0), (span.end, 0))]
        outermost, _ = min(found, key=_by_size, default=(None, False))
        if outermost is None or outermost.parts:
            return False
        is_around = outermost.span != span and module.partition(".")[0] not in outermost.text
        return is_around or _is_literal(outermost.text)

    @cached_property
    def _edits(self) -> SpanIndex[tuple[Edit, bool]]:
        """The edits that replace text, each with whether it writes that text again."""
        edits = (edit for edit in self.planned.edits if edit.span.end > edit.span.start)
        return SpanIndex(((e.span.start, 0), (e.span.end, 0), (e, e.span in e.parts)) for e in edits)

    @cached_property
    def _kept(self) -> KeptText | None:
        """What the edits keep; None if they cannot be applied yet."""
        return self.view.kept(self.planned.edits)

    @cached_property
    def _parts(self) -> SpanIndex[bool]:
        """Spans of the file that edits reuse in their new text."""
        return _index(p for e in self.planned.edits for p in e.parts if isinstance(p, Span) and p != e.span)

    @cached_property
    def _spans(self) -> SpanIndex[bool]:
        """Spans that edits replace, except those that they reuse entirely."""
        return _index(e.span for e in self.planned.edits if e.span not in e.parts)


_CONSTANTS = ("None", "True", "False")


def _by_size(found: tuple[Edit, bool]) -> tuple[int, bool]:
    """The largest edit first; of two of the same text, the one that writes it again."""
    edit, repeats = found
    return edit.span.start - edit.span.end, not repeats


def _is_literal(text: str) -> bool:
    if text not in _CONSTANTS and all(map(str.isidentifier, text.split("."))):
        return False  # a dotted name; literal_eval would leave functions behind that only the garbage collector frees
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def _index(spans: Iterable[Span]) -> SpanIndex[bool]:
    return SpanIndex(((span.start, 0), (span.end, 0), True) for span in spans)
