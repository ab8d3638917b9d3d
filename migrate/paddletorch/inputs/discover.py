"""PATHS to files: explicit files as they are, folders walked for Python files and notebooks in a fixed order."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from paddletorch.inputs.config import NAMES as SETTINGS_FILES
from paddletorch.inputs.gitignore import ExcludeError, Exclusion, Ignore, OnError, above, exclude, with_separator
from paddletorch.model import FileResult
from paddletorch.model.document_kinds import MARKDOWN, NOTEBOOKS
from paddletorch.model.failure import failed, reason
from paddletorch.model.project_kinds import project_kind

SUFFIXES = (".py", ".pyi", *NOTEBOOKS)

# Folders that hold no source of the user's: version control, environments, build and tool caches.
SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".bzr", "__pycache__", "__pypackages__", "node_modules"}
    | {".venv", ".direnv", ".tox", ".nox", ".eggs"}
    | {".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".pytype", ".ipynb_checkpoints"}
)


MOST_SECONDS = 60.0
"""Of CPU time that all patterns of one walk may take to be matched, as long as one file may take to convert."""

_SLOW = "{folder}: matching the patterns of .gitignore and exclude took more than {seconds:g} s; see --no-gitignore"


class FileFilter(NamedTuple):
    """Which files a walk takes: what it leaves out besides :data:`SKIPPED`, and which kinds it knows."""

    exclusion: Callable[[str], Exclusion] = lambda _: Exclusion()
    """What is left out in a folder: a settings file speaks for its folder and what lies below."""
    gitignore: bool = True
    forced: bool = False
    """Whether :attr:`exclusion` also holds for files that were named one by one."""
    markdown: Callable[[str], bool] = lambda _: False
    """Whether the Markdown files in a folder are taken."""
    project_files: bool = False
    """Whether files beside the code are taken, such as requirements and scripts."""
    file_links: bool = True
    """Whether files elsewhere are taken that a link leads to."""
    folder_links: bool = False
    """The same for folders."""

    def takes(self, path: str) -> bool:
        """Whether a file that was found in a folder is of a kind that is converted."""
        if path.endswith(SUFFIXES) or (self.project_files and project_kind(path) is not None):
            return True
        return path.endswith(MARKDOWN) and self.markdown(str(Path(path).parent))


@dataclass(slots=True)
class Discovery:
    """The files to convert, in order, and what could not be taken."""

    files: list[str] = field(default_factory=list)
    failures: list[FileResult] = field(default_factory=list)
    unfollowed: list[str] = field(default_factory=list)
    """Links to files and folders outside of the paths that were given, which the filter does not follow."""


class _Candidate(NamedTuple):
    path: str
    real: str
    is_link: bool


def discover(paths: Sequence[str], wanted_files: FileFilter) -> Discovery:
    """Find the Python files and notebooks below ``paths``; no file is taken twice, whatever names lead to it.

    Raises:
        ExcludeError: an exclude pattern is not gitignore syntax.
    """
    found = Discovery()
    candidates: list[_Candidate] = []
    for path in paths:
        try:
            mode = Path(path).stat().st_mode
        except OSError as error:
            found.failures.append(unusable(path, error))
            continue
        if wanted_files.forced and leaves_out(wanted_files, path):
            continue
        if stat.S_ISDIR(mode):
            _collect(path, wanted_files, candidates, found)
        elif stat.S_ISREG(mode):
            candidates.append(_Candidate(path, os.path.realpath(path), Path(path).is_symlink()))
        else:
            found.failures.append(failed(path, "SRC004", "not a regular file"))
    roots = [os.path.realpath(path) for path in paths]
    if wanted_files.folder_links:
        for link in found.unfollowed:  # grows meanwhile, by the links in what a link leads to
            real = os.path.realpath(link)
            if not below(real, roots):
                roots.append(real)
                _collect(link, wanted_files, candidates, found)
    found.unfollowed = [link for link in found.unfollowed if not below(os.path.realpath(link), roots)]
    taken = []
    for candidate in candidates:
        if candidate.is_link and not wanted_files.file_links and not below(candidate.real, roots):
            found.unfollowed.append(candidate.path)
        else:
            taken.append(candidate)
    found.files = _each_once(taken)
    return found


def leaves_out(wanted_files: FileFilter, path: str) -> bool:
    """Whether the exclusions leave out ``path`` or a folder that it lies in, as a walk from above would.

    Raises:
        ExcludeError: an exclude pattern is not gitignore syntax.
    """
    entry = Path(os.path.abspath(path))  # noqa: PTH100 - a link is left out by its own name
    is_dir = entry.is_dir()
    for number, folder in enumerate(entry.parents):
        exclusion, real = wanted_files.exclusion(str(folder)), os.path.realpath(folder)
        if number and not below(real, [os.path.realpath(exclusion.base)]):
            return False
        if exclude(exclusion, real).leaves_out(with_separator(real) + entry.name, is_dir=is_dir):
            return True
        entry, is_dir = folder, True
    return False


def walk(
    root: str, wanted_files: FileFilter, wanted: Callable[[str], bool], on_error: OnError
) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Yield what lies below ``root``, each with its absolute path, in a fixed order, folders first.

    Links are yielded and never followed. ``wanted`` says of a name whether a file is of interest at all,
    so that other files cost no pattern matching; folders and links are always yielded.

    Raises:
        ExcludeError: a pattern is not gitignore syntax, or matching the patterns takes too long.
    """
    absolute = os.path.realpath(root)
    excluded = exclude(wanted_files.exclusion(root), absolute)
    if excluded.base != with_separator(absolute) and excluded.leaves_out_within(absolute, is_dir=True):
        return
    matching = 0.0
    pending = [(root, absolute, above(absolute, on_error) if wanted_files.gitignore else Ignore(absolute), excluded)]
    while pending:
        folder, absolute, ignore, excluded = pending.pop()
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            on_error(folder, error)
            continue
        if wanted_files.gitignore and any(entry.name == ".gitignore" for entry in entries):
            ignore = ignore.inside(absolute, on_error)
        if any(entry.name in SETTINGS_FILES for entry in entries):
            excluded = exclude(wanted_files.exclusion(folder), absolute)
        prefix = with_separator(absolute)
        inner = []
        for entry in entries:
            is_dir = entry.is_dir(follow_symlinks=False)
            if _skipped(entry) if is_dir else not (entry.is_symlink() or wanted(entry.name)):
                continue
            path = prefix + entry.name
            before = time.process_time()
            left_out = ignore.leaves_out(path, is_dir=is_dir) or excluded.leaves_out(path, is_dir=is_dir)
            matching += time.process_time() - before
            if matching > MOST_SECONDS:
                raise ExcludeError(_SLOW.format(folder=folder, seconds=MOST_SECONDS))
            if left_out:
                continue
            yield entry, path
            if is_dir:
                inner.append((entry.path, path, ignore, excluded))
        pending += reversed(inner)


