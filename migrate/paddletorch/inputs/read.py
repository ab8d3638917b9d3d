"""Reads the files of a run; one that cannot be read is a result, not an exception."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from paddletorch_rules.bounded import read_regular

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
