"""Which paths the .gitignore files and --exclude leave out; the matching itself is pathspec's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class ExcludeError(ValueError):
    """A pattern of --exclude that is not gitignore syntax."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The patterns of one .gitignore file (or of --exclude), relative to ``base``."""

    base: str
    """Absolute folder, with a trailing separator."""
    spec: GitIgnoreSpec

    def verdict(self, path: str, is_dir: bool) -> bool | None:
        """True: left out; False: taken back by ``!pattern``; None: this layer says nothing."""
        relative = path[len(self.base) :] + ("/" if is_dir else "")
        return self.spec.check_file(relative).include


def with_separator(folder: str) -> str:
    """``folder`` with one trailing separator, so that it is a prefix of what lies in it and nothing else."""
    return folder if folder.endswith(os.sep) else folder + os.sep


Layers = tuple[Layer, ...]
"""Outermost first; the innermost one that says anything decides, as in git."""


def left_out(layers: Layers, path: str, *, is_dir: bool) -> bool:
    """Whether ``path`` (absolute, in every layer's base) is left out."""
    for layer in reversed(layers):
        verdict = layer.verdict(path, is_dir)
        if verdict is not None:
            return verdict
    return False


def exclude_layer(patterns: Iterable[str], base: str) -> Layer:
    """The patterns of --exclude.

    Raises:
        ExcludeError: a pattern is not gitignore syntax.
    """
    from pathspec import GitIgnoreSpec

    try:
        return Layer(base, GitIgnoreSpec.from_lines(patterns))
    except (ValueError, re.error) as error:
        raise ExcludeError(f"--exclude: {error}") from error


def layers_above(folder: str) -> Layers:
    """What the .gitignore files between ``folder`` (absolute) and the root of its repository say.

    Outside a repository there are none. A folder that they leave out was named by the user all the same,
    so they then say nothing about what is in it.
    """
    parents = [Path(folder), *Path(folder).parents]
    top = next((index for index, parent in enumerate(parents) if (parent / ".git").exists()), None)
    if top is None:
        return ()
    layers = list(_read(str(parents[top]), ".git/info/exclude"))
    for parent in reversed(parents[1 : top + 1]):
        layers += layer_in(str(parent))
    above = tuple(layers)
    return () if top and left_out(above, folder, is_dir=True) else above


def layer_in(folder: str) -> Layers:
    """The .gitignore of ``folder`` itself: one layer or none."""
    return _read(folder, ".gitignore")


def _read(folder: str, name: str) -> Layers:
    try:
        text = Path(folder, name).read_bytes().decode("utf-8-sig", "surrogateescape")
    except OSError:
        return ()
    from pathspec import GitIgnoreSpec

    lines = text.splitlines()
    try:
        spec = GitIgnoreSpec.from_lines(lines)
    except (ValueError, re.error):  # git passes over a line that it cannot read; so do we
        spec = GitIgnoreSpec.from_lines(line for line in lines if _valid(line))
    return (Layer(with_separator(folder), spec),)


def _valid(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True
