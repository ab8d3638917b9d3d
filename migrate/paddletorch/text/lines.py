"""The lines of a Python file as text, for reports and for what is compared line by line."""

from __future__ import annotations

import re

from paddletorch.text.source import Source, Undecodable

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def text_lines(data: bytes) -> list[str]:
    """The lines of a Python file with their ends, as Python counts them: ``\\n``, ``\\r\\n`` or ``\\r`` ends one.

    Bytes that do not fit the file's encoding become U+FFFD.
    """
    try:
        text = Source(data).text
    except Undecodable:
        text = data.decode("utf-8", "replace")
    return _LINE.findall(text)
