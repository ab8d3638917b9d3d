"""The text that edits make of a file, with the origin of each of its parts."""

from __future__ import annotations

import ast
import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from paddletorch.model import Edit, Span
from paddletorch.resolve import ScopeTree
from paddletorch.text.long_literals import parse
from paddletorch.text.masking import mask
from paddletorch.text.source import Piece, Source, line_at, pieces


class ChangedStatement(NamedTuple):
    """A top-level statement that edits touch, with the lines from it to the next one.

    Of a class, empty lines stand for methods that no edit touches, but for one: they bind no more than their names.
    """

    number: int
    """Its position in the body of the module."""
    statement: ast.stmt
    old: bytes
    new: bytes


@dataclass(frozen=True)
class ConvertedText:
    """The edits of one file and what they make of it.

    Raises:
        ValueError: the edits overlap, or one has deferred text; from the properties that need the text.
    """

    source: Source
    module: ast.Module
    tree: ScopeTree
    """Scopes of ``module``, the file before the edits."""
    edits: Sequence[Edit]

    @cached_property
    def body(self) -> bytes:
        """The new text."""
        return b"".join([piece.text for piece in self.pieces])

    @cached_property
    def new_tree(self) -> ScopeTree | None:
        """Scopes of the new text; None if nothing here can read it."""
        module = parsed_text(self.body)
        return None if module is None else ScopeTree(module)

    def release(self) -> None:
        """Break the reference cycles of the new text's scopes, so that memory is freed at once."""
        if (tree := vars(self).pop("new_tree", None)) is not None:
            tree.release()

    @cached_property
    def new_source(self) -> Source:
        """The new text, with the positions in it."""
        return Source(self.body, encoding="utf-8")

    @cached_property
    def pieces(self) -> list[Piece]:
        """The parts of the new text that are not empty, in order."""
        return [piece for piece in pieces(self.source.body, self.edits) if piece.text]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(piece.text) for piece in self.pieces)]

    def piece_at(self, offset: int) -> tuple[Piece, int]:
        """The part that holds the byte at ``offset`` of the new text, and how far into it."""
        index = max(0, min(bisect_right(self._starts, offset), len(self.pieces)) - 1)
        return self.pieces[index], offset - self._starts[index]

    def new_line(self, line: int) -> int:
        """Where a line of the old text is in the new one; of a line that is replaced, where that is."""
        offset = self.source.line_span(line).start
        for start, piece in zip(self._starts, self.pieces, strict=False):
            if piece.origin.start <= offset < piece.origin.end:
                return line_at(self.body, start + (offset - piece.origin.start if piece.is_copy else 0))
        return line_at(self.body, len(self.body))

    @cached_property
    def _copied(self) -> tuple[list[int], list[int]]:
        """The spans of the old text that remain, each once: their starts and their ends, in order."""
        spans = sorted((p.origin.start, p.origin.end) for p in self.pieces if p.is_copy)
        return [start for start, _ in spans], [end for _, end in spans]

    def remains(self, span: Span) -> bool:
        """Whether the old text's ``span`` is in the new text as it was."""
        starts, ends = self._copied
        index = bisect_right(starts, span.start) - 1
        return index >= 0 and span.end <= ends[index]

    def written_at(self, span: Span) -> str:
        """What edits make of a span of the old text, or of a larger one that is written as a whole; empty for none."""
        first, last = bisect_left(self._reach[0], span.start), bisect_right(self._reach[1], span.end)
        parts: list[bytes] = []
        for text, origin, is_copy in self.pieces[first:last]:
            if is_copy:
                start, end = max(origin.start, span.start), min(origin.end, span.end)
                parts.append(self.source.body[start:end])
            elif span.holds(origin):
                parts.append(text if origin.end > origin.start or b"\n" not in text else b"")
            elif origin.holds(span):
                return self.written_at(origin)
        new = b"".join(parts)
        return "" if new == self.source.body[span.start : span.end] else new.decode("utf-8")

    @cached_property
    def _reach(self) -> tuple[list[int], list[int]]:
        """For each piece how far it and those before it reach, and where it and those after it begin, in the old text.

        Both only grow, though a piece may come from before the one in front of it.
        """
        origins = [piece.origin for piece in self.pieces]
        starts = accumulate((origin.start for origin in reversed(origins)), min)
        return list(accumulate((origin.end for origin in origins), max)), list(starts)[::-1]

    def edits_in(self, span: Span) -> list[Edit]:
        """The edits inside a span of the old text, in order."""
        edits, starts = self._sorted_edits
        near = edits[bisect_left(starts, span.start) : bisect_right(starts, span.end)]
        return [edit for edit in near if edit.span.end <= span.end]

    @cached_property
    def _sorted_edits(self) -> tuple[list[Edit], list[int]]:
        edits = sorted(self.edits, key=lambda edit: edit.span)
        return edits, [edit.span.start for edit in edits]

    @cached_property
    def _statement_starts(self) -> list[int] | None:
        """Where the lines of each top-level statement begin; None if two share a line."""
        source, starts = self.source, [0]
        for above, statement in itertools.pairwise(self.module.body):
            line = source.first_line(statement)
            while line - 1 > (above.end_lineno or 0) and source.slice(source.line_span(line - 1)).rstrip().endswith(
                "\\"
            ):
                line -= 1  # a backslash on an empty line joins that to the statement
            if statement.col_offset or source.line_starts[line - 1] <= starts[-1]:
                return None
            starts.append(source.line_starts[line - 1])
        return starts

    def begins_statement(self, offset: int) -> bool:
        """Whether the lines of a top-level statement begin at ``offset`` of the old text."""
        starts = self._statement_starts or [0]
        return starts[self.index_of(offset)] == offset

    def index_of(self, offset: int) -> int:
        """The position in the module's body of the statement to whose lines ``offset`` of the old text belongs."""
        return bisect_right(self._statement_starts or [0], offset) - 1

    @cached_property
    def changed_statements(self) -> list[ChangedStatement] | None:
        """The top-level statements with edits; None if an edit crosses two of them, or two share a line."""
        source, starts = self.source, self._statement_starts
        if starts is None or not self.module.body:
            return None
        touched: dict[int, list[Edit]] = {}
        for edit in self.edits:
            touched.setdefault(self.index_of(edit.span.start), []).append(edit)
        ends = [*starts[1:], len(source.body)]
        if any(edit.span.end > ends[index] for index, inside in touched.items() for edit in inside):
            return None
        methods = sorted(span for n in touched for span in self._untouched_methods(self.module.body[n]))
        new = self._parts_of(touched, ends, methods)
        return [
            ChangedStatement(n, self.module.body[n], self._without(methods, starts[n], ends[n]), b"".join(new[n]))
            for n in touched
        ]

    def _untouched_methods(self, statement: ast.stmt) -> list[Span]:
        """The lines of the methods of a class that no edit touches; one of them is not counted."""
        body = statement.body if isinstance(statement, ast.ClassDef) else ()
        starts, ends = self._copied
        found: list[Span] = []
        for node in body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            span = Span(self.source.line_span(first).start, self.source.line_span(node.end_lineno or first).end)
            index = bisect_right(starts, span.start) - 1
            if index >= 0 and starts[index] < span.start and span.end < ends[index]:
                found.append(span)
        return found[1:]  # a class is not empty

    def _without(self, methods: Sequence[Span], start: int, end: int) -> bytes:
        """The bytes of the old text from ``start`` to ``end``, with empty lines for these methods."""
        body, parts = self.source.body, []
        if not methods:
            return body[start:end]
        for method in methods[bisect_left(methods, (start, 0)) : bisect_left(methods, (end, 0))]:
            if method.end <= end:
                parts += [body[start : method.start], b"\n" * body.count(b"\n", *method)]
                start = method.end
        return b"".join([*parts, body[start:end]])

    def _parts_of(
        self, statements: Collection[int], ends: Sequence[int], methods: Sequence[Span]
    ) -> dict[int, list[bytes]]:
        """The new text of top-level statements that no edit crosses, in parts, without these methods."""
        found: dict[int, list[bytes]] = {number: [] for number in statements}
        for piece in self.pieces:
            start, end = piece.origin.start, piece.origin.end
            number = self.index_of(start)
            if not piece.is_copy:
                found[number].append(piece.text)
                continue
            while start < end:  # what remains may reach over many statements
                stop = min(end, ends[number])
                if number in found:
                    found[number].append(self._without(methods, start, stop))
                start, number = stop, number + 1
        return found

    def lines_of(self, span: Span) -> frozenset[int]:
        """The lines of the innermost statement around ``span``, down to its block; of a decorator, its own.

        Where ``span`` is between statements or holds some of them, its own lines.
        """
        innermost = self.tree.statement_around(self.source.place(span.start), self.source.place(span.end))
        first, last = self.source.position(span.start)[0], self.source.position(span.end)[0]
        if innermost is not None:
            end = innermost.end_lineno or innermost.lineno
            if (below := _first_below(innermost)) is not None:
                end = max(below.lineno - 1, innermost.lineno)
            if last <= end:
                first, last = innermost.lineno, end
        return frozenset(range(first, last + 1))


def _first_below(node: ast.stmt | ast.expr) -> ast.stmt | ast.pattern | None:
    """What stands first in the block of a compound statement."""
    if isinstance(node, ast.Match):
        return node.cases[0].pattern
    body = getattr(node, "body", None)
    return body[0] if isinstance(body, list) and body else None


def parsed_text(new: bytes) -> ast.Module | None:
    """The tree of new text, without syntax that is newer than the running Python; None if nothing here can read it."""
    try:
        return parse(new.decode("utf-8"))
    except (SyntaxError, ValueError):
        masked = mask(Source(new, encoding="utf-8"), "<converted>")
        return masked.module if masked is not None else None
