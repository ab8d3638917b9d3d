"""Puts a converted file in place of the original: all of it or nothing of it."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from paddletorch_rules.bounded import read_regular

from paddletorch.model import Fates, FileResult
from paddletorch.model.counts import fates_by_name
from paddletorch.model.failure import failed, reason
from paddletorch.output.temporary import make_file


class ChangedError(Exception):
    """The file is no longer what was read."""


def write_back(result: FileResult) -> FileResult:
    """Write a CONVERTED result over its file; returns it, or a FAILED one if that was not possible."""
    try:
        replace_content(result.path, result.source, result.output)
    except ChangedError:
        return write_failed(result, "SRC007", "changed while it was being converted; left alone")
    except OSError as error:
        return write_failed(result, "SRC005", f"cannot be written: {reason(error)}; left alone")
    except MemoryError:
        return write_failed(result, "SRC005", "cannot be written: larger than the free memory; left alone")
    return result


def write_failed(result: FileResult, code: str, message: str) -> FileResult:
    """``result`` as a failure: nothing of it was applied, so what would have been converted is left."""
    failure = failed(result.path, code, message, source=result.source, examined=True)
    fates = fates_by_name(replace(result, diagnostics=(), known=()))
    left = {name: Fates(same=one.same, needs_you=one.converted + one.needs_you) for name, one in fates.items()}
    return replace(failure, diagnostics=(*failure.diagnostics, *result.diagnostics), unlisted=left)


def replace_content(path: str, expected: bytes, content: bytes) -> None:
    """Replace a file's bytes in one step; its mode, owner (where allowed) and extended attributes stay.

    A symbolic link stays a link: what it points to is replaced. Other hard links keep the old content.

    Raises:
        ChangedError: the file does not hold ``expected``.
        OSError: it cannot be written, or is marked read-only; nothing was changed and nothing left behind.
    """
    target = Path(path).resolve(strict=True)
    _check_unchanged(target, expected)
    if not _is_writable(target):  # os.replace asks the folder only, and would override chmod a-w
        raise PermissionError(errno.EACCES, "marked read-only", path)

    def prepare(temporary: Path) -> None:
        _copy_metadata(target, temporary)
        _check_unchanged(target, expected)  # again: writing takes time

    _put(target, content, prepare)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that a run makes, such as a report, in one step; in place of a link, never through it.

    Raises:
        OSError: it cannot be written, is marked read-only or is no file; nothing was changed and nothing left behind.
    """
    mode = 0o666 & ~_umask()
    if os.path.lexists(path) and not path.is_symlink():
        if not path.is_file():
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if not _is_writable(path):
            raise PermissionError(errno.EACCES, "marked read-only", str(path))
        mode = stat.S_IMODE(path.stat().st_mode)
    _put(path, content, lambda temporary: temporary.chmod(mode))


def write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, in one step; one that has appeared meanwhile stays.

    Raises:
        FileExistsError: there is something of that name, if only a link to nothing.
        OSError: it cannot be written; nothing was left behind.
    """
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "exists", str(path))
    mode = 0o666 & ~_umask()
    _put(path, content, lambda temporary: temporary.chmod(mode), _place_new)


def _place_new(temporary: Path, target: Path) -> None:
    """As a rename, but where ``target`` exists that is an error."""
    if os.name == "nt":
        temporary.rename(target)
        return
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "exists", str(target)) from None
        temporary.replace(target)
    else:
        temporary.unlink()


def _put(
    target: Path,
    content: bytes,
    prepare: Callable[[Path], None],
    place: Callable[[Path, Path], object] = Path.replace,
) -> None:
    """Write beside ``target``, see to the new file with ``prepare``, and put it in place."""
    descriptor, temporary = make_file(target)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            prepare(temporary)
            if os.name != "nt":  # while the lock holds; Windows renames no open file
                place(temporary, target)
        if os.name == "nt":
            place(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _umask() -> int:
    """The mask of this process, which can only be asked for by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _is_writable(path: Path) -> bool:
    """Whether the user may write the file; for root, who may do anything, what its owner may."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and not path.stat().st_mode & stat.S_IWUSR:
        return False
    return os.access(path, os.W_OK)


def _check_unchanged(path: Path, expected: bytes) -> None:
    if read_regular(path) != expected:
        raise ChangedError(path)


def _copy_metadata(source: Path, target: Path) -> None:
    if hasattr(os, "chown"):
        status = source.stat()
        with suppress(PermissionError):  # only root may give a file away
            os.chown(target, status.st_uid, status.st_gid)
    shutil.copystat(source, target)
    os.utime(target)  # copystat also takes over the old times; build tools must see the change
