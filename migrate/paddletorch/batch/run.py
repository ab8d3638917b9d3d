"""Runs the engine over many files: what has not changed comes from the cache, the rest one by one or in a pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from paddletorch.batch.one_file import convert_at, converter_for
from paddletorch.batch.progress import track
from paddletorch.batch.spool import spooled
from paddletorch.inputs.read import SourceFile, read
from paddletorch.model import NOTHING_RECORDED, Evidence, FileResult, Options
from paddletorch.model.dependencies import DependentResult
from paddletorch.model.project_kinds import project_kind

if TYPE_CHECKING:
    from paddletorch.batch.cache.results import ResultCache

POOL_FROM = 2_000_000
"""Bytes of source that are worth the start of worker processes."""


class Run(NamedTuple):
    """What came out of a run."""

    scanned: int
    """Files that were read; project files only if they name the source framework."""
    results: tuple[FileResult, ...]
    """In the order of the paths; files that do not use the source framework are left out."""
    notes: tuple[str, ...] = ()
    """What the user should know about the run itself."""


def run(
    paths: Sequence[str],
    options: Options,
    *,
    jobs: int,
    progress: bool,
    use_cache: bool = True,
    evidence: Mapping[str, Evidence] = NOTHING_RECORDED,
    with_edits: bool = True,
) -> Run:
    """Convert the files at ``paths`` in memory. A file that cannot be handled becomes a FAILED result.

    ``use_cache``: take results of earlier runs that still hold, and keep the new ones. ``evidence``: what recorded runs
    of the program showed, by path. ``with_edits``: results of this run have their edits, a fifth of the memory that
    they take; without them :mod:`paddletorch.origins` compares the texts, as it does for results that the cache kept.

    Raises:
        UnusableOptions: a table or a version specifier is wrong.
    """
    cache = _cache(options, evidence) if use_cache else None
    reader = _Reader(options.max_file_size)
    found: Mapping[str, FileResult | None] = {}
    if cache is not None and cache.has_results:
        found = cache.find(reader.read(track(paths, [1] * len(paths), "Reading", enabled=progress)))
    left = [path for path in paths if path not in found and path not in reader.failures]
    candidates: list[str] = []
    sizes: list[int] = []
    if left or not found:
        converter = converter_for(options)
        for source in reader.read(track(left, [1] * len(left), "Reading", enabled=progress)):
            if converter.may_have_uses(*source[::-1]):
                candidates.append(source.path)
                sizes.append(len(source.data))
            elif cache is not None:
                cache.keep_unused(source)
    converted: Iterable[DependentResult] = track(
        _convert_all(candidates, sizes, options, jobs, evidence, with_edits), sizes, "Converting", enabled=progress
    )
    results = cache.keep(converted) if cache is not None else (result for result, _ in converted)
    done = {**found, **reader.failures, **{result.path: result for result in spooled(results)}}
    unread = sum(path in reader.failures for path in paths)
    idle = {path for path in paths if project_kind(path) and not _says_anything(done.get(path))}
    idle -= reader.failures.keys()
    return Run(
        len(paths) - unread - len(idle),
        tuple(result for path in paths if path not in idle and (result := done.get(path)) is not None),
        tuple(cache.notes) if cache is not None else (),
    )


class _Reader:
    """Reads files one after the other, and keeps none of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.failures: dict[str, FileResult] = {}
        """What is wrong with files that cannot be read, by path."""

    def read(self, paths: Iterable[str]) -> Iterator[SourceFile]:
        """The files at ``paths`` that can be read."""
        for path in paths:
            file = read(path, self._limit)
            if isinstance(file, SourceFile):
                yield file
            else:
                self.failures[path] = file


def _cache(options: Options, evidence: Mapping[str, Evidence]) -> ResultCache:
    from paddletorch.batch.cache.results import ResultCache  # needs SQLite, which a run without the cache does not

    return ResultCache(options, evidence=evidence)


def run_each(
    paths: Sequence[str],
    options: Callable[[str], Options],
    *,
    jobs: int,
    progress: bool,
    use_cache: bool = True,
    evidence: Mapping[str, Evidence] = NOTHING_RECORDED,
    with_edits: bool = True,
) -> Run:
    """As :func:`run`, where ``options`` says what holds for each file."""
    by_options: dict[Options, list[str]] = {}
    for path in paths:
        by_options.setdefault(options(path), []).append(path)
    runs = [
        run(
            group,
            its_options,
            jobs=jobs,
            progress=progress,
            use_cache=use_cache,
            evidence=evidence,
            with_edits=with_edits,
        )
        for its_options, group in by_options.items()
    ]
    if len(runs) == 1:
        return runs[0]
    order = {path: number for number, path in enumerate(paths)}
    results = sorted((result for one in runs for result in one.results), key=lambda result: order[result.path])
    notes = dict.fromkeys(note for one in runs for note in one.notes)
    return Run(sum(one.scanned for one in runs), tuple(results), tuple(notes))


def _says_anything(result: FileResult | None) -> bool:
    """Whether something was found in a project file."""
    return result is not None and bool(result.diagnostics or result.conversions)


def _convert_all(
    paths: Sequence[str],
    sizes: Sequence[int],
    options: Options,
    jobs: int,
    evidence: Mapping[str, Evidence],
    with_edits: bool,
) -> Iterator[DependentResult]:
    if jobs > 1 and len(paths) > 1 and sum(sizes) >= POOL_FROM:
        from paddletorch.batch.pool import convert_in_pool

        return convert_in_pool(paths, sizes, options, jobs, evidence, with_edits=with_edits)
    return (convert_at(path, options, evidence.get(path), with_edits=with_edits) for path in paths)
