"""Takes the edits of one converted file apart by statement."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from paddletorch.gate.converted_text import ConvertedText, parsed_text
from paddletorch.model import Conversion, Edit, FileResult, Span, StatementChange, Status
from paddletorch.resolve import ScopeTree
from paddletorch.text.source import Source, splice

_ROOT = re.compile(r"\w+")


def statement_changes(result: FileResult, *, encoding: str | None = None) -> tuple[StatementChange, ...]:
    """The changes of a Python file's result in reading order; none of a document's.

    ``encoding``: that of the bytes in ``result``, if it is not what they declare.
    """
    if result.status is not Status.CONVERTED or not result.edits:
        return ()
    source = Source(result.source, encoding=encoding)
    module = parsed_text(source.body)
    if module is None:  # what was converted could be read
        return ()
    text = ConvertedText(source, module, ScopeTree(module), result.edits)
    imports = [node for node in ast.walk(module) if isinstance(node, ast.Import | ast.ImportFrom)]
    import_lines = {line for node in imports for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    lines_of = {edit: text.lines_of(_lines_span(source, edit)) for edit in dict.fromkeys(result.edits)}
    places = _places(lines_of.values())
    edits: dict[_Place, list[Edit]] = {place: [] for place in places}
    for edit in result.edits:
        edits[_at(places, min(lines_of[edit])) or places[0]].append(edit)
    found: dict[_Place, list[Conversion]] = {place: [] for place in places}
    to_leave: dict[_Place, set[int]] = {place: set() for place in places}
    for place in places:
        if any(edit.code and not _adds_lines(edit) for edit in edits[place]):
            to_leave[place].update(place.lines - import_lines)
    for one in result.conversions:
        if one.line in import_lines:
            continue  # a module's name: the uses that it is written for count
        own = _at(places, one.line)
        behind = own or _import_behind(source, one, imports, places)
        if behind is not None:
            found[behind].append(one)
            start = source.line_span(one.line).start + len(source.indentation(one.line).encode())
            to_leave[behind] |= own.lines - import_lines if own else text.lines_of(Span(start, start))
    return tuple(
        StatementChange(
            place.first,
            place.last,
            source.slice(_whole(source, place)),
            _new(source, place, edits[place]),
            tuple(found[place]),
            frozenset(to_leave[place]),
            tuple(d for d in result.diagnostics if place.first <= d.line <= place.last),
        )
        for place in places
    )


class _Place(NamedTuple):
    first: int
    last: int

    @property
    def lines(self) -> frozenset[int]:
        return frozenset(range(self.first, self.last + 1))


def _places(touched: Iterable[frozenset[int]]) -> list[_Place]:
    """The lines of the statements that edits touch; edits that cross statements join them."""
    found: list[_Place] = []
    for first, last in sorted((min(lines), max(lines)) for lines in touched):
        if found and first <= found[-1].last:
            found[-1] = _Place(found[-1].first, max(found[-1].last, last))
        else:
            found.append(_Place(first, last))
    return found


def _at(places: Sequence[_Place], line: int) -> _Place | None:
    """The place, of those in order, that holds a line."""
    index = bisect_right(places, line, key=lambda place: place.first) - 1
    return places[index] if index >= 0 and line <= places[index].last else None


def _lines_span(source: Source, edit: Edit) -> Span:
    """The span of an edit, without the line end with which it removes whole lines: the next line is not its own."""
    start, end = edit.span
    while end > start and source.body[end - 1 : end] in (b"\n", b"\r"):
        end -= 1
    return Span(start, end)


def _adds_lines(edit: Edit) -> bool:
    """Whether it only writes whole lines above a statement, such as a small class that other statements call."""
    return edit.span.start == edit.span.end and edit.written.endswith(("\n", "\r"))


def _whole(source: Source, place: _Place) -> Span:
    return Span(source.line_span(place.first).start, source.line_span(place.last).end)


def _new(source: Source, place: _Place, edits: Sequence[Edit]) -> str:
    """The lines as they become."""
    start, end = _whole(source, place)
    return splice(source.body[start:end], [edit.moved(-start) for edit in edits]).decode("utf-8")


def _import_behind(
    source: Source, one: Conversion, imports: Sequence[ast.Import | ast.ImportFrom], places: Sequence[_Place]
) -> _Place | None:
    """The change of the import whose name a use begins with, where no edit touches the use itself."""
    line = source.slice(source.line_span(one.line))
    root = _ROOT.match(line, one.column - 1)
    for node in imports if root is not None else ():
        names = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        place = _at(places, node.lineno)
        if root is not None and root[0] in names and place is not None:
            return place
    return None
