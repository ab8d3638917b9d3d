"""Maps positions in converted text to the original text, so that converted code runs with the original line numbers."""

from __future__ import annotations

import ast
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from paddletorch.model import FileResult, Span
from paddletorch.text.source import Piece, Source, pieces


def converted_tree(result: FileResult, filename: str) -> ast.Module:
    """The syntax tree of ``result.output``, each node with its position in ``result.source``.

    Text that an edit wrote has the position of the text that it replaced; an inserted statement has the position of
    the statement that it was inserted beside.

    Raises:
        SyntaxError: the output is not valid Python for the running interpreter.
    """
    converted = Source(result.output)
    tree = ast.parse(converted.text, filename=filename)
    if result.output != result.source:
        _PositionMap(result, converted).apply(tree)
    return tree


class _PositionMap:
    def __init__(self, result: FileResult, converted: Source) -> None:
        self._converted = converted
        self._original = Source(result.source)
        self._pieces: list[Piece] = [p for p in pieces(self._original.body, result.edits) if p.text]
        self._starts = [0, *accumulate(len(p.text) for p in self._pieces)]

    def apply(self, tree: ast.Module) -> None:
        """Give every node of the converted text its position in the original."""
        pending: list[tuple[ast.AST, Span | None]] = [(tree, None)]
        while pending:
            node, home = pending.pop()
            if "lineno" in node._attributes:
                # before Python 3.12, positions inside f-strings may be outside the text
                start = self._offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
                end = self._offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
                if isinstance(node, ast.stmt):
                    home = self._inserted_for(start)
                # two arguments may have been swapped, so that the end comes before the start
                first, last = sorted((self._start(start, home), self._end(end, home)))
                node.lineno, node.col_offset = self._position(first)  # type: ignore[attr-defined]
                node.end_lineno, node.end_col_offset = self._position(last)  # type: ignore[attr-defined]
            pending += [(child, home) for child in ast.iter_child_nodes(node)]

    def _offset(self, line: int, column: int) -> int:
        starts = self._converted.line_starts
        return min(starts[min(line, len(starts)) - 1] + max(column, 0), self._starts[-1])

    def _piece(self, offset: int) -> tuple[int, Piece]:
        """Start of the piece with the byte at ``offset`` of the converted text, and the piece."""
        index = min(bisect_right(self._starts, offset), len(self._pieces)) - 1
        return self._starts[index], self._pieces[index]

    def _start(self, offset: int, home: Span | None) -> int:
        begin, piece = self._piece(offset)
        if piece.is_copy:
            return piece.origin.start + offset - begin
        return home.start if home is not None and _is_insertion(piece) else piece.origin.start

    def _end(self, offset: int, home: Span | None) -> int:
        begin, piece = self._piece(max(offset - 1, 0))
        if piece.is_copy:
            return piece.origin.start + offset - begin
        return home.end if home is not None and _is_insertion(piece) else piece.origin.end

    def _inserted_for(self, offset: int) -> Span | None:
        """The original statement that an inserted statement was inserted beside."""
        piece = self._piece(offset)[1]
        if piece.is_copy or not _is_insertion(piece):
            return None
        beside = [s for s in self._statements if s.start <= piece.origin.start <= s.end]
        return max(beside, key=lambda s: s.start, default=None)

    @cached_property
    def _statements(self) -> list[Span]:
        tree = ast.parse(self._original.text)
        return [self._original.span(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)]

    def _position(self, offset: int) -> tuple[int, int]:
        """Line from 1 and column in bytes from 0, as ast counts."""
        starts = self._original.line_starts
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1]


def _is_insertion(piece: Piece) -> bool:
    return piece.origin.start == piece.origin.end
