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
        if _MARK not in source.body:
            return
        try:
            for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
                match = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
                if match:
                    codes = tuple(code.strip() for code in (match.group(1) or "").split(",") if code.strip())
                    self._lines[token.start[0]] = codes or ("",)
        except (tokenize.TokenError, SyntaxError):
            return

    def covers(self, code: str, first: int, last: int) -> bool:
        """Whether ``code`` is suppressed anywhere on lines ``first`` to ``last`` (from 1, inclusive)."""
        if not self._lines:
            return False
        return any(code.startswith(prefix) for line in range(first, last + 1) for prefix in self._lines.get(line, ()))
