"""The worker processes of a large run; a worker that dies costs one file, not the run."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor

from paddletorch.failure import failed
from paddletorch.model import FileResult, Options
from paddletorch.single import Source, convert

_CHUNK = 100_000  # bytes per task: few enough round trips, short enough to keep all workers busy


def convert_in_pool(sources: Sequence[Source], options: Options, jobs: int) -> Iterator[FileResult]:
    """Yield the results in the order of ``sources``."""
    chunks = list(_chunks(sources))
    with _executor(min(jobs, len(chunks))) as pool:
        try:
            futures = [pool.submit(_convert_all, chunk, options) for chunk in chunks]
            for chunk, future in zip(chunks, futures, strict=True):
                yield from _results(chunk, future, options)
        except BaseException:  # Ctrl-C, or the consumer gave up: do not wait for what nobody wants
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in multiprocessing.active_children():
                worker.terminate()
            raise


def _results(chunk: list[Source], future: Future[list[FileResult]], options: Options) -> Iterator[FileResult]:
    try:
        yield from future.result()
    except BrokenExecutor:  # one of the workers died, and all unfinished chunks with it
        for source in chunk:
            yield _convert_alone(source, options)


def _convert_alone(source: Source, options: Options) -> FileResult:
    with _executor(1) as pool:
        try:
            return pool.submit(_convert_all, [source], options).result()[0]
        except BrokenExecutor:
            return failed(
                source.path,
                "SRC900",
                "internal error: the process that converted this file died",
                hint="The file was left alone. Please report it.",
                source=source.data,
            )


def _executor(workers: int) -> ProcessPoolExecutor:
    # fork keeps the loaded tables; this process has no threads (see progress), so it is safe.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    return ProcessPoolExecutor(workers, multiprocessing.get_context(method), _ignore_interrupt)


def _ignore_interrupt() -> None:
    # Ctrl-C reaches every process of the terminal; the parent alone decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _convert_all(sources: list[Source], options: Options) -> list[FileResult]:
    return [convert(source, options) for source in sources]


def _chunks(sources: Sequence[Source]) -> Iterator[list[Source]]:
    chunk: list[Source] = []
    size = 0
    for source in sources:
        chunk.append(source)
        size += len(source.data)
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
