"""``# paddletorch: ignore[CODE]`` and ``ignore-file[CODE]`` comments: which lines keep what they have."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from paddletorch.text.source import Source

MARK = b"paddletorch:"
"""What a file with such comments holds."""

_COMMENT = re.compile(
    r"""\#\s*paddletorch:\s*(?P<word>ignore[\w-]*)
        (?: \s*\[ (?P<codes>[^\]#]*) (?P<closed>\])?   # the codes
        | [\s:]*(?P<bare>[A-Za-z]{3}\d{1,3}\b)         # a code where no brackets are: a slip
        )?""",
    re.VERBOSE,
)
_CODE = re.compile(r"[A-Z]+\d*")
ALL = ""
"""Stands for the codes of a comment that names none; as a prefix it fits them all."""


@dataclass(slots=True)
class Comment:
    """One comment; ``line`` and the columns count from 1, the columns in characters."""

    line: int
    column: int
    end_column: int
    whole_file: bool = False
    codes: tuple[str, ...] = ()
    """Areas, codes and prefixes; :data:`ALL` if the comment names none. Empty: it cannot be read."""
    problem: str = ""
    """Why it cannot be read."""
    used: set[str] = field(default_factory=set)
    """Those of ``codes`` that kept something away."""


class Suppressions:
    """The comments of one file, and what they were good for."""

    def __init__(self, source: Source, former_codes: Mapping[str, str] | None = None) -> None:
        """``former_codes`` are those that codes had before, which comments may still name."""
        self._former_codes = former_codes or {}
        self.comments: list[Comment] = []
        if MARK in source.body:
            self.comments += _read(source.text)
        self._whole_file = [comment for comment in self.comments if comment.whole_file]
        self._lines: dict[int, list[Comment]] = {}
        for comment in self.comments:
            if not comment.whole_file:
                self._lines.setdefault(comment.line, []).append(comment)

    def covers(self, code: str, first: int, last: int) -> bool:
        """Whether ``code`` is suppressed in the file or anywhere on lines ``first`` to ``last`` (from 1, inclusive)."""
        if not self.comments:
            return False
        hit = False
        names = code, self._former_codes.get(code, code)
        nearby = (comment for line in range(first, last + 1) for comment in self._lines.get(line, ()))
        for comment in (*self._whole_file, *nearby):
            fitting = [prefix for prefix in comment.codes if any(name.startswith(prefix) for name in names)]
            comment.used.update(fitting)
            hit = hit or bool(fitting)
        return hit

    def unused(self) -> set[tuple[int, int, str]]:
        """Line, column and code of what suppressed nothing so far."""
        return {(c.line, c.column, code) for c in self.comments for code in c.codes if code not in c.used}


def _read(text: str) -> Iterator[Comment]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                for match in _COMMENT.finditer(token.string):
                    yield _comment(match, *token.start)
    except (tokenize.TokenError, SyntaxError):  # in syntax newer than the running Python: what came before counts
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
