"""Which paths the .gitignore files and --exclude leave out; the matching itself is pathspec's."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class ExcludeError(ValueError):
    """A pattern that says what to leave out and is not gitignore syntax."""


class Exclusion(NamedTuple):
    """What the user wants left out besides what the .gitignore files say."""

    patterns: tuple[str, ...] = ()
    """In gitignore syntax."""
    base: str = ""
    """Folder that the patterns are relative to; for a root outside of it they are relative to the root."""
    origin: str = "--exclude"
    """Where the patterns were written, for messages."""


@dataclass(frozen=True, slots=True)
class Ignore:
    """Patterns that hold in a folder, its own and those from above it, all relative to ``base``."""

    base: str
    """Absolute folder, with a trailing separator."""
    lines: tuple[str, ...] = ()
    """In gitignore syntax; the last one that matches decides."""
    files: GitIgnoreSpec | None = None
    folders: GitIgnoreSpec | None = None

    def leaves_out(self, path: str, *, is_dir: bool) -> bool:
        """Whether ``path`` (absolute, in ``base``) is left out, if what it lies in is not."""
        spec = self.folders if is_dir else self.files
        return spec is not None and spec.match_file(path[len(self.base) :])

    def with_lines(self, lines: Iterable[str]) -> Ignore:
        """These patterns and ``lines``, which are relative to ``base`` and come last.

        Raises:
            ValueError: a line is not gitignore syntax.
        """
        from pathspec import GitIgnoreSpec

        every = (*self.lines, *lines)
        # Asked about "x/", pathspec says that "x/**" matches; in git that is not about x itself. So folders
        # are asked about as "x", with patterns to suit.
        folders = (line.rstrip().removesuffix("/") for line in every)
        try:
            return Ignore(self.base, every, GitIgnoreSpec.from_lines(every), GitIgnoreSpec.from_lines(folders))
        except re.error as error:
            raise ValueError(str(error)) from error

    def inside(self, folder: str) -> Ignore:
        """What holds in ``folder`` (absolute, in ``base``): the same, and what its own .gitignore says."""
        return self._with_file(Path(folder, ".gitignore"), folder[len(self.base) :])

    def _with_file(self, file: Path, folder: str) -> Ignore:
        try:
            lines = file.read_bytes().decode("utf-8-sig", "surrogateescape").splitlines()
        except OSError:
            return self
        lines = [line for line in lines if line.strip(" /!") and line[0] != "#"]
        moved = [_from_base(line, folder) for line in lines]
        try:
            return self.with_lines(moved)
        except ValueError:  # git passes over a line that it cannot read; so do we
            return self.with_lines(line for line in moved if _valid(line))


def exclude(exclusion: Exclusion, root: str) -> Ignore:
    """What ``exclusion`` says below ``root``, an absolute folder without links.

    Raises:
        ExcludeError: a pattern is not gitignore syntax.
    """
    if not exclusion.patterns:
        return Ignore(with_separator(root))
    base = with_separator(os.path.realpath(exclusion.base))
    try:
        return _compiled(exclusion.patterns, base if with_separator(root).startswith(base) else with_separator(root))
    except ValueError as error:
        raise ExcludeError(f"{exclusion.origin}: {error}") from error


@functools.cache
def _compiled(patterns: tuple[str, ...], base: str) -> Ignore:
    return Ignore(base).with_lines(patterns)


def above(folder: str) -> Ignore:
    """What the .gitignore files above ``folder`` (absolute), up to the root of its repository, say of it.

    Outside a repository that is nothing. A folder that they leave out was named by the user all the same,
    so they then say nothing about what is in it.
    """
    none = Ignore(with_separator(folder))
    parents = [Path(folder), *Path(folder).parents]
    top = next((parent for parent in parents if (parent / ".git").exists()), None)
    if top is None:
        return none
    ignore = Ignore(with_separator(str(top)))._with_file(top / ".git" / "info" / "exclude", "")
    for parent in reversed(parents[1 : parents.index(top) + 1]):
        ignore = ignore.inside(str(parent))
    return none if str(top) != folder and ignore.leaves_out(folder, is_dir=True) else ignore


def with_separator(folder: str) -> str:
    """``folder`` with one trailing separator, so that it is a prefix of what lies in it and nothing else."""
    return folder if folder.endswith(os.sep) else folder + os.sep


def _from_base(line: str, folder: str) -> str:
    """A line of ``folder``'s .gitignore, said from the base."""
    if not folder:
        return line
    sign, pattern = ("!", line[1:]) if line.startswith("!") else ("", line)
    anchored = "/" in pattern.rstrip().rstrip("/")  # a slash elsewhere than at the end ties it to its folder
    prefix = re.sub(r"([\\*?\[ #!])", r"\\\1", folder.replace(os.sep, "/"))
    return f"{sign}/{prefix}/{'' if anchored else '**/'}{pattern.lstrip('/')}"


def _valid(line: str) -> bool:
    try:
        Ignore("").with_lines([line])
    except ValueError:
        return False
    return True
