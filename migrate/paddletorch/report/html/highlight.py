"""Python source in colours: lines as runs of text, each with the class that the page's style sheet knows."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

LONGEST = 500
"""Characters that are shown of a line."""

Run = tuple[str, str]
"""A class, or "" for plain text, and the text."""

_CLASSES = {
    Comment: "c",
    Keyword: "k",
    Operator.Word: "k",
    Name.Builtin: "b",
    Name.Class: "f",
    Name.Decorator: "d",
    Name.Function: "f",
    Number: "n",
    String: "s",
}


def plain(lines: Sequence[str]) -> list[list[Run]]:
    """As ``highlighted``, for text that is not all Python."""
    return [list(_cut([("", text)])) if (text := _shown(line.rstrip("\r\n"))) else [] for line in lines]


def highlighted(lines: Sequence[str]) -> list[list[Run]]:
    """Runs for each of the lines, which follow each other; line ends are left out."""
    if not lines:
        return []
    shown = [_shown(line.rstrip("\r\n")) for line in lines]
    found: list[list[Run]] = [[]]
    for _, kind, text in PythonLexer().get_tokens_unprocessed("\n".join(shown)):
        name = _class_of(kind)
        for number, part in enumerate(text.split("\n")):
            if number:
                found.append([])
            if part and found[-1] and found[-1][-1][0] == name:
                found[-1][-1] = name, found[-1][-1][1] + part
            elif part:
                found[-1].append((name, part))
    return [list(_cut(runs)) for runs in found[: len(lines)]]


@cache
def _class_of(kind: _TokenType) -> str:
    return next((_CLASSES[parent] for parent in reversed(kind.split()) if parent in _CLASSES), "")


def _cut(runs: Sequence[Run]) -> Iterator[Run]:
    left = LONGEST
    for name, text in runs:
        if len(text) > left:
            more = sum(len(text) for _, text in runs) - LONGEST
            yield name, text[:left]
            yield "cut", f"… {more} more"
            return
        left -= len(text)
        yield name, text


def _shown(line: str) -> str:
    return line if line.isascii() and line.isprintable() else line.translate(_VISIBLE)


class _Visible(dict[int, str]):
    """What cannot be seen or turns the text around it, as a sign that can be seen; one character for one."""

    def __missing__(self, point: int) -> str:
        character = chr(point)
        if point < 0x20 and character != "\t":
            character = chr(0x2400 + point)
        elif unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp") and character != "\t":
            character = "\ufffd"
        self[point] = character
        return character


_VISIBLE = _Visible()
