"""A Python file as bytes: its encoding, its lines, and where a syntax node lies in it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from paddletorch.model import Edit, Placeholder, Span
from paddletorch.text.masked import Masked

WIDTH = 120
"""Characters that a line may have before a call that gains arguments is broken."""

_INDENT = re.compile(rb"(?m):[ \t]*(?:#[^\r\n]*)?\r?\n( +)[^\s#]")
_LINE_END = re.compile(rb"\r\n|\r|\n")


class Undecodable(ValueError):
    """The bytes do not fit the declared or default encoding."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What a module of several cells does not show: the first lines of its cells, and names that other text uses."""

    cells: tuple[int, ...] = ()
    names: frozenset[str] = frozenset()


class Source:
    """The decoded file. All spans are byte offsets in ``body``: its text as UTF-8, without BOM.

    Raises:
        Undecodable: the bytes do not fit the file's encoding, or the encoding is unknown.
    """

    def __init__(self, data: bytes, *, encoding: str | None = None) -> None:
        """``encoding``: what the bytes are in, whatever a comment among them says."""
        self.data = data
        self.bom = data.startswith(BOM_UTF8)
        try:
            self.encoding = encoding or tokenize.detect_encoding(io.BytesIO(data).readline)[0]
            raw = data[len(BOM_UTF8) :] if self.bom else data
            if self.encoding == "utf-8-sig":
                self.encoding = "utf-8"
            text = raw.decode(self.encoding)
        except (SyntaxError, UnicodeDecodeError, LookupError) as error:
            raise Undecodable(str(error)) from None
        self.text = text
        self.outside = Outside()
        """What else is known of the cells of a document."""
        self.masked: Masked | None = None
        """Set where the file holds syntax newer than the running Python."""
        self.body = raw if self.encoding == "utf-8" else text.encode("utf-8")
        self.line_starts = _line_starts(self.body)
        first = _LINE_END.search(self.body)
        self.newline = first.group().decode() if first else "\n"
        indented = _INDENT.search(self.body)
        self.indent = len(indented.group(1)) if indented and len(indented.group(1)) in (2, 3, 4, 8) else 4
        self.quote = '"' if self.body.count(b'"') > self.body.count(b"'") else "'"

    @property
    def unread_names(self) -> frozenset[str]:
        """Names used where the syntax tree does not show it: in newer syntax, and in what is no Python."""
        unread = self.outside.names
        return unread | self.masked.names if self.masked is not None else unread

    def cell(self, line: int) -> int:
        """Which cell a line belongs to; a Python file is one cell."""
        return bisect_right(self.outside.cells, line)

    def offset(self, line: int, column: int) -> int:
        """Byte offset of a node position: ``line`` from 1, ``column`` in UTF-8 bytes from 0, as ast counts."""
        return self.line_starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg) -> Span:
        """Where ``node`` lies."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return Span(self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset))

    def slice(self, span: Span) -> str:
        """The text of ``span``."""
        return self.body[span.start : span.end].decode("utf-8")

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte offset, both from 1, the column in characters."""
        line = bisect_right(self.line_starts, offset)
        start = self.line_starts[line - 1]
        return line, len(self.body[start:offset].decode("utf-8", "replace")) + 1

    def line_span(self, line: int) -> Span:
        """Bytes of ``line`` (from 1), its end included."""
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.body)
        return Span(self.line_starts[line - 1], end)

    def indentation(self, line: int) -> str:
        """White space at the start of ``line``."""
        span = self.line_span(line)
        text = self.body[span.start : span.end]
        return text[: len(text) - len(text.lstrip(b" \t\f"))].decode("utf-8")

    def encode(self, body: bytes) -> bytes:
        """Bytes to write for an edited ``body``: in the file's encoding, with its BOM.

        Raises:
            UnicodeEncodeError: the edited text does not fit the file's encoding.
        """
        raw = body if self.encoding == "utf-8" else body.decode("utf-8").encode(self.encoding)
        return BOM_UTF8 + raw if self.bom else raw


