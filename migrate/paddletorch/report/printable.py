"""Text of unknown origin, such as file names, made fit to be shown."""

from __future__ import annotations


def printable(text: str) -> str:
    """``text`` with control characters and undecodable bytes of file names escaped."""
    return text if text.isprintable() else repr(text)[1:-1]
