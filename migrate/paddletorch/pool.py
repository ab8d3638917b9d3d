"""The worker processes of a large run; a worker that dies costs one file, not the run."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor

from paddletorch.failure import failed
from paddletorch.model import FileResult, Options
from paddletorch.single import Source, convert, read

_CHUNK = 100_000  # bytes per task: few enough round trips, short enough to keep all workers busy


def convert_in_pool(sources: Sequence[Source], options: Options, jobs: int) -> Iterator[FileResult]:
    """Yield the results in the order of ``sources``.

    Workers are given paths and read the files themselves: a pool whose worker dies while much data is on
    its way to the workers hangs in Python 3.10.
    """
    chunks = list(_chunks(sources))
    left: dict[int, Future[list[FileResult]]] = {}
    with _executor(min(jobs, len(chunks))) as pool:
        try:
            futures = [pool.submit(_convert_all, chunk, options) for chunk in chunks]
            for number, future in enumerate(futures):
                try:
                    yield from future.result()
                except BrokenExecutor:  # one of the workers died, and all unfinished chunks with it
                    left = dict(enumerate(futures[number:], number))
                    break
        finally:  # after Ctrl-C, wait for the chunks in work only
            pool.shutdown(cancel_futures=True)
    for number, future in left.items():  # out here, where the pool's thread is gone and fork is safe again
        if future.exception() is None:
            yield from future.result()
        else:
            yield from (_convert_alone(path, options) for path in chunks[number])


def _convert_alone(path: str, options: Options) -> FileResult:
    with _executor(1) as pool:
        try:
            return pool.submit(_convert_all, [path], options).result()[0]
        except BrokenExecutor:
            return failed(
                path,
                "SRC900",
                "internal error: the process that converted this file died",
                hint="The file was left alone. Please report it.",
            )


def _executor(workers: int) -> ProcessPoolExecutor:
    # fork keeps the loaded tables; this process has no threads (see progress), so it is safe.
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    return ProcessPoolExecutor(workers, multiprocessing.get_context(method), _leave_signals_to_parent)


def _leave_signals_to_parent() -> None:
    # Ctrl-C reaches every process of the terminal; the parent alone decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _convert_all(paths: list[str], options: Options) -> list[FileResult]:
    sources = (read(path) for path in paths)
    return [convert(source, options) if isinstance(source, Source) else source for source in sources]


def _chunks(sources: Sequence[Source]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for path, data in sources:
        chunk.append(path)
        size += len(data)
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
