"""Promise: outside of the edits a file keeps its bytes, also in a codec other than UTF-8."""

from __future__ import annotations

import itertools

from paddletorch.gate.converted_text import ConvertedText
from paddletorch.gate.violation import Violation
from paddletorch.model import Span

CODE = "SRC015"


def changed_bytes(text: ConvertedText) -> list[Violation]:
    """New characters for which the file's codec has no bytes, and bytes of the file that encoding would change."""
    source = text.source
    if source.encoding == "utf-8":
        return []  # the text is the bytes
    lacking: set[int] = set()
    for piece in text.pieces:
        if not piece.is_copy and not _has_bytes(piece.text, source.encoding):
            lacking |= text.lines_of(piece.origin)
    if lacking:
        return [Violation(CODE, f"the codec {source.encoding} has no bytes for a character", frozenset(lacking))]
    try:
        encoded = [piece.text.decode("utf-8").encode(source.encoding) for piece in text.pieces]
        whole = source.encode(text.body)
    except UnicodeError as error:
        return [Violation(CODE, str(error))]
    if whole != b"".join(encoded) or _put_together(text) != source.data:
        return [Violation(CODE, f"the codec {source.encoding} does not keep the bytes between the edits", _torn(text))]
    return []


def _torn(text: ConvertedText) -> frozenset[int]:
    """The lines of edits that begin or end where the codec's bytes depend on the characters on both sides."""
    found: set[int] = set()
    place = 0
    for piece in text.pieces:
        if piece.is_copy:
            start, end = piece.origin.start, piece.origin.end
            for old, new in ((start, place), (end, place + len(piece.text))):
                if not (_is_clean(text, text.source.body, old) and _is_clean(text, text.body, new)):
                    found |= text.lines_of(Span(old, old))
        place += len(piece.text)
    return frozenset(found)


def _is_clean(text: ConvertedText, body: bytes, place: int) -> bool:
    """Whether the line's parts before and after ``place`` have the bytes that they have together."""
    start, end = body.rfind(b"\n", 0, place) + 1, body.find(b"\n", place)
    parts = body[start:place], body[place : end if end >= 0 else len(body)]
    before, after, whole = (part.decode("utf-8").encode(text.source.encoding) for part in (*parts, b"".join(parts)))
    return before + after == whole


def _put_together(text: ConvertedText) -> bytes:
    """The file's bytes, encoded part by part: those that remain and those that the edits replace."""
    source = text.source
    origins = [piece.origin for piece in text.pieces if piece.is_copy]
    places = sorted({0, len(source.body), *(o.start for o in origins), *(o.end for o in origins)})
    parts = (source.body[start:end] for start, end in itertools.pairwise(places))
    return b"".join(part.decode("utf-8").encode(source.encoding) for part in parts)


def _has_bytes(text: bytes, encoding: str) -> bool:
    try:
        text.decode("utf-8").encode(encoding)
    except UnicodeError:
        return False
    return True