def unusable(path: str, error: OSError) -> FileResult:
    """The result for a path that cannot be looked at or read."""
    if error.errno == errno.ELOOP:
        return failed(path, "SRC004", "a link that leads back to itself")
    if isinstance(error, FileNotFoundError):
        gone = "a link to nothing" if Path(path).is_symlink() else "no such file or folder"
        return failed(path, "SRC003", gone)
    return failed(path, "SRC003", f"cannot be read: {reason(error)}")


def shown(path: str) -> str:
    """``path`` as reports print it: ``a.py`` rather than ``./a.py``."""
    return path.removeprefix(os.curdir + os.sep)


def below(path: str, folders: Iterable[str]) -> bool:
    """Whether ``path`` is one of ``folders`` or lies in one; all absolute."""
    return any(with_separator(path).startswith(with_separator(folder)) for folder in folders)


def _collect(root: str, wanted_files: FileFilter, candidates: list[_Candidate], found: Discovery) -> None:
    def on_error(folder: str, error: OSError) -> None:
        found.failures.append(unusable(shown(folder), error))

    for entry, real in walk(root, wanted_files, _is_source, on_error):
        path = shown(entry.path)
        is_link = entry.is_symlink()
        try:
            mode = entry.stat().st_mode if is_link or not entry.is_file() else stat.S_IFREG
        except OSError as error:  # a link to nothing or to itself, or a file that vanished
            if wanted_files.takes(entry.path) and project_kind(entry.path) is None:
                found.failures.append(unusable(path, error))
            continue
        if stat.S_ISDIR(mode):
            if is_link:
                _note_link(path, real, found)
            elif wanted_files.takes(entry.path) and project_kind(entry.path) is None:
                message = "a folder with the name of a Python file; what is in it was searched"
                found.failures.append(failed(path, "SRC004", message))
        elif wanted_files.takes(entry.path):
            if stat.S_ISREG(mode):
                candidates.append(_Candidate(path, os.path.realpath(real) if is_link else real, is_link))
            elif project_kind(entry.path) is None:
                found.failures.append(failed(path, "SRC004", "not a regular file"))


def _note_link(path: str, real: str, found: Discovery) -> None:
    if below(str(Path(real).parent), [os.path.realpath(real)]):
        found.failures.append(failed(path, "SRC004", "a link that leads back to a folder it lies in; not followed"))
    else:
        found.unfollowed.append(path)


def _each_once(candidates: list[_Candidate]) -> list[str]:
    """Drop names that lead to a file already taken; a file's own name goes before a link to it."""
    taken = {candidate.real for candidate in candidates if not candidate.is_link}
    files: dict[str, str] = {}
    for candidate in candidates:
        if not candidate.is_link or candidate.real not in taken:
            files.setdefault(candidate.real, candidate.path)
    return list(files.values())


def _is_source(name: str) -> bool:
    return name.endswith((*SUFFIXES, *MARKDOWN, ".txt", ".in")) or project_kind(name) is not None


def _skipped(folder: os.DirEntry[str]) -> bool:
    if folder.name in SKIPPED:
        return True
    try:
        return Path(folder.path, "pyvenv.cfg").exists()
    except OSError:  # such as a path that is too long; reported when the folder is read
        return False
