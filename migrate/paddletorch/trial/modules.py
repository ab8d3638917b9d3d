"""The modules of a tree: by which name each file is imported, and from which folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_PROGRAMS = ("__main__.py", "setup.py")
"""Files that are run, not imported: importing one would do what it is for."""


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


def modules_of(files: Iterable[str], roots: Sequence[str]) -> list[Module]:
    """The modules that files hold, packages before what is in them.

    A file in folders with an ``__init__.py`` is imported by way of them, another one by its own name from its folder,
    as a script's neighbours are.

    Args:
        roots: folders that the files were found in; the names of packages do not reach above them.
    """
    tops = {Path(root).resolve() for root in roots}
    found = []
    for file in files:
        if not file.endswith(".py") or Path(file).name in _PROGRAMS:
            continue
        path = Path(file).resolve()
        is_package = path.name == "__init__.py"
        parts = [] if is_package else [path.stem]
        folder = path.parent
        while (folder / "__init__.py").is_file() and folder.name.isidentifier():
            parts.insert(0, folder.name)
            folder = folder.parent
            if folder in tops and not (folder / "__init__.py").is_file():
                break
        if parts:
            found.append(Module(file, ".".join(parts), str(folder)))
    return sorted(found, key=lambda one: (one.folder, one.name.split(".")))


def runs_of(modules: Sequence[Module]) -> list[list[Module]]:
    """The modules of each folder: those of two folders may have the same name."""
    folders: dict[str, list[Module]] = {}
    for one in modules:
        folders.setdefault(one.folder, []).append(one)
    return list(folders.values())
