"""Reads TOML of unknown origin: the time of the standard parser grows with the square of the parts of a key."""

from __future__ import annotations

import re
import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MOST_PARTS = 100
"""Parts of the longest dotted key that is read, ``a.b.c`` having three."""

_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_LONG_KEY = re.compile(rf"""(?<![\w.'"-]){_PART}(?:[ \t]*\.[ \t]*{_PART}){{{MOST_PARTS}}}""", re.ASCII)


def parse_toml(text: str) -> dict[str, Any]:
    """What a TOML text holds.

    Raises:
        ValueError: it is not TOML, or has a number of more digits than Python reads, or a key of too many parts.
        RecursionError: it is nested too deeply.
    """
    if _LONG_KEY.search(text):
        raise ValueError(f"a dotted key of more than {MOST_PARTS} parts")
    document: dict[str, Any] = tomllib.loads(text)
    return document
