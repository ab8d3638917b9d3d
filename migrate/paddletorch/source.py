"""A Python file as bytes: its encoding, its lines, and where a syntax node lies in it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Iterable
from typing import TYPE_CHECKING

from paddletorch.model import Edit, Span

if TYPE_CHECKING:
    from paddletorch.newer import Masked

WIDTH = 120
"""Characters that a line may have before a call that gains arguments is broken."""

_INDENT = re.compile(rb"(?m):[ \t]*(?:#[^\r\n]*)?\r?\n( +)[^\s#]")
_LINE_END = re.compile(rb"\r\n|\r|\n")


class Undecodable(ValueError):
    """The bytes do not fit the declared or default encoding."""


class Source:
    """The decoded file. All spans are byte offsets in ``body``: its text as UTF-8, without BOM.

    Raises:
        Undecodable: the bytes do not fit the file's encoding, or the encoding is unknown.
    """

    def __init__(self, data: bytes) -> None:
        self.bom = data.startswith(BOM_UTF8)
        try:
            self.encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
            raw = data[len(BOM_UTF8) :] if self.bom else data
            if self.encoding == "utf-8-sig":
                self.encoding = "utf-8"
            text = raw.decode(self.encoding)
        except (SyntaxError, UnicodeDecodeError, LookupError) as error:
            raise Undecodable(str(error)) from None
        self.text = text
        self.masked: Masked | None = None
        """Set where the file holds syntax newer than the running Python."""
        self.body = raw if self.encoding == "utf-8" else text.encode("utf-8")
        ends = [match.end() for match in _LINE_END.finditer(self.body)]
        self.line_starts = [0, *ends]
        first = _LINE_END.search(self.body)
        self.newline = first.group().decode() if first else "\n"
        indented = _INDENT.search(self.body)
        self.indent = len(indented.group(1)) if indented and len(indented.group(1)) in (2, 3, 4, 8) else 4
        self.quote = '"' if self.body.count(b'"') > self.body.count(b"'") else "'"

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


def splice(body: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply edits to ``body``. An edit inside a larger replaced span gives way to it.

    Raises:
        ValueError: two edits overlap without one holding the other.
    """
    pieces: list[bytes] = []
    position = 0
    for edit in outermost(edits):
        pieces.append(body[position : edit.span.start])
        pieces.append(edit.text.encode("utf-8"))
        position = edit.span.end
    pieces.append(body[position:])
    return b"".join(pieces)


def _position(edit: Edit) -> tuple[int, bool, int]:
    """Insertions come before a replacement that starts at the same place; larger replacements first."""
    return edit.span.start, edit.span.end > edit.span.start, -edit.span.end


def outermost(edits: Iterable[Edit]) -> list[Edit]:
    """Edits in order, without those that a larger edit swallows; equal edits once.

    Raises:
        ValueError: two edits overlap without one holding the other.
    """
    kept: list[Edit] = []
    for edit in sorted(dict.fromkeys(edits), key=_position):
        last = kept[-1] if kept else None
        if last is None or edit.span.start >= last.span.end:
            kept.append(edit)
        elif edit.span.end > last.span.end:
            raise ValueError(f"edits overlap at byte {edit.span.start}")
    return kept
