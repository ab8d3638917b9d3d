"""Reads the files of a run; one that cannot be read is a result, not an exception."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import NamedTuple

from paddletorch.inputs.discover import unusable
from paddletorch.model import FileResult
from paddletorch.model.failure import failed


class SourceFile(NamedTuple):
    """A file that was read."""

    path: str
    data: bytes


def read(path: str) -> SourceFile | FileResult:
    """Read a file, or say why that was not possible."""
    try:
        return SourceFile(path, read_regular(Path(path)))
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
