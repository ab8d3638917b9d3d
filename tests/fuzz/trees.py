"""Bytes of a file as text and as a syntax tree, read without the engine."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from codecs import BOM_UTF8
from functools import lru_cache


@lru_cache(maxsize=4)
def parsed(data: bytes) -> ast.Module | None:
    """The tree of a file, or None: not Python, newer than the running Python, or too deep."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError, LookupError):
        return None


def compiles(data: bytes) -> bool:
    """Whether this Python can compile ``data``: ``return`` outside of a function parses, and does not compile."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "program.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, LookupError):
        return False
    return True


def encoding_of(data: bytes) -> str:
    """The codec that the file declares.

    Raises:
        SyntaxError: there is none of that name.
    """
    return tokenize.detect_encoding(io.BytesIO(data).readline)[0].removesuffix("-sig")


def text_of(data: bytes) -> str:
    """The text of a file, without a byte order mark."""
    return data.removeprefix(BOM_UTF8).decode(encoding_of(data))


def round_trips(data: bytes) -> bool:
    """Whether the text of a file is its bytes again, encoded as a whole and line by line: lines change one by one.

    Carriage returns that a codec makes of other bytes are none to Python, so its text has other lines than the file.
    """
    raw, encoding = data.removeprefix(BOM_UTF8), encoding_of(data)
    try:
        text = raw.decode(encoding)
        lines = b"".join(line.encode(encoding) for line in io.StringIO(text, newline=""))
        return lines == raw == text.encode(encoding) and text.count("\r") == raw.count(b"\r")
    except (UnicodeError, LookupError):
        return False
