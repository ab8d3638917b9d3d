"""Reads the files of a run; one that cannot be read is a result, not an exception."""

from __future__ import annotations

import os
from typing import BinaryIO, NamedTuple

from paddletorch_rules.bounded import open_regular

from paddletorch.inputs.discover import unusable
from paddletorch.model import FileResult
from paddletorch.model.failure import failed, too_large


class SourceFile(NamedTuple):
    """A file that was read."""

    path: str
    data: bytes


def read(path: str, limit: int) -> SourceFile | FileResult:
    """Read a file, or say why that was not possible; of one of more than ``limit`` bytes (0: any) nothing is read."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if limit and size > limit:
                return too_large(path, limit)
            data = file.read(size + 1)  # a buffer of the limit's size would take longer to make than most files to read
            if len(data) > size:
                data += read_limited(file, max(limit - len(data), 1) if limit else 0)
    except OSError as error:
        return unusable(path, error)
    except MemoryError:
        return failed(path, "SRC003", "cannot be read: larger than the free memory")
    return too_large(path, limit) if limit and len(data) > limit else SourceFile(path, data)


def read_limited(stream: BinaryIO, limit: int) -> bytes:
    """What the stream holds; of more than ``limit`` bytes (0: any number) one more than that."""
    return stream.read(limit + 1) if limit else stream.read()
