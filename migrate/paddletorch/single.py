"""Converts one file in memory; whatever goes wrong is a result, not an exception."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from paddletorch.discover import unusable
from paddletorch.failure import failed
from paddletorch.model import FileResult, Options

if TYPE_CHECKING:
    from paddletorch.engine import Engine


class Source(NamedTuple):
    """A file that was read."""

    path: str
    data: bytes


@functools.cache
def engine_for(options: Options) -> Engine:
    """The engine for ``options``; a forked worker inherits it, a spawned one builds its own.

    Raises:
        ValueError: a table or a version specifier is wrong.
    """
    from paddletorch.engine import Engine

    return Engine(options)


def read(path: str) -> Source | FileResult:
    """Read a file, or say why that was not possible."""
    try:
        return Source(path, Path(path).read_bytes())
    except OSError as error:
        return unusable(path, error)
    except MemoryError:
        return failed(path, "SRC003", "cannot be read: larger than the free memory")


def convert(source: Source, options: Options) -> FileResult:
    """Convert one file in memory; whatever goes wrong in the engine becomes a FAILED result."""
    path, data = source
    try:
        return engine_for(options).convert(data, path)
    except (RecursionError, MemoryError) as error:
        return failed(path, "SRC008", f"too deeply nested or too large ({type(error).__name__})", source=data)
    except Exception as error:
        if os.environ.get("PADDLETORCH_DEBUG"):
            import traceback

            traceback.print_exc(file=sys.stderr)
        message = f"internal error: {type(error).__name__}: {error}"
        hint = "The file was left alone. PADDLETORCH_DEBUG=1 shows where it happened; please report it."
        return failed(path, "SRC900", message, hint=hint, source=data)
