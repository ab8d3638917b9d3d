"""Converts the code of one document: read, cover, join, convert as a module, and put the changes back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

from paddletorch.documents import markdown
from paddletorch.documents.cells import Cell, Change, DocumentError
from paddletorch.documents.document import Document, Position, line_starts
from paddletorch.documents.joined import Joined
from paddletorch.documents.magics import CoveredMagic, blank, command_texts, names_in, without_magics
from paddletorch.model import Conversion, Diagnostic, FileResult, Status
from paddletorch.model.document_kinds import DocumentKind
from paddletorch.project_files.convert import said, selected, target_of
from paddletorch.project_files.formats import in_command
from paddletorch.project_files.lines import Lines
from paddletorch.text.long_literals import parse
from paddletorch.text.masking import mask
from paddletorch.text.source import Source

if TYPE_CHECKING:
    from paddletorch.engine.engine import Engine

_ON_LINE = re.compile(r"on line (\d+)")
_Item = TypeVar("_Item", Conversion, Diagnostic)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A cell with the Python in it. ``problem``: why it could not be read."""

    cell: Cell
    python: str
    covers: tuple[CoveredMagic, ...]
    problem: str | None = None
    problem_line: int = 1

    @property
    def unread(self) -> frozenset[str]:
        """Names that are used in what is not read."""
        names = frozenset[str]().union(*(cover.names for cover in self.covers))
        return names if self.problem is None else names | names_in(self.cell.code)


def convert_document(engine: Engine, data: bytes, path: str, kind: DocumentKind) -> FileResult:
    """Convert a notebook or a Markdown document. Bad input never raises: the result says what is wrong."""
    if not engine.may_hit(data):
        return FileResult(path, Status.CLEAN, data, data)
    try:
        document = Document(data, kind)
    except UnicodeDecodeError as error:
        return engine.failed(path, data, "SRC002", str(error))
    except DocumentError as error:
        return engine.failed(path, data, "SRC012", str(error))
    prepared = [_prepare(cell, path, kind) for cell in document.cells]
    joined = Joined([(p.cell, p.python) for p in prepared], frozenset[str]().union(*(p.unread for p in prepared)))
    result = engine.convert_source(joined.source, path)
    in_document = _in_document(result, document, joined)
    if result.status is Status.FAILED:
        return replace(in_document, source=data, output=data)
    commands = _commands(engine, document, prepared) if kind == "notebook" else _Commands()
    in_document = replace(
        in_document,
        conversions=tuple(sorted((*in_document.conversions, *commands.conversions), key=lambda c: (c.line, c.column))),
    )
    try:
        output, cells = document.changed(_with_commands(joined.changes(result.edits), commands.changes))
    except DocumentError as error:
        return engine.failed(path, data, "SRC006", str(error))
    diagnostics = [*in_document.diagnostics, *_notes(engine, document, prepared, kind), *commands.diagnostics]
    return replace(
        in_document,
        status=Status.CONVERTED if output != data else Status.CLEAN,
        source=data,
        output=output,
        diagnostics=tuple(sorted(diagnostics, key=lambda d: (d.line, d.column, d.code))),
        edits=(),
        cells=cells,
    )


def _prepare(cell: Cell, path: str, kind: DocumentKind) -> _Prepared:
    if cell.problem is not None:
        return _Prepared(cell, blank(cell.code), (), cell.problem)
    plain = without_magics(markdown.without_options(cell.code) if kind == "markdown" else cell.code)
    problem, line = _problem(plain.python, path)
    if problem is None:
        return _Prepared(cell, plain.python, plain.covers)
    return _Prepared(cell, blank(cell.code), (), problem, line)


def _problem(python: str, path: str) -> tuple[str | None, int]:
    """Why a cell alone is no Python, and on which of its lines."""
    try:
        parse(python, path)
    except (SyntaxError, ValueError) as error:
        try:
            readable = mask(Source(python.encode("utf-8"), encoding="utf-8"), path) is not None
        except UnicodeEncodeError:  # half of a surrogate pair, which JSON can write
            readable = False
        if not readable:
            return getattr(error, "msg", None) or str(error), getattr(error, "lineno", None) or 1
    except (RecursionError, MemoryError):
        return "nested too deeply", 1
    return None, 1


