"""Syntax newer than the running Python: LibCST finds it, and it is masked so that ``ast`` can read the rest.

Masking keeps every byte position. Names inside what is masked count as used; uses there are reported.
"""

from __future__ import annotations

import ast
import re
import string
import sys

from paddletorch.model import Span
from paddletorch.text.masked import Masked
from paddletorch.text.source import Source

_DEPTH = 150
_LINE = 20_000
"""LibCST's parser crashes the process on input nested about 10,000 deep (measured); far less is refused here."""

_FORM_FEEDS = re.compile(rb"(?<![^\r\n])\x0c+")
_NAME = re.compile(r"[^\W\d]\w*")


def mask(source: Source, path: str) -> Masked | None:
    """Parse ``source`` with its newer syntax masked; None if LibCST cannot parse it either."""
    if _too_deep(source.body):
        return None
    try:
        regions = _newer_syntax(source)
    except (SyntaxError, RecursionError):
        return None
    body = bytearray(source.body)
    for span, text in regions:
        body[span.start : span.end] = text
    try:
        module = ast.parse(body.decode("utf-8"), filename=path)
    except (SyntaxError, ValueError, RecursionError):
        return None
    spans = tuple(span for span, _ in regions)
    names = frozenset(name for span in spans for name in _NAME.findall(source.slice(span)))
    return Masked(module, spans, names)


def parses(body: bytes) -> bool:
    """Whether LibCST can parse a converted file that ``ast`` cannot."""
    import libcst

    try:
        libcst.parse_module(_without_form_feeds(body))
    except (libcst.ParserSyntaxError, RecursionError):
        return False
    return True


def _too_deep(body: bytes) -> bool:
    depth = deepest = 0
    for byte in body:
        if byte in b"([{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b")]}":
            depth = max(0, depth - 1)
    return deepest > _DEPTH or any(len(line) > _LINE for line in body.splitlines())


def _newer_syntax(source: Source) -> list[tuple[Span, bytes]]:
    import libcst
    from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

    body = _without_form_feeds(source.body)
    try:
        module = libcst.parse_module(body)
    except libcst.ParserSyntaxError as error:
        raise SyntaxError(str(error)) from None
    if module.code != body:
        raise SyntaxError("its positions are not known")
    spans = MetadataWrapper(module, unsafe_skip_copy=True).resolve(ByteSpanPositionProvider)
    found: list[tuple[Span, bytes]] = []
    unknown = _free_name(source.body)
    for node, position in spans.items():
        span = Span(position.start, position.start + position.length)
        text = source.body[span.start : span.end]
        if found and span.start < found[-1][0].end and span.start >= found[-1][0].start:
            continue  # inside a region that is masked
        replacement = _replacement(node, text, unknown)
        if replacement is not None:
            found.append((span, replacement))
    found.sort(key=lambda pair: pair[0])
    return found


def _without_form_feeds(body: bytes) -> str:
    """The text with a line end for each form feed that begins a line.

    LibCST takes such a form feed for nothing, so that all positions below are wrong, or for a part of the indentation.
    """
    return _FORM_FEEDS.sub(lambda found: b"\n" * len(found[0]), body).decode("utf-8")


def _free_name(body: bytes) -> bytes:
    """A name of one letter that the file does not have.

    Raises:
        SyntaxError: there is none, so nothing can be masked.
    """
    taken = set(re.findall(rb"(?<![\w\x80-\xff])[^\W\d](?![\w\x80-\xff])", body))
    for letter in "_" + string.ascii_letters.replace("e", ""):  # which a star import of a framework binds
        if letter.encode() not in taken:
            return letter.encode()
    raise SyntaxError("every name of one letter is taken")


def _replacement(node: object, text: bytes, unknown: bytes) -> bytes | None:
    kind = type(node).__name__
    if kind in ("FormattedString", "TemplatedString", "ConcatenatedString"):
        return None if _is_known(text) else _unknown(text, unknown)
    if kind == "TypeAlias" and sys.version_info < (3, 12):
        return b"pass" + _blank(text[4:])
    if kind == "TypeParameters" and sys.version_info < (3, 12):
        return _blank(text)
    return None


def _is_known(text: bytes) -> bool:
    try:
        ast.parse(b"(" + text + b")", mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True


def _blank(text: bytes) -> bytes:
    return re.sub(rb"[^\r\n]", b" ", text)


def _unknown(text: bytes, name: bytes) -> bytes:
    """A call of the unknown ``name``, as long as ``text`` and with its line ends: its value is not known."""
    masked = bytearray(_blank(text))
    free = [index for index, byte in enumerate(masked) if byte == ord(" ")]
    call = b"(%s())" % name
    call = call if len(free) >= len(call) else b"(%s)" % name
    for index, byte in zip([*free[:2], *free[2 - len(call) :]], call, strict=True):
        masked[index] = byte
    return bytes(masked)
