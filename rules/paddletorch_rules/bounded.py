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

_FLAGS = [getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")]


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; does not wait for a pipe.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | sum(_FLAGS))
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
        data = file.read() if limit is None else file.read(limit + 1)
    if limit is not None and len(data) > limit:
        raise OSError(errno.EFBIG, f"larger than {limit:,} bytes", str(path))
    return data
