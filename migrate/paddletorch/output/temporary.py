"""What is written before it takes its place: beside the target, under a name that the next run knows.

A run that is killed cannot clean up. Its leftover lies where the next run puts its own, which removes it first. A
lock that ends with its process tells a leftover from the work of a run that is still going on.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from hashlib import blake2b
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PREFIX = ".paddletorch-"
_SUFFIX = ".tmp"
_TRIES = 10  # another run may remove its own just when this one looks at it


def is_temporary(name: str) -> bool:
    """Whether a file or folder of this name is one that a run has left, or is working on."""
    return name.startswith(PREFIX) and name.endswith(_SUFFIX)


def make_file(target: Path) -> tuple[int, Path]:
    """Create and lock an empty file beside ``target``; the lock lasts until the descriptor is closed.

    Raises:
        OSError: it cannot be made, or another run is writing ``target``.
    """
    path = _beside(target)
    for _ in range(_TRIES):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _PRIVATE, 0o600)
        except FileExistsError:
            _remove_leftover(path)
            continue
        if _lock(descriptor) and _is_at(descriptor, path):
            return descriptor, path
        os.close(descriptor)
    raise _busy()


def make_folder(target: Path) -> tuple[int | None, Path]:
    """As :func:`make_file`, a folder that is closed to other users; no descriptor where folders have none.

    Raises:
        OSError: it cannot be made, or another run is writing ``target``.
    """
    path = _beside(target)
    for _ in range(_TRIES):
        try:
            path.mkdir(0o700)
        except FileExistsError:
            _remove_leftover(path)
            continue
        if sys.platform == "win32":
            return None, path
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _PRIVATE)
        if _lock(descriptor) and _is_at(descriptor, path):
            return descriptor, path
        os.close(descriptor)
    raise _busy()


_PRIVATE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def _beside(target: Path) -> Path:
    """The one name for what becomes ``target``; a hash, since the target's own may be as long as names can be."""
    digest = blake2b(os.fsencode(target.name), digest_size=8).hexdigest()
    return target.with_name(f"{PREFIX}{digest}{_SUFFIX}")


def _remove_leftover(path: Path) -> None:
    """Remove what a killed run has left.

    Raises:
        OSError: the run is still going on, or it cannot be removed.
    """
    try:
        if sys.platform == "win32":  # what a process holds open cannot be removed there
            _remove(path)
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | _PRIVATE)
        try:
            if not _lock(descriptor):
                raise _busy()
            if _is_at(descriptor, path):
                _remove(path)
        finally:
            os.close(descriptor)
    except FileNotFoundError:  # gone meanwhile
        return


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _lock(descriptor: int) -> bool:
    """Take the lock; False if another process has it."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):  # a file system without locks
            raise
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the open file is still the one of that name: before it was locked, another run may have removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _busy() -> OSError:
    return OSError(errno.EBUSY, "another run is writing it")
