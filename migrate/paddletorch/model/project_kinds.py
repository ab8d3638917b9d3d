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
_OF_FOLDER = re.compile(r"[^/]*\.(?:txt|in)")


def project_kind(path: str) -> ProjectKind | None:
    """What kind of project file it is; None for all others, such as Python files and documents."""
    place = PurePath(path)
    name = place.name.lower()
    found = next((kind for kind, pattern in _KINDS if pattern.fullmatch(name)), None)
    if found is None and place.parent.name.lower() == "requirements" and _OF_FOLDER.fullmatch(name):
        return "requirements"
    return found


def is_setup_script(path: str) -> bool:
    """Whether a file is the ``setup.py`` that names a project's requirements in Python."""
    return PurePath(path).name == "setup.py"
