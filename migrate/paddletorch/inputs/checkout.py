"""The project that files belong to, by its folder: its name, and the commit that is checked out.

Files are read and nothing is run: git itself would run what the settings of a repository name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from paddletorch_rules.bounded import TABLE_BYTES, read_regular
from paddletorch_rules.toml_text import parse_toml

from paddletorch.inputs.gitignore import repository_of

_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def project_folder(paths: Sequence[str]) -> Path:
    """The nearest folder around all ``paths`` that looks like the top of a project, else the folder that they share."""
    folders = [path if path.is_dir() else path.parent for path in (Path(path).absolute() for path in paths)]
    parts = [folder.resolve().parts for folder in folders or [Path.cwd()]]
    shared = Path(*(same[0] for same in zip(*parts, strict=False) if len(set(same)) == 1))
    around = (shared, *shared.parents)
    return next((folder for folder in around if any((folder / mark).exists() for mark in _MARKS)), shared)


def project_name(folder: Path) -> str:
    """The name in its ``pyproject.toml``, else the folder's own."""
    try:
        project = parse_toml(_text(folder / "pyproject.toml")).get("project")
    except (ValueError, RecursionError):
        project = None
    name = project.get("name") if isinstance(project, dict) else None
    return name if isinstance(name, str) and name else folder.name


def head_commit(folder: Path) -> str:
    """The commit that is checked out in ``folder``, in hexadecimal digits; "" where that is not to be seen."""
    top = repository_of(folder)
    if top is None:
        return ""
    own = top / ".git"
    if own.is_file():  # a worktree or a submodule: its files lie elsewhere
        own = top / _text(own).removeprefix("gitdir:").strip()
    shared = own / _text(own / "commondir").strip()
    head = _text(own / "HEAD").strip()
    if not head.startswith("ref:"):
        return _commit(head)
    name = head.removeprefix("ref:").strip()
    if not name.startswith("refs/") or ".." in PurePosixPath(name).parts:
        return ""
    loose = _commit(_text(own / name)) or _commit(_text(shared / name))
    packed = (line.split(" ", 1) for line in _text(shared / "packed-refs").splitlines())
    return loose or next((_commit(line[0]) for line in packed if line[1:] == [name]), "")


def _commit(text: str) -> str:
    return text.strip() if _COMMIT.fullmatch(text.strip()) else ""


def _text(file: Path) -> str:
    """What a regular file holds; "" if it cannot be read."""
    try:
        return read_regular(file, TABLE_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
