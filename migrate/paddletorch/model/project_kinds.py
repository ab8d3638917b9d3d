"""Which files beside the code say what a project needs and how it is started, by name."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Literal

ProjectKind = Literal["requirements", "pyproject", "setup.cfg", "conda", "docker", "shell"]

_KINDS: tuple[tuple[ProjectKind, re.Pattern[str]], ...] = (
    ("requirements", re.compile(r"(?:[\w.-]*[-_.])?(?:requirements?|constraints?)(?:[-_.][\w.-]*)?\.(?:txt|in)")),
    ("pyproject", re.compile(r"pyproject\.toml")),
    ("setup.cfg", re.compile(r"setup\.cfg")),
    ("conda", re.compile(r"(?:[\w.-]*[-_.])?(?:environment|conda)(?:[-_.][\w.-]*)?\.ya?ml")),
    ("docker", re.compile(r"(?:dockerfile|containerfile)(?:[-_.][\w.-]*)?|[\w.-]*\.dockerfile")),
    ("shell", re.compile(r"[^/]*\.(?:sh|bash|slurm|sbatch)")),
)
_NEVER = (".py", ".pyi", ".ipynb", ".md")
"""Ends of names that no kind has, but for a script of a container's file."""
_MAYBE = re.compile(r"(?i:dockerfile|containerfile)[^/]*$")
_OF_FOLDER = re.compile(r"[^/]*\.(?:txt|in)")


def project_kind(path: str) -> ProjectKind | None:
    """What kind of project file it is; None for all others, such as Python files and documents."""
    if path.endswith(_NEVER) and not _MAYBE.search(path):
        return None
    place = PurePath(path)
    name = place.name.lower()
    found = next((kind for kind, pattern in _KINDS if pattern.fullmatch(name)), None)
    if found is None and place.parent.name.lower() == "requirements" and _OF_FOLDER.fullmatch(name):
        return "requirements"
    return found


def is_setup_script(path: str) -> bool:
    """Whether a file is the ``setup.py`` that names a project's requirements in Python."""
    return path.endswith("setup.py") and PurePath(path).name == "setup.py"
