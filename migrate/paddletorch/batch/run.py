"""Runs the engine over many files: what has not changed comes from the cache, the rest one by one or in a pool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from paddletorch.batch.cache import ResultCache
from paddletorch.batch.one_file import Converted, Source, convert_noting, engine_for, read
from paddletorch.batch.progress import track
from paddletorch.model import FileResult, Options

POOL_FROM = 2_000_000
"""Bytes of source that are worth the start of worker processes."""


@dataclass(frozen=True, slots=True)
class Run:
    """What came out of a run."""

    scanned: int
    """Files that were read."""
    results: tuple[FileResult, ...]
    """In the order of the paths; files that the engine had no business with are left out."""
    notes: tuple[str, ...] = ()
    """What the user should know about the run itself."""


def run(paths: Sequence[str], options: Options, *, jobs: int, progress: bool, kept: bool = True) -> Run:
    """Convert the files at ``paths`` in memory. A file that cannot be handled becomes a FAILED result.

    ``kept``: results of earlier runs are taken, and new ones kept.

    Raises:
        UnusableOptions: a table or a version specifier is wrong.
    """
    cache = ResultCache(options, used=kept)
    read_files = [read(path) for path in track(paths, len(paths), "Reading", enabled=progress)]
    sources = [file for file in read_files if isinstance(file, Source)]
    found = cache.find(sources)
    fresh = [source for source in sources if source.path not in found]
    engine = engine_for(options) if fresh or not found else None
    hits = [source for source in fresh if engine is not None and engine.may_hit(source.data)]
    hit = {source.path for source in hits}
    converted = cache.keep(
        track(_convert_all(hits, options, jobs), len(hits), "Converting", enabled=progress),
        [source for source in fresh if source.path not in hit],
    )
    done = found | {result.path: result for result in converted}
    results = (done.get(file.path) if isinstance(file, Source) else file for file in read_files)
    return Run(len(sources), tuple(result for result in results if result is not None), tuple(cache.notes))


def run_each(
    paths: Sequence[str], options: Callable[[str], Options], *, jobs: int, progress: bool, kept: bool = True
) -> Run:
    """As :func:`run`, where ``options`` says what holds for each file."""
    alike: dict[Options, list[str]] = {}
    for path in paths:
        alike.setdefault(options(path), []).append(path)
    runs = [run(group, held, jobs=jobs, progress=progress, kept=kept) for held, group in alike.items()]
    if len(runs) == 1:
        return runs[0]
    place = {path: number for number, path in enumerate(paths)}
    results = sorted((result for one in runs for result in one.results), key=lambda result: place[result.path])
    notes = dict.fromkeys(note for one in runs for note in one.notes)
    return Run(sum(one.scanned for one in runs), tuple(results), tuple(notes))


def _convert_all(sources: Sequence[Source], options: Options, jobs: int) -> Iterator[Converted]:
    if jobs > 1 and len(sources) > 1 and sum(len(source.data) for source in sources) >= POOL_FROM:
        from paddletorch.batch.pool import convert_in_pool

        return convert_in_pool(sources, options, jobs)
    return (convert_noting(source, options) for source in sources)
