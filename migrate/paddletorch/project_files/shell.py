"""The commands of a shell script and their words, by their places; what a shell would compute is not looked into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEREDOC = re.compile(r"<<(?P<tabs>-?)[ \t]*(?P<quote>['\"\\]?)(?P<word>\w+)")
_CONTINUED = re.compile(r"\\\r?\n(?P<comments>(?:[ \t]*\#[^\n]*\n)*)")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command, at characters ``start`` to ``end``."""

    start: int
    end: int
    text: str
    """Without its quotes."""
    inner: int
    """Where ``text`` begins."""
    simple: bool
    """It has no quotes, or one pair around all of it."""
    fixed: bool
    """The shell puts nothing into it."""
    quoted: bool = False


def commands(text: str, *, comments_between: bool = False) -> Iterator[list[Word]]:
    """The simple commands; up to a place that cannot be read.

    ``comments_between``: comments may stand between the lines of one command, as in a Dockerfile.
    """
    words: list[Word] = []
    heredocs: list[tuple[str, bool]] = []
    index, length = 0, len(text)
    while index < length:
        character = text[index]
        if character == "\\" and (continued := _CONTINUED.match(text, index)):
            index = continued.end() if comments_between else continued.start("comments")
        elif character in " \t\r":
            index += 1
        elif character == "#":
            index = _end_of_line(text, index)
        elif character == "\n":
            yield words
            words, index = [], index + 1
            for word, tabs in heredocs:
                index = _behind_heredoc(text, index, word, tabs)
            heredocs = []
        elif (heredoc := _HEREDOC.match(text, index)) and text[index : index + 3] != "<<<":
            heredocs.append((heredoc["word"], bool(heredoc["tabs"])))
            index = heredoc.end() + len(heredoc["quote"].strip("\\"))
        elif character in ";&|()<>`":
            yield words
            words, index = [], index + 1
        else:
            found = _word(text, index)
            if found is None:
                return
            words.append(found)
            index = found.end
    yield words


def _word(text: str, start: int) -> Word | None:
    """The word that begins at ``start``; None if its quotes do not end."""
    index, length = start, len(text)
    fixed, quotes = True, 0
    while index < length and text[index] not in " \t\r\n;&|()<>`":
        character = text[index]
        if character == "\\":
            if text.startswith(("\\\n", "\\\r\n"), index):
                break
            quotes, index = quotes + 2, index + 2  # an escape is one more thing between the word and its text
        elif character == "'":
            end = text.find("'", index + 1)
            if end < 0:
                return None
            quotes, index = quotes + 1, end + 1
        elif character == '"':
            behind = _end_of_quotes(text, index)
            if behind is None:
                return None
            fixed = fixed and not re.search(r"[$`\\]", text[index:behind])
            quotes, index = quotes + 1, behind
        elif character == "$":
            fixed = False
            index = _behind_expansion(text, index)
            if index < 0:
                return None
        else:
            fixed = fixed and character not in "*?[{~"
            index += 1
    whole = text[start:index]
    if quotes == 0:
        return Word(start, index, whole, start, simple=True, fixed=fixed)
    around = quotes == 1 and whole[0] in "'\"" and whole[-1] == whole[0]
    return Word(start, index, whole[1:-1] if around else whole, start + around, simple=around, fixed=fixed, quoted=True)


def _end_of_quotes(text: str, start: int) -> int | None:
    match = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL).match(text, start)
    return match.end() if match else None


def _behind_expansion(text: str, index: int) -> int:
    """Behind ``$name``, ``${...}`` or ``$(...)``; -1 if it does not end."""
    closing = {"(": ")", "{": "}"}.get(text[index + 1 : index + 2])
    if closing is None:
        return index + 1
    depth = 0
    for place in range(index + 1, len(text)):
        depth += (text[place] == text[index + 1]) - (text[place] == closing)
        if depth == 0:
            return place + 1
    return -1


def _end_of_line(text: str, index: int) -> int:
    end = text.find("\n", index)
    return len(text) if end < 0 else end


def _behind_heredoc(text: str, index: int, word: str, tabs: bool) -> int:
    while index < len(text):
        end = _end_of_line(text, index)
        line = text[index:end].rstrip("\r")
        index = min(end + 1, len(text))
        if (line.lstrip("\t") if tabs else line) == word:
            break
    return index
