"""``# paddletorch: ignore[CODE]`` comments: which lines keep what they have."""

from __future__ import annotations

import io
import re
import tokenize

from paddletorch.source import Source

_MARK = b"paddletorch: ignore"
_COMMENT = re.compile(r"#\s*paddletorch:\s*ignore(?:\[([A-Z0-9,\s]*)\])?")


class Suppressions:
    """Codes suppressed on each line. A comment without codes suppresses all."""

    def __init__(self, source: Source) -> None:
        self._lines: dict[int, tuple[str, ...]] = {}
        self._columns: dict[int, int] = {}
        self._used: set[int] = set()
        if _MARK not in source.body:
            return
        try:
            for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
                match = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
                if match:
                    codes = tuple(code.strip() for code in (match.group(1) or "").split(",") if code.strip())
                    self._lines[token.start[0]] = codes or ("",)
                    self._columns[token.start[0]] = token.start[1] + 1
        except (tokenize.TokenError, SyntaxError):
            return

    def covers(self, code: str, first: int, last: int) -> bool:
        """Whether ``code`` is suppressed anywhere on lines ``first`` to ``last`` (from 1, inclusive)."""
        if not self._lines:
            return False
        hit = [n for n in range(first, last + 1) if any(code.startswith(c) for c in self._lines.get(n, ()))]
        self._used.update(hit)
        return bool(hit)

    def unused(self) -> list[tuple[int, int, str]]:
        """Line, column (both from 1) and codes of each comment that suppressed nothing so far."""
        left = sorted(set(self._lines) - self._used)
        return [(line, self._columns[line], ", ".join(self._lines[line]) or "all codes") for line in left]
