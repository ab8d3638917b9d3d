"""Promise: outside of the edits a file keeps its bytes, also in a codec other than UTF-8."""

from __future__ import annotations

import itertools

from paddletorch.gate.converted_text import ConvertedText
from paddletorch.gate.definitions import lines_behind
from paddletorch.gate.violation import Violation
from paddletorch.model import Span

CODE = "SRC015"


def changed_bytes(text: ConvertedText) -> list[Violation]:
    """New characters for which the file's codec has no bytes, and bytes of the file that encoding would change."""
    source = text.source
    if source.encoding == "utf-8":
        return []  # the text is the bytes
    lacking: set[int] = set()
    place = 0
    for piece in text.pieces:
        if not piece.is_copy and not _has_bytes(piece.text, source.encoding):
            lacking |= lines_behind(text, text.new_tree, place)
        place += len(piece.text)
    if lacking:
        return [Violation(CODE, f"the codec {source.encoding} has no bytes for a character", frozenset(lacking))]
    try:
        encoded = [piece.text.decode("utf-8").encode(source.encoding) for piece in text.pieces]
        whole = source.encode(text.body)
    except UnicodeError as error:
        return [Violation(CODE, str(error))]
    before = _torn_before(text)
    if before or whole != b"".join(encoded):
        torn = before | _torn_after(text)
        return [Violation(CODE, f"the codec {source.encoding} does not keep the bytes between the edits", torn)]
    return []


def _torn_before(text: ConvertedText) -> frozenset[int]:
    """The lines of edits beside which what remains has other bytes in the file than it has alone."""
    body, encoding = text.source.body, text.source.encoding
    origins = [piece.origin for piece in text.pieces if piece.is_copy]
    places = sorted({0, len(body), *(o.start for o in origins), *(o.end for o in origins)})
    parts = [(start, body[start:end].decode("utf-8")) for start, end in itertools.pairwise(places)]
    kept = {o.start for o in origins}
    found: set[int] = set()
    for (first, left), (place, right) in itertools.pairwise(parts):
        both = (left + right).encode(encoding)
        is_left_torn = first in kept and not both.startswith(left.encode(encoding))
        if is_left_torn or (place in kept and not both.endswith(right.encode(encoding))):
            found |= text.lines_of(Span(place, place))
    return frozenset(found)


def _torn_after(text: ConvertedText) -> frozenset[int]:
    """The lines of edits that begin or end where new bytes depend on the characters on both sides."""
    found: set[int] = set()
    place = 0
    for piece in text.pieces:
        end = place + len(piece.text)
        if piece.is_copy:
            for old, new, beside in ((piece.origin.start, place, place - 1), (piece.origin.end, end, end)):
                if not _is_clean(text, new):
                    found |= text.lines_of(Span(old, old))
                    if 0 <= beside < len(text.body):  # a written definition stays while lines elsewhere use it
                        found |= lines_behind(text, text.new_tree, beside)
        place = end
    return frozenset(found)


def _is_clean(text: ConvertedText, place: int) -> bool:
    """Whether the line's parts before and after ``place`` have the bytes that they have together."""
    body = text.body
    start, end = body.rfind(b"\n", 0, place) + 1, body.find(b"\n", place) + 1
    parts = body[start:place], body[place : end or len(body)]
    before, after, whole = (part.decode("utf-8").encode(text.source.encoding) for part in (*parts, b"".join(parts)))
    return before + after == whole


def _has_bytes(text: bytes, encoding: str) -> bool:
    try:
        text.decode("utf-8").encode(encoding)
    except UnicodeError:
        return False
    return True
