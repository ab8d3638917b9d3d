"""Which paths the .gitignore files and --exclude leave out."""

from __future__ import annotations

import codecs
import errno
import functools
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from paddletorch_rules.bounded import SETTINGS_BYTES, read_regular

from paddletorch.inputs.wildmatch import Rule, read_rule

OnError = Callable[[str, OSError], None]
"""Is told of a file or folder that cannot be read."""

_SEPARATOR = os.fsencode(os.sep)

MOST_PATTERNS = 10_000
"""That hold in one folder. So many take under a minute for the worst path, which no file may take to convert either."""


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


class Ignore(NamedTuple):
    """Patterns that hold in a folder, its own and those from above it."""

    base: str
    """Absolute folder, with a trailing separator."""
    rules: tuple[tuple[int, Rule], ...] = ()
    """Each after the length of the path that it is relative to; the last one that matches decides."""

    def leaves_out(self, path: str, *, is_dir: bool) -> bool:
        """Whether ``path`` (absolute, in ``base``) is left out, if what it lies in is not."""
        if not self.rules:
            return False
        encoded = os.fsencode(path)
        name = encoded[len(os.fsencode(os.path.dirname(path))) :].lstrip(_SEPARATOR)  # noqa: PTH120 - as text
        start, relative = -1, b""
        for length, rule in reversed(self.rules):
            if length != start:
                start, relative = length, encoded[length:].replace(_SEPARATOR, b"/")
            if rule.matches(relative, name, is_dir=is_dir):
                return not rule.negated
        return False

    def leaves_out_within(self, path: str, *, is_dir: bool) -> bool:
        """Whether ``path`` (absolute, in ``base``) or a folder on the way to it is left out."""
        ends = (at for at, character in enumerate(path) if character == os.sep and at > len(self.base))
        return any(self.leaves_out(path[:end], is_dir=True) for end in ends) or self.leaves_out(path, is_dir=is_dir)

    def with_lines(self, lines: Iterable[str]) -> Ignore:
        """These patterns and ``lines``, which are relative to ``base`` and come last.

        Raises:
            ValueError: a line is not gitignore syntax, or cannot match anything, or there are too many.
        """
        encoded = self._countable(map(os.fsencode, lines))
        return self._with([read_rule(line, strict=True) for line in encoded], self.base)

    def inside(self, folder: str, on_error: OnError) -> Ignore:
        """What holds in ``folder`` (absolute, in ``base``): the same, and what its own .gitignore says."""
        return self._with_file(Path(folder, ".gitignore"), with_separator(folder), on_error)

    def _countable(self, lines: Iterable[bytes]) -> list[bytes]:
        """The lines that may be patterns.

        Raises:
            ValueError: with the patterns that hold already they are more than may hold in one folder.
        """
        found = [line for line in lines if line.strip() and not line.startswith(b"#")]
        if len(self.rules) + len(found) > MOST_PATTERNS:
            raise ValueError(f"more than {MOST_PATTERNS:,} patterns hold in one folder")
        return found

    def _with(self, rules: Iterable[Rule | None], folder: str) -> Ignore:
        length = len(os.fsencode(folder))
        return Ignore(self.base, (*self.rules, *((length, rule) for rule in rules if rule is not None)))

    def _with_file(self, file: Path, folder: str, on_error: OnError) -> Ignore:
        try:
            lines = read_regular(file, SETTINGS_BYTES).removeprefix(codecs.BOM_UTF8).split(b"\n")
        except (FileNotFoundError, NotADirectoryError):  # of a worktree or a submodule, .git is a file
            return self
        except OSError as error:
            on_error(str(file), error)
            return self
        try:
            patterns = self._countable(lines)
        except ValueError as error:
            on_error(str(file), OSError(errno.EFBIG, str(error), str(file)))
            return self
        return self._with(map(_read_or_pass_over, patterns), folder)


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


def above(folder: str, on_error: OnError) -> Ignore:
    """What the .gitignore files above ``folder`` (absolute), up to the root of its repository, say of it.

    Outside a repository that is nothing. A folder that they leave out was named by the user all the same,
    so they then say nothing about what is in it.
    """
    none = Ignore(with_separator(folder))
    parents = [Path(folder), *Path(folder).parents]
    top = repository_of(Path(folder))
    if top is None:
        return none
    ignore = Ignore(with_separator(str(top)))._with_file(
        top / ".git" / "info" / "exclude", with_separator(str(top)), on_error
    )
    for parent in reversed(parents[1 : parents.index(top) + 1]):
        ignore = ignore.inside(str(parent), on_error)
    return none if str(top) != folder and ignore.leaves_out_within(folder, is_dir=True) else ignore


def repository_of(path: Path) -> Path | None:
    """The nearest folder upwards from ``path``, absolute, that holds a repository."""
    return next((folder for folder in (path, *path.parents) if is_repository(folder)), None)


def is_repository(folder: Path) -> bool:
    """Whether a folder is the top of a repository."""
    return os.path.exists(folder / ".git")  # noqa: PTH110


def with_separator(folder: str) -> str:
    """``folder`` with one trailing separator, so that it is a prefix of what lies in it and nothing else."""
    return folder if folder.endswith(os.sep) else folder + os.sep


def _read_or_pass_over(line: bytes) -> Rule | None:
    try:
        return read_rule(line.removesuffix(b"\r"))
    except ValueError:  # git passes over a line that it cannot read; so do we
        return None
