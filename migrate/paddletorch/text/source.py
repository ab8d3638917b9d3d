"""A Python file as bytes: its encoding, its lines, the spans of its syntax nodes, and edits applied to it."""

from __future__ import annotations

import ast
import codecs
import copy
import io
import keyword
import re
import tokenize
from bisect import bisect_left, bisect_right
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from paddletorch.model import Conversion, DeferredText, Edit, Span
from paddletorch.text.columns import Columns
from paddletorch.text.masked import Masked

WIDTH = 120
"""A call that an edit makes longer than this many characters is written with one argument on each line."""

_INDENT = re.compile(rb"(?m):[ \t]*(?:#[^\r\n]*)?\r?\n( +)[^\s#]")
_IDENTIFIER = re.compile(rb"[\w\x80-\xff]+\Z")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_WORD = re.compile(rb"[\w\x80-\xff]")
_KEYWORD = re.compile(b"(?:" + "|".join(keyword.kwlist).encode() + rb")(?![\w\x80-\xff])")
_LONGEST = max(map(len, keyword.kwlist))
_NEW_STATEMENT = re.compile(r"(?:[\r\n][ \t]*|; )\Z")
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


_OF_HOST_NAMES = frozenset({"punycode", "idna"})
"""Codecs of Python whose time grows with the square of the text: one file could keep a run busy for days."""


class Undecodable(ValueError):
    """The bytes are not valid in the declared or default encoding."""


class Cells(NamedTuple):
    """The cells of a document that were joined to one module: their first lines, and names used in other text."""

    first_lines: tuple[int, ...] = ()
    other_names: frozenset[str] = frozenset()


class Source:
    """The decoded file. All spans are byte offsets in ``body``: its text as UTF-8, without BOM.

    Raises:
        Undecodable: the bytes are not valid in the file's encoding, or the encoding is unknown.
    """

    def __init__(self, data: bytes, *, encoding: str | None = None, cells: Cells | None = None) -> None:
        """``encoding``: that of the bytes, instead of what a comment in them declares."""
        self.data = data
        self.bom = data.startswith(BOM_UTF8)
        self.encoding = ""
        try:
            self.encoding = encoding or tokenize.detect_encoding(io.BytesIO(data).readline)[0]
            raw = data[len(BOM_UTF8) :] if self.bom else data
            if self.encoding == "utf-8-sig":
                self.encoding = "utf-8"
            if self.encoding != "utf-8" and codecs.lookup(self.encoding).name in _OF_HOST_NAMES:
                raise ValueError("a codec for names of hosts, not for files")
            text = raw.decode(self.encoding)
        except Exception as error:  # a codec may raise anything
            problem = str(error) or type(error).__name__
            named = self.encoding not in ("", "utf-8")  # of other codecs the error may name none
            raise Undecodable(f"{self.encoding}: {problem}" if named else problem) from None
        if self.encoding != "utf-8" and not _comes_back(text, raw, self.encoding):
            raise Undecodable(f"the codec {self.encoding} does not give these bytes back from their text")
        if self.encoding != "utf-8" and text.count("\r") != raw.count(b"\r"):
            raise Undecodable(f"the codec {self.encoding} makes carriage returns that are no line ends to Python")
        self.text = text
        self.cells = cells or Cells()
        self.masked: Masked | None = None
        """See ``with_masked``."""
        self.body = raw if self.encoding == "utf-8" else text.encode("utf-8")
        self.line_starts = _line_starts(self.body)
        self._columns = Columns(self.body)
        first = _LINE_END.search(self.body)
        self.newline = first.group().decode() if first else "\n"
        indented = _INDENT.search(self.body)
        self.indent = len(indented.group(1)) if indented and len(indented.group(1)) in (2, 3, 4, 8) else 4
        self.quote = '"' if self.body.count(b'"') > self.body.count(b"'") else "'"

    def with_masked(self, masked: Masked) -> Source:
        """The same file, of which only ``masked.module`` can be read: it has syntax newer than the running Python."""
        source = copy.copy(self)
        source.masked = masked
        return source

    @property
    def unread_names(self) -> frozenset[str]:
        """Names used in text that is not in the syntax tree: in newer syntax, and in what is not Python."""
        unread = self.cells.other_names
        return unread | self.masked.names if self.masked is not None else unread

    @property
    def is_document(self) -> bool:
        """Whether the module is made of the cells of a document."""
        return bool(self.cells.first_lines)

    def cell(self, line: int) -> int:
        """The number of the cell that a line belongs to; a Python file is one cell."""
        return bisect_right(self.cells.first_lines, line)

    def offset(self, line: int, column: int) -> int:
        """Byte offset of a node position: ``line`` from 1, ``column`` in UTF-8 bytes from 0, as ast counts."""
        return self.line_starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg) -> Span:
        """The span of ``node``."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        starts = self.line_starts  # asked for most nodes, so without a call for each end
        return Span(starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset)

    def attribute_name(self, node: ast.Attribute) -> Span:
        """The span of the name behind the dot, which may be written in other letters than ``node.attr`` (NFKC)."""
        end = self.span(node).end
        name = _IDENTIFIER.search(self.body, self.span(node.value).end, end)
        assert name is not None
        return Span(name.start(), end)

    def slice(self, span: Span) -> str:
        """The text of ``span``."""
        return self.body[span.start : span.end].decode("utf-8")

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte offset as ast counts them: the inverse of :meth:`offset`."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte offset, both from 1, the column in characters."""
        line = bisect_right(self.line_starts, offset)
        start = self.line_starts[line - 1]
        return line, self._columns.count(start, offset) + 1

    def offset_of(self, line: int, column: int) -> int:
        """The byte offset of a position as :meth:`position` counts: both from 1, the column in characters."""
        return self._columns.offset(self.line_starts[line - 1], column - 1)

    def span_of(self, conversion: Conversion) -> Span:
        """The bytes of what was converted."""
        start = self.offset_of(conversion.line, conversion.column)
        return Span(start, self.offset_of(conversion.end_line, conversion.end_column))

    def line_span(self, line: int) -> Span:
        """Bytes of ``line`` (from 1), its end included."""
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.body)
        return Span(self.line_starts[line - 1], end)

    def first_line(self, statement: ast.stmt) -> int:
        """The line on which a statement begins, or the ``@`` of its first decorator."""
        line: int = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
        while line < statement.lineno and line > 1 and not self.slice(self.line_span(line)).lstrip().startswith("@"):
            line -= 1  # a decorator in brackets begins below its "@"
        return self.logical_line(line)

    def logical_line(self, line: int) -> int:
        """Where the line begins of which ``line`` is a part: above it may be lines with nothing but a backslash."""
        while line > 1 and self.slice(self.line_span(line - 1)).strip() == "\\":
            line -= 1
        return line

    def indentation(self, line: int) -> str:
        """White space at the start of ``line``."""
        span = self.line_span(line)
        text = self.body[span.start : span.end]
        return text[: len(text) - len(text.lstrip(b" \t\f"))].decode("utf-8")

    def encode(self, body: bytes) -> bytes:
        """Bytes to write for an edited ``body``: in the file's encoding, with its BOM.

        Raises:
            UnicodeEncodeError: the file's encoding has no bytes for a character of the edited text.
        """
        raw = body if self.encoding == "utf-8" else body.decode("utf-8").encode(self.encoding)
        return BOM_UTF8 + raw if self.bom else raw