def _line_starts(body: bytes) -> list[int]:
    if b"\r" in body:
        return [0, *(match.end() for match in _LINE_END.finditer(body))]
    return [0, *accumulate(len(line) + 1 for line in body.split(b"\n")[:-1])]


class Piece(NamedTuple):
    """A part of the edited text, and where it comes from."""

    text: bytes
    origin: Span
    """Where the bytes stood, if they are kept; else what the edit that wrote them replaces."""
    kept: bool


def splice(body: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply edits to ``body``. An edit inside a larger replaced span gives way to it, unless a part keeps it.

    Raises:
        ValueError: two edits overlap without one holding the other, or one has a placeholder.
    """
    return _text(pieces(body, edits))


def pieces(body: bytes, edits: Iterable[Edit]) -> list[Piece]:
    """The text that ``splice`` makes, in parts that know where they come from.

    Raises:
        ValueError: two edits overlap without one holding the other, or one has a placeholder.
    """
    return list(_render(body, Span(0, len(body)), sorted(dict.fromkeys(edits), key=_position)))


def _text(made: Iterable[Piece]) -> bytes:
    return b"".join(piece.text for piece in made)


def _render(body: bytes, span: Span, edits: list[Edit]) -> Iterator[Piece]:
    """``span`` of ``body`` with ``edits``, which are sorted and lie inside, applied."""
    position, index = span.start, 0
    while index < len(edits):
        edit = edits[index]
        following = index + 1
        if edit.span.end > edit.span.start:
            while following < len(edits) and edits[following].span.start < edit.span.end:
                if edits[following].span.end > edit.span.end:
                    raise ValueError(f"edits overlap at byte {edits[following].span.start}")
                following += 1
        yield Piece(body[position : edit.span.start], Span(position, edit.span.start), True)
        yield from _replacement(body, edit, edits[index + 1 : following])
        position, index = edit.span.end, following
    yield Piece(body[position : span.end], Span(position, span.end), True)


def _replacement(body: bytes, edit: Edit, inside: list[Edit]) -> Iterator[Piece]:
    if not edit.parts:
        yield Piece(edit.text.encode("utf-8"), edit.span, False)
    for index, part in enumerate(edit.parts):
        if isinstance(part, str):
            yield Piece(part.encode("utf-8"), edit.span, False)
            continue
        if isinstance(part, Placeholder):
            raise ValueError(f"the {part.name} was never filled in at byte {edit.span.start}")
        held = [e for e in inside if part.start <= e.span.start and e.span.end <= part.end]
        made = list(_render(body, part, held))
        if (
            held
            and not _stands_free(edit.parts, index)
            and _is_one(body[part.start : part.end])
            and not _is_one(_text(made))
        ):  # a call became an operator's expression: torch.sub(a, b) became a - b
            made = [Piece(b"(", part, False), *made, Piece(b")", part, False)]
        yield from made


def _stands_free(parts: Sequence[str | Span | Placeholder], index: int) -> bool:
    """Whether a part stands between brackets or commas, where any expression may stand."""
    before = parts[index - 1] if index else ""
    after = parts[index + 1] if index + 1 < len(parts) else ""
    if not isinstance(before, str) or not isinstance(after, str):
        return False
    before, after = before.rstrip(), after.lstrip()
    opened = before.endswith(("(", "[", ",", "=")) and not before.endswith(("==", "!=", "<=", ">="))
    return opened and after.startswith((")", "]", ","))


@lru_cache(maxsize=1024)
def _is_one(text: bytes) -> bool:
    """Whether an expression is a name, a call or the like, or has brackets around it: an attribute can follow."""
    try:
        body = ast.parse(text + b".attribute", mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return isinstance(body, ast.Attribute) and body.attr == "attribute"


def _position(edit: Edit) -> tuple[int, bool, int, bool]:
    """Insertions come before a replacement that starts at the same place; larger replacements first.

    Of two that replace the same, the one that keeps what the other makes comes first.
    """
    return edit.span.start, edit.span.end > edit.span.start, -edit.span.end, edit.span not in edit.parts
