"""Runs the engine over many files: one by one, or in worker processes when there is enough to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paddletorch.model import FileResult, Options
from paddletorch.progress import track
from paddletorch.single import Source, convert, engine_for, read

POOL_FROM = 2_000_000
"""Bytes of source that are worth the start of worker processes."""


@dataclass(frozen=True, slots=True)
class Run:
    """What came out of a run."""

    scanned: int
    """Files that were read."""
    results: tuple[FileResult, ...]
    """In the order of the paths; files that the engine had no business with are left out."""


def run(paths: Sequence[str], options: Options, *, jobs: int, progress: bool) -> Run:
    """Convert the files at ``paths`` in memory. A file that cannot be handled becomes a FAILED result."""
    engine = engine_for(options)
    slots: list[Source | FileResult] = []
    scanned = 0
    for path in track(paths, len(paths), "Reading", enabled=progress):
        source = read(path)
        scanned += isinstance(source, Source)
        if isinstance(source, FileResult) or engine.may_hit(source.data):
            slots.append(source)
    sources = [slot for slot in slots if isinstance(slot, Source)]
    if jobs > 1 and len(sources) > 1 and sum(len(source.data) for source in sources) >= POOL_FROM:
        from paddletorch.pool import convert_in_pool

        converted = convert_in_pool(sources, options, jobs)
    else:
        converted = (convert(source, options) for source in sources)
    done = track(converted, len(sources), "Converting", enabled=progress)
    results = (slot if isinstance(slot, FileResult) else next(done) for slot in slots)
    return Run(scanned, tuple(results))