def _comes_back(text: str, raw: bytes, encoding: str) -> bool:
    """Whether encoding the text gives the bytes that it was decoded from, also line by line: edits change some lines.

    Not so with punycode, which collects the letters that are not ASCII behind the last line.
    """
    try:
        return text.encode(encoding) == raw == b"".join(line.encode(encoding) for line in _LINES.findall(text))
    except UnicodeError:
        return False


def has_line_end(text: bytes) -> bool:
    """Whether the text spans lines, however they end: a carriage return alone ends one too."""
    return b"\n" in text or b"\r" in text


def line_at(body: bytes, offset: int) -> int:
    """The line, from 1, on which the byte at ``offset`` stands."""
    return bisect_right(_line_starts(body), offset)


def _line_starts(body: bytes) -> list[int]:
    lines = body.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    return starts if not lines or lines[-1].endswith((b"\n", b"\r")) else starts[:-1]


class Piece(NamedTuple):
    """A part of the edited text, and its origin in the original text."""

    text: bytes
    origin: Span
    """The span that ``text`` is copied from; if it is not a copy, the span that the edit replaces."""
    is_copy: bool


def splice(body: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply edits to ``body``. Of an edit inside a larger one, only the larger counts, unless its parts copy the span.

    Raises:
        ValueError: two edits overlap, and neither contains the other; or an edit has deferred text.
    """
    return _text(pieces(body, edits))


def pieces(body: bytes, edits: Iterable[Edit]) -> list[Piece]:
    """The text that ``splice`` returns, in parts with their origins.

    Raises:
        ValueError: two edits overlap, and neither contains the other; or an edit has deferred text.
    """
    found: list[Piece] = []
    _render(body, Span(0, len(body)), sorted(dict.fromkeys(edits), key=_position), found)
    return found


def _text(rendered: Iterable[Piece]) -> bytes:
    return b"".join(piece.text for piece in rendered)


def _render(body: bytes, span: Span, edits: list[Edit], found: list[Piece]) -> None:
    """Add the parts of ``span`` of ``body`` with ``edits`` applied; these are sorted and inside the span."""
    position, index = span.start, 0
    while index < len(edits):
        edit = edits[index]
        start, end = edit.span
        following = index + 1
        if end > start:
            while following < len(edits) and edits[following].span.start < end:
                if edits[following].span.end > end:
                    raise ValueError(f"edits overlap at byte {edits[following].span.start}")
                following += 1
        found.append(Piece(body[position:start], Span(position, start), True))
        first = len(found)
        if edit.parts:
            _replace(body, edit, edits[index + 1 : following], found)
        else:
            found.append(Piece(edit.text.encode("utf-8"), edit.span, False))
        if _is_behind_keyword(body, span.start, start) and _WORD.match(_text(found[first:])):
            found.insert(first, Piece(b" ", edit.span, False))
        if end < span.end and _KEYWORD.match(body, end) and _WORD.match(_text(found[first:])[-1:]):
            found.append(Piece(b" ", edit.span, False))
        position, index = end, following
    found.append(Piece(body[position : span.end], Span(position, span.end), True))


def _is_behind_keyword(body: bytes, start: int, position: int) -> bool:
    """Whether a keyword ends at ``position``: in ``return(x)`` only the bracket keeps it apart from what follows."""
    if position == start or not body[position - 1 : position].isalpha():
        return False
    word = _IDENTIFIER.search(body, max(start, position - _LONGEST - 1), position)
    return word is not None and _KEYWORD.fullmatch(word[0]) is not None


def _replace(body: bytes, edit: Edit, inside: list[Edit], found: list[Piece]) -> None:
    """Add the parts of an edit that has some, in which the edits ``inside`` it are applied."""
    starts = [e.span.start for e in inside]
    for index, part in enumerate(edit.parts):
        if isinstance(part, str):
            found.append(Piece(part.encode("utf-8"), edit.span, False))
            continue
        if isinstance(part, DeferredText):
            raise ValueError(f"the {part.name} was never filled in at byte {edit.span.start}")
        first, last = bisect_left(starts, part.start), bisect_right(starts, part.end)
        contained = [e for e in inside[first:last] if e.span.end <= part.end]
        rendered: list[Piece] = []
        _render(body, part, contained, rendered)
        if (
            contained
            and not _is_delimited(edit.parts, index)
            and _is_primary(body[part.start : part.end])
            and not _is_primary(_text(rendered))
        ):  # a call became an operator's expression: torch.sub(a, b) became a - b
            rendered = [Piece(b"(", part, False), *rendered, Piece(b")", part, False)]
        found += rendered


def _is_delimited(parts: Sequence[str | Span | DeferredText], index: int) -> bool:
    """Whether a part is between brackets or commas, or a statement: any expression stands there without brackets."""
    before = parts[index - 1] if index else ""
    after = parts[index + 1] if index + 1 < len(parts) else ""
    if not isinstance(before, str) or not isinstance(after, str):
        return False
    if not after and _NEW_STATEMENT.search(before):
        return True
    before, after = before.rstrip(), after.lstrip()
    opened = before.endswith(("(", "[", ",", "=")) and not before.endswith(("==", "!=", "<=", ">="))
    return opened and after.startswith((")", "]", ","))


@lru_cache(maxsize=8192)
def _is_primary(text: bytes) -> bool:
    """Whether an expression is a name, a call or the like, or is in brackets: ``.attribute`` can follow it."""
    try:
        body = ast.parse(text + b".attribute", mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return isinstance(body, ast.Attribute) and body.attr == "attribute"


def _position(edit: Edit) -> tuple[int, bool, bool, int, bool, bool, int]:
    """Insertions come before a replacement that starts at the same byte, imports first; larger replacements first.

    Of two that replace the same span, the one whose parts copy that span comes first: the other applies inside it. Of
    two that copy it, so does the one that puts lines of its own above it, and of two such the one whose line moves
    less: ``g()`` of ``f(g())`` before ``f(g())``, which reads the name that it gets.
    """
    start, end = edit.span
    is_import = end == start and edit.text.lstrip().startswith(("import ", "from "))
    values = [part for part in edit.parts[:-1] if isinstance(part, Span)] if edit.parts[-1:] == (edit.span,) else []
    moved = max(value.end - value.start for value in values) if values else 0
    return start, end > start, not is_import, -end, edit.span not in edit.parts, not moved, moved
