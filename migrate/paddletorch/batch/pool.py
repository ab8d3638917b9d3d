"""The worker processes of a large run; a worker that dies costs one file, not the run."""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor

from paddletorch_rules.child_processes import end_with_parent

from paddletorch.batch.one_file import convert_at
from paddletorch.model import NOTHING_RECORDED, Evidence, Options
from paddletorch.model.dependencies import DependentResult
from paddletorch.model.failure import failed

_LEAST = 100_000
"""Bytes of a task: few enough round trips, and short enough at the end of a run to keep all workers busy."""
_MOST = 2_000_000
"""Bytes of a task: files that stand together read the same other files, which each worker reads for itself."""


def convert_in_pool(
    paths: Sequence[str],
    sizes: Sequence[int],
    options: Options,
    jobs: int,
    evidence: Mapping[str, Evidence] = NOTHING_RECORDED,
    *,
    with_edits: bool = True,
) -> Iterator[DependentResult]:
    """Yield the results in the order of ``paths``; ``sizes``: the bytes of each file.

    Workers are given paths and read the files themselves: a pool whose worker dies while much data is on
    its way to the workers hangs in Python 3.10.
    """
    chunks = list(_chunks(paths, sizes, jobs))
    left: dict[int, Future[list[DependentResult]]] = {}
    with _executor(min(jobs, len(chunks))) as pool:
        try:
            futures = [_submit(pool, chunk, options, evidence, with_edits) for chunk in chunks]
            for number, future in enumerate(futures):
                try:
                    yield from future.result()
                except BrokenExecutor:  # one of the workers died, and all unfinished chunks with it
                    left = dict(enumerate(futures[number:], number))
                    break
                except (MemoryError, OSError):  # the worker lives, its answer did not get through
                    yield from _convert_all(chunks[number], options, evidence, with_edits)
        finally:  # after Ctrl-C, wait for the chunks in work only
            pool.shutdown(cancel_futures=True)
    for number, future in left.items():  # out here, where the pool's thread is gone and fork is safe again
        if future.exception() is None:
            yield from future.result()
        else:
            yield from (_convert_alone(path, options, evidence, with_edits) for path in chunks[number])


def _submit(
    pool: ProcessPoolExecutor, chunk: list[str], options: Options, evidence: Mapping[str, Evidence], with_edits: bool
) -> Future[list[DependentResult]]:
    of_chunk = {path: evidence[path] for path in chunk if path in evidence}
    try:
        return pool.submit(_convert_all, chunk, options, of_chunk, with_edits)
    except BrokenExecutor as error:  # a worker died before all work was handed out
        refused: Future[list[DependentResult]] = Future()
        refused.set_exception(error)
        return refused


def _convert_alone(path: str, options: Options, evidence: Mapping[str, Evidence], with_edits: bool) -> DependentResult:
    with _executor(1) as pool:
        try:
            return _submit(pool, [path], options, evidence, with_edits).result()[0]
        except BrokenExecutor:
            message = "internal error: the process that converted this file died"
            return DependentResult(
                failed(path, "SRC900", message, hint="The file was left alone. Please report it."), None
            )


def _executor(workers: int) -> ProcessPoolExecutor:
    # fork keeps the loaded tables; this process has no threads (see progress), so it is safe.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    return ProcessPoolExecutor(workers, multiprocessing.get_context(method), _follow_parent)


def _follow_parent() -> None:
    # Ctrl-C and the end of the terminal reach every process in it; the parent alone decides.
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for category in (SyntaxWarning, DeprecationWarning):
        warnings.simplefilter("ignore", category)
    end_with_parent()


def _convert_all(
    paths: list[str], options: Options, evidence: Mapping[str, Evidence], with_edits: bool
) -> list[DependentResult]:
    return [convert_at(path, options, evidence.get(path), with_edits=with_edits) for path in paths]


def _chunks(paths: Sequence[str], sizes: Sequence[int], jobs: int) -> Iterator[list[str]]:
    """Files of one task each, in order; the nearer the end, the smaller."""
    left = sum(sizes)
    chunk: list[str] = []
    size = 0
    for path, bytes_of in zip(paths, sizes, strict=True):
        chunk.append(path)
        size += bytes_of
        if size >= max(_LEAST, min(_MOST, left // (2 * jobs))):
            yield chunk
            left -= size
            chunk, size = [], 0
    if chunk:
        yield chunk
