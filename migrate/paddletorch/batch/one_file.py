"""Converts one file in memory; whatever goes wrong is a result, not an exception."""

from __future__ import annotations

import errno
import functools
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from paddletorch.documents import form_of
from paddletorch.inputs.discover import unusable
from paddletorch.model import FileResult, Options
from paddletorch.model.dependencies import Dependencies
from paddletorch.model.failure import failed

if TYPE_CHECKING:
    from paddletorch.engine.engine import Engine


class Source(NamedTuple):
    """A file that was read."""

    path: str
    data: bytes


class Converted(NamedTuple):
    """A result, and the other files that it rests on; None if that cannot be said."""

    result: FileResult
    dependencies: Dependencies | None


class UnusableOptions(ValueError):
    """A table or a version specifier of the options is wrong."""


@functools.cache
def engine_for(options: Options) -> Engine:
    """The engine for ``options``; a forked worker inherits it, a spawned one builds its own.

    Raises:
        UnusableOptions: a table or a version specifier is wrong.
    """
    from paddletorch.engine.engine import Engine

    try:
        return Engine(options, tree=True)
    except ValueError as error:
        raise UnusableOptions(str(error)) from error


def read(path: str) -> Source | FileResult:
    """Read a file, or say why that was not possible."""
    try:
        return Source(path, read_regular(Path(path)))
    except OSError as error:
        return unusable(path, error)
    except MemoryError:
        return failed(path, "SRC003", "cannot be read: larger than the free memory")


def read_regular(path: Path) -> bytes:
    """The bytes of a file; does not wait for a pipe that took its place after the tree was searched.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return file.read()


def convert(source: Source, options: Options) -> FileResult:
    """Convert one file in memory; whatever goes wrong in the engine becomes a FAILED result."""
    path, data = source
    try:
        form = form_of(path)
        if form is None:
            return engine_for(options).convert(data, path)
        from paddletorch.documents.convert import convert_document

        return convert_document(engine_for(options), data, path, form)
    except (RecursionError, MemoryError) as error:
        return failed(path, "SRC008", f"too deeply nested or too large ({type(error).__name__})", source=data)
    except Exception as error:
        if os.environ.get("PADDLETORCH_DEBUG"):
            import traceback

            traceback.print_exc(file=sys.stderr)
        message = f"internal error: {type(error).__name__}: {error}"
        hint = "The file was left alone. PADDLETORCH_DEBUG=1 shows where it happened; please report it."
        return failed(path, "SRC900", message, hint=hint, source=data)


def convert_noting(source: Source, options: Options) -> Converted:
    """As ``convert``; says also what the result rests on."""
    return Converted(convert(source, options), engine_for(options).dependencies(source.path))
