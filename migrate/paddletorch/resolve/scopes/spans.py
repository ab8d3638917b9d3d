"""Spans that are asked for by position: the innermost one around it, of any number."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

Position = tuple[int, int]
"""Line and column, as ast counts them."""

_BEFORE: Position = (0, 0)


class SpanIndex(Generic[T]):
    """Items with the span in which each holds. A question takes the logarithm of their number, not the number."""

    def __init__(self, items: Iterable[tuple[Position, Position, T]]) -> None:
        """``items``: start, end (exclusive) and item; of those with one start, the first is the innermost."""
        ordered = sorted(enumerate(items), key=lambda pair: (pair[1][0], -pair[0]))
        self._starts = [start for _, (start, _, _) in ordered]
        self._items = [item for _, (_, _, item) in ordered]
        self._leaves = 1 << max(len(ordered) - 1, 0).bit_length()
        self._latest = [_BEFORE] * (2 * self._leaves)
        """A binary tree in a list: the latest end of all spans below each of its nodes."""
        for number, (_, (_, end, _)) in enumerate(ordered):
            self._latest[self._leaves + number] = end
        for node in range(self._leaves - 1, 0, -1):
            self._latest[node] = max(self._latest[2 * node], self._latest[2 * node + 1])

    def innermost(self, position: Position) -> T | None:
        """The item whose span starts last of those around ``position``; None if there is none."""
        return next(self.around(position), None)

    def around(self, start: Position, end: Position | None = None) -> Iterator[T]:
        """The items whose spans contain ``start`` and reach to ``end``, the innermost first."""
        number = bisect_right(self._starts, start)
        while (number := self._last_before(number, start, end)) >= 0:
            yield self._items[number]

    def _last_before(self, number: int, start: Position, end: Position | None) -> int:
        """The number of the last item before ``number`` whose span reaches far enough; -1 if there is none."""
        if not number:
            return -1
        node = self._leaves + number - 1
        latest = self._latest
        wanted = start if end is None else end
        while latest[node] < wanted or (end is None and latest[node] == start):
            while node & 1 == 0 and node > 1:  # up and to the left, to the next part that may have one
                node >>= 1
            if node <= 1:
                return -1
            node -= 1
        while node < self._leaves:
            right = latest[2 * node + 1]
            node = 2 * node + 1 if right > wanted or (right == wanted and end is not None) else 2 * node
        return node - self._leaves
