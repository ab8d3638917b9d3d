"""Which spans of a file its edits keep, as they would be applied together."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate

from paddletorch.model import Edit, Span
from paddletorch.text.source import pieces


class KeptText:
    """The parts of a file that stand in the edited text.

    Raises:
        ValueError: the edits cannot be applied together, or are not complete.
    """

    def __init__(self, body: bytes, edits: Iterable[Edit]) -> None:
        spans = sorted(p.origin for p in pieces(body, edits) if p.is_copy and p.origin.end > p.origin.start)
        self._starts = [span.start for span in spans]
        self._ends = list(accumulate((span.end for span in spans), max))  # a part may be copied more than once

    def holds(self, span: Span) -> bool:
        """Whether all of ``span`` is kept."""
        return self._furthest(bisect_right(self._starts, span.start)) >= span.end

    def touches(self, span: Span) -> bool:
        """Whether any of ``span`` is kept."""
        return self._furthest(bisect_left(self._starts, span.end)) > span.start

    def _furthest(self, count: int) -> int:
        """How far the first of the spans reach."""
        return self._ends[count - 1] if count else -1
