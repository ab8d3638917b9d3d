"""The modules of a tree as they were before a run of LibCST's tool, which writes each file before it looks at the next.

What a file defines counts in the files that import it, and a file that was converted says less: `view` of a module
that is Paddle's already needs no conversion. So the tool's processes share what they were given, in a folder.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path

_FOLDER = "PADDLETORCH_CODEMOD_ORIGINALS"
"""The environment variable that names the folder: processes inherit it, whatever starts them."""


def begin_run() -> None:
    """Keep originals from now on, until this process ends."""
    if _FOLDER in os.environ:
        return
    folder = tempfile.mkdtemp(prefix="paddletorch-codemod-")
    os.environ[_FOLDER] = folder
    atexit.register(_remove, folder, os.getpid())


def keep_original(path: str | None, data: bytes) -> None:
    """Keep what stood at ``path``, unless something is kept already; nothing outside of a run."""
    place = _place(path)
    if place is None or place.exists():
        return
    unfinished = place.with_suffix(f".{os.getpid()}")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(place)
    except OSError:
        return  # the disk is full: neighbours are looked up as they are then


def original(path: str) -> bytes | None:
    """What stood at ``path`` before the run changed it; None if the file itself can be asked."""
    place = _place(path)
    try:
        return None if place is None else place.read_bytes()
    except OSError:
        return None


def _place(path: str | None) -> Path | None:
    folder = os.environ.get(_FOLDER)
    if not folder or path is None:
        return None
    return Path(folder, sha256(os.fsencode(Path(path).absolute())).hexdigest())


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:  # not in a copy of it
        shutil.rmtree(folder, ignore_errors=True)
