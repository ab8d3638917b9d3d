"""Reads files whose kind and size are not known: a device or a pipe is refused, and so is what is too large."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

SETTINGS_BYTES = 1_000_000
"""The largest settings file or .gitignore that is read."""

TABLE_BYTES = 16_000_000
"""The largest table or baseline that is read."""

_FLAGS = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))


def open_regular(path: Path | str) -> BinaryIO:
    """Open a file for reading; does not wait for a pipe.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path, limit: int | None = None) -> bytes:
    """The bytes of a file, at most ``limit``.

    Raises:
        OSError: it cannot be read, is no regular file, or is larger.
    """
    with open_regular(path) as file:
        if limit is None:
            return file.read()
        size = os.fstat(file.fileno()).st_size
        data = file.read(min(size, limit) + 1)  # a buffer of the limit's size takes longer to make than a file to read
        if size < len(data) <= limit:
            data += file.read(limit + 1 - len(data))  # it grows, or does not know its size, as in /proc
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"larger than {limit:,} bytes", str(path))
    return data
