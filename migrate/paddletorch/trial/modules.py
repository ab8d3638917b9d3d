"""The modules of a tree: by which name each file is imported, and from which folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_PROGRAMS = ("__main__.py", "setup.py")
"""Files that are run, not imported: importing one would do what it is for."""
_IMPORT = re.compile(
    r"^[ \t]*(?:import[ \t]+([\w.]+)|from[ \t]+(\w[\w.]*)[ \t]+import[ \t]+\(?([\w, ]*))", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Module:
    """A file that is imported.

    Args:
        path: of the file, as the user gave it.
        name: it is imported by.
        folder: that must be on the path of the interpreter.
    """

    path: str
    name: str
    folder: str

    @property
    def is_package(self) -> bool:
        return Path(self.path).name == "__init__.py"


def modules_of(files: Iterable[str]) -> list[Module]:
    """The modules that files hold, packages before what is in them.

    A file in folders with an ``__init__.py`` is imported by way of them, another one by its own name from its folder,
    as a script's neighbours are. A folder without an ``__init__.py`` is a package if a file imports something of it.
    """
    taken = [file for file in files if file.endswith(".py") and Path(file).name not in _PROGRAMS]
    imported = _imported(taken) - set(_in_packages(taken))
    found = []
    for file in taken:
        path = Path(file).resolve()
        parts = [] if path.name == "__init__.py" else [path.stem]
        folder = path.parent
        while folder.name.isidentifier() and (
            (folder / "__init__.py").is_file() or (parts and f"{folder.name}.{parts[0]}" in imported)
        ):
            parts.insert(0, folder.name)
            folder = folder.parent
        if parts:
            found.append(Module(file, ".".join(parts), str(folder)))
    return sorted(found, key=lambda one: (one.folder, one.name.split(".")))


def _imported(files: Iterable[str]) -> set[str]:
    """The first two names of what the files import: ``pkg.part`` of ``from pkg.part.deep import name``."""
    found = set()
    for file in files:
        try:
            text = Path(file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for direct, place, names in _IMPORT.findall(text):
            whole = [direct] if direct else [place, *(f"{place}.{name.strip()}" for name in names.split(","))]
            found |= {".".join(one.split(".")[:2]) for one in whole if "." in one}
    return found


def _in_packages(files: Iterable[str]) -> Iterator[str]:
    """What packages with an ``__init__.py`` have, by two names: no import of that makes a folder above a package."""
    for file in files:
        path = Path(file).resolve()
        module = path.parent if path.name == "__init__.py" else path.with_suffix("")
        if (module.parent / "__init__.py").is_file():
            yield f"{module.parent.name}.{module.name}"


def runs_of(modules: Sequence[Module]) -> list[list[Module]]:
    """The modules of each folder: those of two folders may have the same name."""
    folders: dict[str, list[Module]] = {}
    for one in modules:
        folders.setdefault(one.folder, []).append(one)
    return list(folders.values())
