"""Texts of many results wait in a temporary file, not in memory, until the report or the writing asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import IO, NamedTuple

from paddletorch.model import FileResult

IN_MEMORY = 4_000_000
"""Bytes of texts that stay in memory: small runs need no file."""


def spooled(results: Iterable[FileResult]) -> Iterator[FileResult]:
    """The same results; the texts of those that come late stand in a file that goes with the last of them.

    Where no temporary file can be written they stay in memory.
    """
    held = 0
    spool: _Spool | None = None
    results = iter(results)
    for result in results:
        held += len(result.source) + (len(result.output) if result.output is not result.source else 0)
        kept = result
        if held > IN_MEMORY:
            try:
                spool = spool or _Spool()
                kept = spool.kept(result)
            except OSError:  # no space, or no such folder
                yield result
                break
        yield kept
    yield from results


class _Place(NamedTuple):
    """Where a text stands."""

    spool: _Spool
    start: int
    length: int


class _Spool:
    """The file, which has no name and no buffer: a forked process must not write what is left in one."""

    def __init__(self) -> None:
        import tempfile  # slow to import, and only large runs need it

        self._file: IO[bytes] = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 -- closed with its last text
        self._end = 0

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def kept(self, result: FileResult) -> FileResult:
        """The result, with its texts in the file."""
        source = self._written(result.source)
        output = source if result.output is result.source else self._written(result.output)
        values = {field.name: getattr(result, field.name) for field in fields(result)}
        return _SpooledResult(**{**values, "source": source, "output": output})

    def _written(self, text: bytes) -> _Place:
        place = _Place(self, self._end, len(text))
        self._file.seek(self._end)
        left = memoryview(text)
        while left:
            left = left[self._file.write(left) :]
        self._end += len(text)
        return place

    def read(self, place: _Place) -> bytes:
        """The text at a place."""
        self._file.seek(place.start)
        text = b""
        while len(text) < place.length:
            part = self._file.read(place.length - len(text))
            if not part:
                raise OSError("the temporary file with the converted texts is cut short")
            text += part
        return text


class _Text:
    """A field of bytes that may stand in a file."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._slot = f"_{name}"

    def __get__(self, result: _SpooledResult, owner: type) -> bytes:
        held: bytes | _Place = getattr(result, self._slot)
        return held.spool.read(held) if isinstance(held, _Place) else held

    def __set__(self, result: _SpooledResult, held: bytes | _Place) -> None:
        object.__setattr__(result, self._slot, held)


class _SpooledResult(FileResult):
    """A result whose texts are read when they are asked for."""

    __slots__ = ("_output", "_source")
    source = _Text()
    output = _Text()