def _notes(
    engine: Engine, document: Document, prepared: Sequence[_Prepared], kind: DocumentKind
) -> Iterator[Diagnostic]:
    """What is said of code that was not read."""
    for one in prepared:
        code = one.cell.code.encode("utf-8", "replace")
        if one.problem is not None and (kind == "notebook" or engine.tokens.named(code)):
            yield from _note(engine, document, one.cell, "SRC010", one.problem_line, problem=one.problem)
        for cover in one.covers:
            if engine.tokens.named(cover.python.encode("utf-8", "replace")):
                yield from _note(engine, document, one.cell, "SRC011", cover.line, magic=cover.magic)


@dataclass(slots=True)
class _Commands:
    """What becomes of the commands of a notebook, such as ``!pip install torch``."""

    changes: list[tuple[Cell, list[Change]]] = field(default_factory=list)
    conversions: list[Conversion] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def _commands(engine: Engine, document: Document, prepared: Sequence[_Prepared]) -> _Commands:
    found = _Commands()
    options = engine.settings.options
    target = target_of(options)
    for one in prepared:
        changes: list[Change] = []
        for start, text in command_texts(one.cell.code, one.covers):
            lines = Lines(text)
            for item in selected(in_command(text, target), lines, options):
                here, end = (document.position(one.cell, start + place) for place in (item.start, item.end))
                if item.edits and options.project_files:
                    changes += [Change(start + edit.start, start + edit.end, edit.text) for edit in item.edits]
                    made = Conversion(item.code, item.name, item.replacement, here.line, here.column, cell=here.cell)
                    found.conversions.append(made)
                found.diagnostics += [
                    replace(
                        said_of,
                        line=here.line,
                        column=here.column,
                        end_line=end.line,
                        end_column=end.column,
                        cell=here.cell,
                    )
                    for said_of in said(item, lines, options, engine.settings.table)
                ]
        if changes:
            found.changes.append((one.cell, sorted(changes, key=attrgetter("start", "end"))))
    return found


def _with_commands(
    code: Iterable[tuple[Cell, list[Change]]], commands: Sequence[tuple[Cell, list[Change]]]
) -> list[tuple[Cell, list[Change]]]:
    """The changes of both, by cell and in order."""
    both: dict[int, tuple[Cell, list[Change]]] = {}
    for cell, changes in (*code, *commands):
        _, known = both.setdefault(cell.number, (cell, []))
        known += changes
    ordered = sorted(both.values(), key=lambda item: item[0].offsets[0])
    return [(cell, sorted(changes, key=attrgetter("start", "end"))) for cell, changes in ordered]


def _note(engine: Engine, document: Document, cell: Cell, code: str, line: int, **details: str) -> Iterator[Diagnostic]:
    starts = line_starts(cell.code)

    def position(line: int) -> Position:
        return document.position(cell, starts[min(line, len(starts)) - 1])

    def elsewhere(match: re.Match[str]) -> str:
        where = position(int(match[1]))
        return f"on line {where.cell.line if where.cell else where.line}"

    for name, text in details.items():  # the parser's words, such as "after 'for' statement on line 3"
        details[name] = _ON_LINE.sub(elsewhere, text)
    where = position(line)
    for diagnostic in engine.unread_code(code, where.line, **details):
        yield replace(diagnostic, column=where.column, end_column=where.column, cell=where.cell)


def _in_document(result: FileResult, document: Document, joined: Joined) -> FileResult:
    """The result with positions in the document in place of those in the module."""

    def in_document(item: _Item) -> _Item:
        if not item.line:
            return item
        start = document.position(*joined.locate(item.line, item.column))
        item = replace(item, line=start.line, column=start.column, cell=start.cell)
        if not item.end_line:
            return item
        end = document.position(*joined.locate(item.end_line, item.end_column))
        return replace(item, end_line=end.line, end_column=end.column)

    return replace(
        result,
        conversions=tuple(in_document(conversion) for conversion in result.conversions),
        diagnostics=tuple(in_document(diagnostic) for diagnostic in result.diagnostics),
    )
