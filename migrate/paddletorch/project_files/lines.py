"""The lines of a text: positions in it, and the codes that its comments suppress."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from paddletorch.text.suppress import MARK, comments_of

_LINE_END = re.compile(r"\r\n|\r|\n")
_WHOLE_FILE = 0
"""In place of a line."""


class Lines:
    """A text by its lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def position(self, place: int) -> tuple[int, int]:
        """Line and column of a character, both from 1."""
        line = bisect_right(self._starts, place)
        return line, place - self._starts[line - 1] + 1

    def suppresses(self, line: int, code: str) -> bool:
        """Whether a comment on the line, or one for the whole file, suppresses the code."""
        return code.startswith((*self._suppressed.get(line, ()), *self._suppressed.get(_WHOLE_FILE, ())))

    @cached_property
    def _suppressed(self) -> dict[int, set[str]]:
        """The codes, or what they begin with, that comments suppress, by line."""
        found: dict[int, set[str]] = {}
        for comment in comments_of(_LINE_END.split(self.text)) if MARK.decode() in self.text else ():
            found.setdefault(_WHOLE_FILE if comment.whole_file else comment.line, set()).update(comment.codes)
        return found
