"""Text of unknown origin, such as file names and the texts of tables, made fit to be printed.

What is printed can end on a terminal, which obeys escape sequences, or in the log of a CI job, whose runner obeys
workflow commands: lines that begin with ``::``, and ``##[`` anywhere in a line.
"""

from __future__ import annotations

import os


def printable(text: str) -> str:
    """``text`` as one line that neither a terminal nor a runner obeys.

    Control characters, line breaks, marks that change the direction of text, and undecodable bytes of file names are
    escaped as in Python's strings.
    """
    text = without_controls(text)
    start = len(text) - len(text.lstrip(" "))
    if text.startswith("::", start):
        text = f"{text[:start]}\\x3a{text[start + 1 :]}"
    return text.replace("##[", r"\x23#[")


def printable_line(line: bytes) -> bytes:
    """A line of source that a terminal does not obey; its tabs and its line end stay."""
    text = line.rstrip(b"\r\n")
    shown = b"\t".join(without_controls(os.fsdecode(part)).encode() for part in text.split(b"\t"))
    return shown + line[len(text) :]


def printable_json(text: str) -> str:
    """The same JSON with no workflow command in its strings; no line of it begins with one."""
    return text.replace("##[", r"#\u0023[")


def holds_command(source: bytes) -> bool:
    """Whether a runner could take part of ``source``, printed as it is, for a workflow command."""
    text = source.decode(errors="replace")
    return "##[" in text or any(line.lstrip().startswith("::") for line in text.splitlines())


def without_controls(text: str) -> str:
    """``text`` on one line, with nothing in it that a terminal obeys."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _escaped(character) for character in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
