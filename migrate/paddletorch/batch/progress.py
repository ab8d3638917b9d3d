"""A progress bar on stderr: only on a terminal, only when the work lasts."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

_PATIENCE = 1.0  # seconds without a bar; importing rich for a shorter run would be most of its time


def track(items: Iterable[T], total: int, what: str, *, enabled: bool) -> Iterator[T]:
    """Yield ``items``, showing how many of ``total`` are done."""
    if not enabled or sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    iterator = iter(items)
    done = 0
    start = time.monotonic()
    for item in iterator:
        yield item
        done += 1
        if time.monotonic() - start > _PATIENCE:
            break
    else:
        return
    from rich.console import Console
    from rich.progress import Progress

    # No refresh thread: a process that forks workers must not have threads.
    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task(what, total=total, completed=done)
        bar.refresh()
        shown = time.monotonic()
        for item in iterator:
            yield item
            bar.advance(task)
            if time.monotonic() - shown > 0.1:
                bar.refresh()
                shown = time.monotonic()
