"""Finds the file of a source tree that an import leads to, as Python's import system would, without importing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from paddletorch.model.dependencies import Kind, kind_of

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
"""What stands at the root of a project."""

_ABOVE = 4
"""How many folders above a script or a package its project's root may be."""


class Place(NamedTuple):
    """A module's file, and the names below the module."""

    path: str
    names: tuple[str, ...]


class Found(NamedTuple):
    """Where a name stands (None: for a module or a stranger), and the paths whose kind says so."""

    place: Place | None
    looked_at: frozenset[str]


class Places:
    """Files by dotted name; what was found on the disk is remembered."""

    def __init__(self, outside: Iterable[str]) -> None:
        """``outside``: top-level names that are no part of any source tree."""
        self._outside = frozenset(outside) | sys.stdlib_module_names
        self._bases: dict[str, tuple[tuple[str, ...], frozenset[str]]] = {}
        self._found: dict[tuple[str, str], Found] = {}
        self._looked_at: set[str] = set()
        self.kinds: dict[str, Kind] = {}
        """What lay at each path when it was first looked at."""

    def find(self, name: str, folder: str) -> Found:
        """Where the name stands that an import of a file in ``folder``, an absolute path, gives."""
        found = self._found.get((name, folder))
        if found is None:
            self._looked_at = set()
            place = self._relative(name, folder) if name.startswith(".") else self._absolute(name, folder)
            found = self._found[name, folder] = Found(place, frozenset(self._looked_at))
        return found

    def _relative(self, name: str, folder: str) -> Place | None:
        dotted = name.lstrip(".")
        for _ in range(len(name) - len(dotted) - 1):
            folder = _parent(folder)
        return self._walk(folder, dotted.split("."))

    def _absolute(self, name: str, folder: str) -> Place | None:
        parts = name.split(".")
        if len(parts) < 2 or parts[0] in self._outside:
            return None
        for base in self._search_path(folder):
            first = _join(base, parts[0])
            if self._kind(f"{first}.py") == "file" or self._kind(first) == "folder":
                return self._walk(base, parts)
        return None

    def _walk(self, folder: str, parts: Sequence[str]) -> Place | None:
        for number, part in enumerate(parts):
            inner = _join(folder, part)
            module = f"{inner}.py"
            rest = tuple(parts[number + 1 :])
            package = self._kind(_join(inner, "__init__.py")) == "file"
            if package or (self._kind(inner) == "folder" and self._kind(module) != "file"):
                if not rest and self._kind(_join(folder, "__init__.py")) == "file":
                    break  # a module is nothing to call: the package must have bound the name otherwise
                folder = inner
            elif rest and self._kind(module) == "file":
                return Place(module, rest)
            else:
                break
        else:
            return None
        init = _join(folder, "__init__.py")
        return Place(init, tuple(parts[number:])) if self._kind(init) == "file" else None

    def _search_path(self, folder: str) -> tuple[str, ...]:
        """Where absolute imports of a file in ``folder`` start: above its package, in its project, beside it."""
        if folder not in self._bases:
            before, self._looked_at = self._looked_at, set()
            bases = tuple(dict.fromkeys(self._find_bases(folder)))
            self._bases[folder] = bases, frozenset(self._looked_at)
            self._looked_at = before
        bases, looked_at = self._bases[folder]
        self._looked_at |= looked_at
        return bases

    def _find_bases(self, folder: str) -> Iterator[str]:
        top = folder
        while self._kind(_join(top, "__init__.py")) == "file" and _parent(top) != top:
            top = _parent(top)
        above = [top]
        while len(above) <= _ABOVE and not any(self._kind(_join(above[-1], marker)) for marker in _MARKERS):
            above.append(_parent(above[-1]))
        if len(above) > _ABOVE:
            above = [top]  # no project that it is a part of
        yield from above
        yield _join(above[-1], "src")
        yield folder

    def _kind(self, path: str) -> Kind:
        self._looked_at.add(path)
        kind = self.kinds.get(path)
        if kind is None:
            kind = self.kinds[path] = kind_of(path)
        return kind


def _join(folder: str, name: str) -> str:
    return f"{folder}{name}" if folder.endswith(os.sep) else f"{folder}{os.sep}{name}"


def _parent(folder: str) -> str:
    return str(Path(folder).parent)
