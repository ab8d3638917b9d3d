"""``# paddletorch: ignore[CODE]`` and ``ignore-file[CODE]`` comments, which suppress edits and findings."""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from paddletorch.text.source import Source

MARK = b"paddletorch:"
"""Bytes that every file with such comments contains."""

_COMMENT = re.compile(
    r"""\#\s*paddletorch:\s*(?P<word>ignore[\w-]*)
        (?: \s*\[ (?P<codes>[^\]#]*) (?P<closed>\])?   # the codes
        | [\s:]*(?P<bare>[A-Za-z]{3}\d{1,3}\b)         # a code without brackets: an error
        )?""",
    re.VERBOSE,
)
_CODE = re.compile(r"[A-Z]+\d*")
ALL = ""
"""The only entry of ``Comment.codes`` if a comment has no codes; as a prefix it matches them all."""


@dataclass(slots=True)
class Comment:
    """One comment; ``line`` and the columns count from 1, the columns in characters."""

    line: int
    column: int
    end_column: int
    whole_file: bool = False
    codes: tuple[str, ...] = ()
    """Codes and their prefixes; :data:`ALL` if the comment has none; empty if it cannot be read."""
    problem: str = ""
    """Why it cannot be read."""
    used: set[str] = field(default_factory=set)
    """Those of ``codes`` that suppressed something."""


class Suppressions:
    """The comments of one file, and which of their codes suppressed something."""

    def __init__(self, source: Source, former_codes: Mapping[str, str] | None = None) -> None:
        """``former_codes``: the earlier names of codes, by code; comments may still use them."""
        self._former_codes = former_codes or {}
        self.comments: list[Comment] = []
        if MARK in source.body:
            self.comments += _read(source.text)
        self._whole_file = [comment for comment in self.comments if comment.whole_file]
        self._on_lines = sorted((c for c in self.comments if not c.whole_file), key=lambda comment: comment.line)
        self._lines = [comment.line for comment in self._on_lines]
        self._in_file: dict[str, bool] = {}
        """Whether a comment for the whole file suppresses a code, by code."""

    def covers(self, code: str, first: int, last: int) -> bool:
        """Whether ``code`` is suppressed in the file or anywhere on lines ``first`` to ``last`` (from 1, inclusive)."""
        if not self.comments:
            return False
        if code not in self._in_file:
            self._in_file[code] = self._suppress(code, self._whole_file)
        nearby = self._on_lines[bisect_left(self._lines, first) : bisect_right(self._lines, last)]
        return self._suppress(code, nearby) or self._in_file[code]

    def _suppress(self, code: str, comments: Sequence[Comment]) -> bool:
        """Whether one of the comments suppresses ``code``; they are then used."""
        covered = False
        names = code, self._former_codes.get(code, code)
        for comment in comments:
            matching = [prefix for prefix in comment.codes if any(name.startswith(prefix) for name in names)]
            comment.used.update(matching)
            covered = covered or bool(matching)
        return covered

    def unused(self) -> set[tuple[int, int, str]]:
        """Line, column and code of the codes that have suppressed nothing."""
        return {(c.line, c.column, code) for c in self.comments for code in c.codes if code not in c.used}


def _read(text: str) -> Iterator[Comment]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                for match in _COMMENT.finditer(token.string):
                    yield _comment(match, *token.start)
    except (tokenize.TokenError, SyntaxError):  # syntax newer than the running Python: the comments before it count
        return


def _comment(match: re.Match[str], line: int, offset: int) -> Comment:
    comment = Comment(line, offset + match.start() + 1, offset + match.end() + 1)
    word, codes, bare = match["word"], match["codes"], match["bare"]
    listed = [code.strip().upper() for code in (codes or "").split(",")]
    if word not in ("ignore", "ignore-file"):
        comment.problem = f"{word!r} is not known: write ignore[CODE] or ignore-file[CODE]"
    elif bare is not None:
        comment.problem = f"write {word}[{bare.upper()}]: codes stand in brackets"
    elif codes is not None and match["closed"] is None:
        comment.problem = "the bracket is not closed"
    elif codes is not None and not any(listed):
        comment.problem = "there is no code in the brackets"
    elif codes is not None and not all(_CODE.fullmatch(code) for code in listed if code):
        comment.problem = f"[{codes}] is no list of codes: write {word}[AMP213, OPT204]"
    else:
        comment.whole_file = word == "ignore-file"
        comment.codes = tuple(dict.fromkeys(code for code in listed if code)) or (ALL,)
    return comment


def comments_of(lines: Sequence[str]) -> list[Comment]:
    """The comments in the lines of a text that is no Python and whose comments begin with ``#``."""
    found = ((match, number) for number, text in enumerate(lines, 1) for match in _COMMENT.finditer(text))
    return [_comment(match, number, 0) for match, number in found]
