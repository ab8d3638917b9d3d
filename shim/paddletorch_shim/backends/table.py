"""The fused backend's table of gradients: rows that a kernel reads, built from addresses on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

HEADER = 1
"""64-bit words before the rows: finished programs and overflow flag, int32 each, 0 between launches."""

ROW = 3
"""64-bit words of a row: address, number of elements, dtype code."""

VECTOR = 16
"""A row's elements are read as vectors up to a multiple of this; fewer than this remain."""

ALIGNMENT = 16
"""Bytes: a row of VECTOR elements or more starts at a multiple of it."""

CHUNK = 32768
"""Elements of a row at most: enough to repay a program's start, few enough to share the work out evenly."""

CODES = ("float32", "float16", "bfloat16", "float64")
"""Dtypes by code, as the kernel knows them."""

_SIZES = np.array([4, 2, 2, 8])

_KEPT = 8
"""Tables kept: one for each optimizer, and some for gradients whose addresses alternate."""

Words = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Found:
    """What a gradient is to the table: its address, elements and dtype code, or why it cannot be in it."""

    address: int = 0
    count: int = 0
    code: int = 0
    reason: str | None = None


@dataclass(slots=True)
class Table:
    """A built table.

    Args:
        key: what must be equal for the table to be right.
        stream: the stream that its memory belongs to; None where there are no streams.
        buffer: what keeps the memory alive: header, rows and one float64 a row for the norm.
        address: of the buffer.
        programs: number of rows.
        left: gradients that are not in it, as groups of indices; each group is unscaled in one call.
        double: there are float64 gradients, whose norm a float32 cannot hold.
    """

    key: Any
    stream: int | None
    buffer: Any
    address: int
    programs: int
    left: tuple[tuple[int, ...], ...]
    double: bool


class Tables:
    """The tables used last, found again by key and stream."""

    def __init__(self) -> None:
        self._tables: list[Table] = []

    def __len__(self) -> int:
        return len(self._tables)

    def find(self, key: Any, stream: int | None, *, any_stream: bool = False) -> Table | None:
        """The table for exactly these gradients."""
        for position, table in enumerate(self._tables):
            if table.key == key and (any_stream or table.stream == stream):
                if position:
                    self._tables.insert(0, self._tables.pop(position))
                return table
        return None

    def add(self, table: Table) -> None:
        """Keep a table instead of the one not used for longest."""
        self._tables.insert(0, table)
        del self._tables[_KEPT:]


def dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether a tensor fills its memory, each element once, in whatever order of dimensions."""
    expected = 1
    for stride, size in sorted((stride, size) for stride, size in zip(strides, shape, strict=True) if size != 1):
        if stride != expected:
            return 0 in shape
        expected *= size
    return True


def split(found: Sequence[Found], log: Callable[[str, int], None]) -> tuple[list[int], tuple[tuple[int, ...], ...]]:
    """Indices of the gradients for the table, and of those left out as groups that are unscaled together.

    Gradients that share memory are groups of one: in one launch they would race.
    """
    apart = _sharing_memory(found)
    far = [i for i, gradient in enumerate(found) if gradient.reason is not None]
    for reason in {found[i].reason for i in far} - {None}:
        log(str(reason), sum(found[i].reason == reason for i in far))
    if apart:
        log("shares memory with another", len(apart))
    near = [i for i, gradient in enumerate(found) if gradient.reason is None and i not in apart]
    groups = [(i,) for i in sorted(apart)]
    return near, (*([tuple(far)] if far else []), *groups)


def _sharing_memory(found: Sequence[Found]) -> set[int]:
    here = [i for i, gradient in enumerate(found) if gradient.reason is None and gradient.count]
    addresses = np.array([found[i].address for i in here], np.int64)
    ends = addresses + np.array([found[i].count * _SIZES[found[i].code] for i in here], np.int64)
    order = np.argsort(addresses, kind="stable")
    # Of a gradient's predecessors in memory the one that reaches furthest decides.
    reach = np.maximum.accumulate(ends[order])
    later = np.flatnonzero(addresses[order][1:] < reach[:-1]) + 1
    sharing = set()
    for position in later:
        before = np.flatnonzero(ends[order][:position] > addresses[order][position])
        sharing |= {here[order[position]], *(here[order[i]] for i in before)}
    return sharing


def words(found: Sequence[Found], chunk: int = CHUNK) -> tuple[Words, int]:
    """Header and rows for gradients that are all for the table, and the number of rows.

    A gradient that does not start at a multiple of ALIGNMENT bytes gets a short row up to the next one.
    """
    addresses = np.array([gradient.address for gradient in found], np.int64)
    counts = np.array([gradient.count for gradient in found], np.int64)
    codes = np.array([gradient.code for gradient in found], np.int64)
    sizes = _SIZES[codes]
    heads = np.where(counts >= VECTOR, -addresses % ALIGNMENT // sizes, 0)
    bodies = counts - heads
    rows = (heads > 0) + -(-bodies // chunk)
    owner = np.repeat(np.arange(len(found)), rows)
    first = np.cumsum(rows) - rows
    nth = np.arange(rows.sum()) - first[owner] - (heads > 0)[owner]  # -1 is the short row
    offset = np.where(nth < 0, 0, heads[owner] + nth * chunk)
    table = np.zeros(HEADER + ROW * len(owner), np.int64)
    table[HEADER::ROW] = addresses[owner] + offset * sizes[owner]
    table[HEADER + 1 :: ROW] = np.where(nth < 0, heads[owner], np.minimum(bodies[owner] - nth * chunk, chunk))
    table[HEADER + 2 :: ROW] = codes[owner]
    return table, len(owner)
