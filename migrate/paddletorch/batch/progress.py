"""A progress bar on stderr: only on a terminal, only when the work lasts."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_PATIENCE = 1.0  # seconds without a bar; importing rich for a shorter run would be most of its time


def track(items: Iterable[T], sizes: Sequence[int], what: str, *, enabled: bool) -> Iterator[T]:
    """Yield ``items``, showing how many are done and how long the rest will take: as long as their ``sizes`` say."""
    if not enabled or sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    iterator = iter(items)
    done = 0
    start = time.monotonic()
    for item in iterator:
        yield item
        done += 1  # of the files; the bar grows with their bytes
        if time.monotonic() - start > _PATIENCE:
            break
    else:
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    count = len(sizes)
    columns = (
        TextColumn("{task.description} {task.fields[files]} of {task.fields[count]} files"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
    )
    # No refresh thread: a process that forks workers must not have threads.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task(what, total=sum(sizes), files=done, count=count)
        bar.advance(task, sum(sizes[:done]))
        bar.refresh()
        shown = time.monotonic()
        for item in iterator:
            yield item
            bar.update(task, advance=sizes[done] if done < count else 0, files=done + 1)
            done += 1
            if time.monotonic() - shown > 0.1:
                bar.refresh()
                shown = time.monotonic()
