"""A process that may write small files only, as on a disk that is full."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable


def files_up_to(size: int) -> Callable[[], None]:
    """What a child process calls before its program starts, so that no file of it grows beyond ``size`` bytes.

    Its Python writes no bytecode: the part that it would leave of a module stands in the way of every later import.
    """

    def prepare() -> None:
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return prepare
