"""Finds the file of a project that an import leads to, as Python's import system would, without importing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from paddletorch.model.dependencies import Kind, kind_of

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
"""Files that mark the root of a project."""

_ABOVE = 4
"""How many folders above a script or a package its project's root may be."""

_FAR_ABOVE = 12
"""The same where only the names of the project's own packages are asked for: examples lie deep."""


class Location(NamedTuple):
    """A module's file, and the dotted name inside the module."""

    path: str
    names: tuple[str, ...]


class Found(NamedTuple):
    """Where a name is defined (None: it is a module, or of no project), and the paths that were checked to find it."""

    location: Location | None
    checked: frozenset[str]


class ModuleFinder:
    """Locations by dotted name; every path is looked at once."""

    def __init__(self, excluded: Iterable[str]) -> None:
        """``excluded``: top-level packages that are no part of any project, besides the standard library."""
        self._excluded = frozenset(excluded) | sys.stdlib_module_names
        self._bases: dict[str, tuple[tuple[str, ...], frozenset[str]]] = {}
        self._found: dict[tuple[str, str], Found] = {}
        self._held: dict[tuple[str, str], tuple[bool, frozenset[str]]] = {}
        self.kinds: dict[str, Kind] = {}
        """What was at each path when it was first looked at."""

    def find(self, name: str, folder: str) -> Found:
        """Where the name is defined that a file in ``folder``, an absolute path, imports."""
        found = self._found.get((name, folder))
        if found is None:
            search = _Search(self.kinds)
            location = self._relative(search, name, folder) if name[:1] == "." else self._absolute(search, name, folder)
            found = self._found[name, folder] = Found(location, frozenset(search.checked))
        return found

    def holds(self, package: str, folder: str) -> tuple[bool, frozenset[str]]:
        """Whether a package or module of this name is there for a file in ``folder``, and the paths that were checked.

        A folder without ``__init__.py`` does not count: Python takes an installed package before it.
        """
        known = self._held.get((package, folder))
        if known is None:
            search = _Search(self.kinds)
            places = [_join(base, package) for base in search.bases(folder, _FAR_ABOVE)]
            found = any(
                search.kind(f"{place}.py") == "file" or search.kind(_join(place, "__init__.py")) == "file"
                for place in places
            )
            known = self._held[package, folder] = found, frozenset(search.checked)
        return known

    def _relative(self, search: _Search, name: str, folder: str) -> Location | None:
        dotted = name.lstrip(".")
        for _ in range(len(name) - len(dotted) - 1):
            folder = folder_of(folder)
        return search.walk(folder, dotted.split("."))

    def _absolute(self, search: _Search, name: str, folder: str) -> Location | None:
        parts = name.split(".")
        if len(parts) < 2 or parts[0] in self._excluded:
            return None
        bases, checked = self._search_path(folder)
        search.checked |= checked
        for base in bases:
            first = _join(base, parts[0])
            if search.kind(f"{first}.py") == "file" or search.kind(first) == "folder":
                return search.walk(base, parts)
        return None

    def _search_path(self, folder: str) -> tuple[tuple[str, ...], frozenset[str]]:
        """Where absolute imports of a file in ``folder`` start, and the paths that were checked to know it."""
        if folder not in self._bases:
            search = _Search(self.kinds)
            bases = tuple(dict.fromkeys(search.bases(folder)))
            self._bases[folder] = bases, frozenset(search.checked)
        return self._bases[folder]


class _Search:
    """One search, with the paths that it checks."""

    def __init__(self, kinds: dict[str, Kind]) -> None:
        self._kinds = kinds
        self.checked: set[str] = set()

    def walk(self, folder: str, parts: Sequence[str]) -> Location | None:
        """Follow a dotted name through the packages below ``folder``."""
        for number, part in enumerate(parts):
            inner = _join(folder, part)
            module = f"{inner}.py"
            rest = tuple(parts[number + 1 :])
            package = self.kind(_join(inner, "__init__.py")) == "file"
            if package or (self.kind(inner) == "folder" and self.kind(module) != "file"):
                if not rest and self.kind(_join(folder, "__init__.py")) == "file":
                    break  # a module cannot be called: the package must have bound the name otherwise
                folder = inner
            elif rest and self.kind(module) == "file":
                return Location(module, rest)
            else:
                break
        else:
            return None
        init = _join(folder, "__init__.py")
        return Location(init, tuple(parts[number:])) if self.kind(init) == "file" else None

    def bases(self, folder: str, most: int = _ABOVE) -> Iterator[str]:
        """Where absolute imports of a file in ``folder`` start: above its package, in its project, beside it.

        ``most``: how many folders above the package the project's root may be.
        """
        top = folder
        while self.kind(_join(top, "__init__.py")) == "file" and folder_of(top) != top:
            top = folder_of(top)
        above = [top]
        while len(above) <= most and not any(self.kind(_join(above[-1], marker)) for marker in _MARKERS):
            above.append(folder_of(above[-1]))
        if len(above) > most:  # nothing marks a project, as in a wheel: the package that it lies in is one
            packages = [place for place, one in enumerate(above) if self.kind(_join(one, "__init__.py")) == "file"]
            above = above[: packages[-1] + 2] if packages else [top]
        yield from above
        yield _join(above[-1], "src")
        yield folder

    def kind(self, path: str) -> Kind:
        """What is at ``path``."""
        self.checked.add(path)
        kind = self._kinds.get(path)
        if kind is None:
            kind = self._kinds[path] = kind_of(path)
        return kind


def _join(folder: str, name: str) -> str:
    return f"{folder}{name}" if folder.endswith(os.sep) else f"{folder}{os.sep}{name}"


@lru_cache(maxsize=10_000)
def folder_of(path: str) -> str:
    """The folder that holds the file or folder at ``path``."""
    return str(Path(path).parent)
