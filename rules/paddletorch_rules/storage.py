"""Where this tool keeps what it need not compute again, and whether that place is the user's alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

NO_CACHE = "PADDLETORCH_NO_CACHE"
"""Environment variable: nothing is read from or written to the cache if it is set to anything."""

CACHE_DIR = "PADDLETORCH_CACHE_DIR"
"""Environment variable: the folder to use instead of the user's cache folder of the platform."""


class UntrustedFolder(OSError):
    """Other users can write to the folder, so what lies there may be theirs."""


def cache_folder() -> Path | None:
    """The cache folder, made if need be; None if caching is off or the folder cannot be made.

    Raises:
        UntrustedFolder: it is another user's, or others can write to it.
    """
    if os.environ.get(NO_CACHE):
        return None
    chosen = os.environ.get(CACHE_DIR)
    if chosen:
        folder = Path(chosen).absolute()
    else:
        from platformdirs import user_cache_path  # only asked for where it is needed

        folder = user_cache_path("paddletorch")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    if not is_users_alone(status):
        raise UntrustedFolder(f"{folder}: not used as a cache, because other users can write to it")
    return folder


def is_users_alone(status: os.stat_result) -> bool:
    """Whether a file or folder is the user's, and nobody else may write to it."""
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
