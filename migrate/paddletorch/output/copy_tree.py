"""--output DIR: a copy of the tree in which the converted files stand in place of the originals."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from paddletorch_rules.bounded import read_regular

from paddletorch.inputs.discover import FileFilter, below, shown, unusable, walk
from paddletorch.model import FileResult, Status
from paddletorch.model.failure import failed, reason
from paddletorch.model.interrupts import deferred_signals
from paddletorch.output.error import OutputError
from paddletorch.output.temporary import is_temporary, make_folder
from paddletorch.output.write import write_failed

_FULL = frozenset(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EROFS") if hasattr(errno, name))


def check_output(paths: Sequence[str], folder: Path) -> None:
    """Refuse a DIR that is not new or empty, lies in a source folder, or would get two things of one name.

    Raises:
        OutputError: says which of these it is.
    """
    if folder.is_dir():
        if any(folder.iterdir()):
            raise OutputError(f"{folder} is not empty; give a new or an empty folder")
    elif folder.exists() or folder.is_symlink():
        raise OutputError(f"{folder} is not a folder")
    target = os.path.realpath(folder)
    for path in paths:
        if Path(path).is_dir() and below(target, [os.path.realpath(path)]):
            raise OutputError(f"{folder} lies in {path}, which is to be copied; give a folder outside of it")
    names = [_name(path) for path in paths]
    for name in names:
        if names.count(name) > 1:
            raise OutputError(f"two of the paths are called {name!r}; copy them one at a time")


def copy_tree(
    paths: Sequence[str], folder: Path, results: Sequence[FileResult], wanted_files: FileFilter
) -> list[FileResult]:
    """Copy ``paths`` to ``folder``: the content of one folder, or several things under their own names.

    All that :func:`paddletorch.inputs.discover.walk` finds with ``wanted_files`` is copied with modes and times. Links
    stay links; one that led outside of the tree to a file that was converted becomes a file of its own. The
    folder appears in one step when all is done.

    Returns:
        The results; failures stand in place of what could not be written, and at the end for other files.

    Raises:
        OutputError: the disk is full or the folder cannot be made; nothing is left behind.
    """
    target = Path(os.path.realpath(folder))
    copy = _Copy(results, wanted_files)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock, staging = make_folder(target)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {reason(error)}") from error
    try:
        tree = staging / "tree"  # the folder around it is closed to all but the user
        single = len(paths) == 1 and Path(paths[0]).is_dir()
        tree.mkdir()
        for path in paths:
            copy.any(path, tree if single else tree / _name(path))
        with deferred_signals():
            if os.name == "nt" and target.is_dir():  # elsewhere a folder may take the place of an empty one
                target.rmdir()
            tree.rename(target)
            if single:
                with suppress(OSError):  # the copy is there; its folder has the usual mode and times
                    shutil.copystat(paths[0], target)
    except OSError as error:
        raise OutputError(f"{folder} could not be written: {reason(error)}; nothing was left there") from error
    finally:
        with deferred_signals():
            shutil.rmtree(staging, ignore_errors=True)
            if lock is not None:
                os.close(lock)
    return [*(copy.failures.get(result.path, result) for result in results), *copy.others]


def copied_to(path: str, paths: Sequence[str], folder: Path) -> Path | None:
    """Where :func:`copy_tree` puts the file at ``path``; None if it is in none of ``paths``."""
    for one in paths:
        if os.path.realpath(path) == os.path.realpath(one):
            return folder / _name(one)
        if Path(one).is_dir() and Path(os.path.abspath(path)).is_relative_to(os.path.abspath(one)):  # noqa: PTH100
            inner = os.path.relpath(path, one)
            return folder / inner if len(paths) == 1 else folder / _name(one) / inner
    return None


class _Copy:
    def __init__(self, results: Sequence[FileResult], wanted_files: FileFilter) -> None:
        self.failures: dict[str, FileResult] = {}
        self.others: list[FileResult] = []
        self._wanted_files = wanted_files
        self._known = {result.path for result in results if result.status is Status.FAILED}
        self._converted = {os.path.realpath(r.path): r for r in results if r.status is Status.CONVERTED}
        self._copied: set[str] = set()

    def any(self, path: str, target: Path) -> None:
        """Copy a file, or a folder with the wanted files in it; missing paths were reported before."""
        if Path(path).is_file():
            real = os.path.realpath(path)
            self._try(path, real, partial(self._file, path, real, target))
        elif Path(path).is_dir():
            self._folder(path, target)

    def _folder(self, root: str, target: Path) -> None:
        target.mkdir(exist_ok=True)
        folders: list[tuple[str, Path]] = []
        links: list[tuple[str, str, Path]] = []
        for entry, real in walk(root, self._wanted_files, _is_users, self._unreadable):
            copied = target / os.path.relpath(entry.path, root)
            if entry.is_symlink():
                links.append((entry.path, real, copied))
            elif entry.is_dir():
                copied.mkdir()
                folders.append((entry.path, copied))
            elif entry.is_file():
                self._try(entry.path, real, partial(self._file, entry.path, real, copied))
            else:
                self._other(entry.path, "SRC004", "not a regular file; not copied")
        top = os.path.realpath(root)
        for path, real, copied in links:  # after the files: a link must know whether its target was copied
            self._try(path, os.path.realpath(path), partial(self._link, path, real, copied, top))
        for path, copied in reversed(folders):  # after their content: a folder may be read-only
            self._try(path, "", partial(shutil.copystat, path, copied))

    def _file(self, path: str, real: str, target: Path) -> None:
        self._copied.add(real)
        result = self._converted.get(real)
        if result is not None and read_regular(Path(path)) == result.source:
            target.write_bytes(result.output)
            shutil.copystat(path, target)
            os.utime(target)
            return
        shutil.copy2(path, target)
        if result is not None:
            message = "changed while it was being converted; copied as it is now"
            self.failures[result.path] = write_failed(result, "SRC007", message)

    def _link(self, path: str, real: str, target: Path, top: str) -> None:
        destination = os.path.realpath(path)
        text = Path(path).readlink()
        if destination in self._converted and destination not in self._copied:
            self._file(path, destination, target)
        elif text.is_absolute() and below(destination, [top]):
            target.symlink_to(os.path.relpath(destination, Path(real).parent))
        else:
            target.symlink_to(text)

    def _try(self, path: str, real: str, action: Callable[[], None]) -> None:
        try:
            action()
        except OSError as error:
            if error.errno in _FULL:  # every further file would fail the same way
                raise
            message = f"cannot be copied: {reason(error)}"
            if real in self._converted:
                result = self._converted[real]
                self.failures[result.path] = write_failed(result, "SRC005", message)
            else:
                self._other(path, "SRC005", message)

    def _unreadable(self, path: str, error: OSError) -> None:
        if shown(path) not in self._known:
            self.others.append(unusable(shown(path), error))

    def _other(self, path: str, code: str, message: str) -> None:
        if shown(path) not in self._known:
            self.others.append(failed(shown(path), code, message))


def _is_users(name: str) -> bool:
    """Whether a file is the user's, and none that a run which was killed has left."""
    return not is_temporary(name)


def _name(path: str) -> str:
    name = Path(path).name
    return name if name not in ("", "..") else Path(path).resolve().name
