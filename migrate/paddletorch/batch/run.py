"""Runs the engine over many files: what has not changed comes from the cache, the rest one by one or in a pool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from paddletorch.batch.cache import ResultCache
from paddletorch.batch.one_file import convert, converter_for
from paddletorch.batch.progress import track
from paddletorch.inputs.read import SourceFile, read
from paddletorch.model import NOTHING_RECORDED, Evidence, FileResult, Options
from paddletorch.model.dependencies import DependentResult
from paddletorch.model.project_kinds import project_kind

POOL_FROM = 2_000_000
"""Bytes of source that are worth the start of worker processes."""


@dataclass(frozen=True, slots=True)
class Run:
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
) -> Run:
    """Convert the files at ``paths`` in memory. A file that cannot be handled becomes a FAILED result.

    ``use_cache``: take results of earlier runs that still hold, and keep the new ones. ``evidence``: what recorded runs
    of the program showed, by path.

    Raises:
        UnusableOptions: a table or a version specifier is wrong.
    """
    cache = ResultCache(options, enabled=use_cache, evidence=evidence)
    limit = options.max_file_size
    read_files = [read(path, limit) for path in track(paths, [1] * len(paths), "Reading", enabled=progress)]
    sources = [file for file in read_files if isinstance(file, SourceFile)]
    found = cache.find(sources)
    fresh = [source for source in sources if source.path not in found]
    converter = converter_for(options) if fresh or not found else None
    candidates = [source for source in fresh if converter is not None and converter.may_have_uses(*source[::-1])]
    looked_at = {source.path for source in candidates}
    sizes = [len(source.data) for source in candidates]
    converted = cache.keep(
        track(_convert_all(candidates, options, jobs, evidence), sizes, "Converting", enabled=progress),
        [source for source in fresh if source.path not in looked_at],
    )
    done = found | {result.path: result for result in converted}
    results = (done.get(file.path) if isinstance(file, SourceFile) else file for file in read_files)
    idle = [file.path for file in sources if project_kind(file.path) and not _says_anything(done.get(file.path))]
    return Run(
        len(sources) - len(idle),
        tuple(result for result in results if result is not None and result.path not in idle),
        tuple(cache.notes),
    )


def run_each(
    paths: Sequence[str],
    options: Callable[[str], Options],
    *,
    jobs: int,
    progress: bool,
    use_cache: bool = True,
    evidence: Mapping[str, Evidence] = NOTHING_RECORDED,
) -> Run:
    """As :func:`run`, where ``options`` says what holds for each file."""
    by_options: dict[Options, list[str]] = {}
    for path in paths:
        by_options.setdefault(options(path), []).append(path)
    runs = [
        run(group, its_options, jobs=jobs, progress=progress, use_cache=use_cache, evidence=evidence)
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
    sources: Sequence[SourceFile], options: Options, jobs: int, evidence: Mapping[str, Evidence]
) -> Iterator[DependentResult]:
    if jobs > 1 and len(sources) > 1 and sum(len(source.data) for source in sources) >= POOL_FROM:
        from paddletorch.batch.pool import convert_in_pool

        return convert_in_pool(sources, options, jobs, evidence)
    return (convert(source, options, evidence.get(source.path)) for source in sources)
