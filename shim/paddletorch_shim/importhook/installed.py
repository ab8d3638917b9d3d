"""Programs by name: on PATH, or beside the interpreter, where an environment that is not activated has its own."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def installed_program(name: str) -> str | None:
    """The path of the program that ``name`` starts; None where there is none."""
    found = shutil.which(name)
    if found is None and not os.path.dirname(name):  # noqa: PTH120 - of ./name pathlib sees no folder
        found = shutil.which(name, path=str(Path(sys.executable).parent))
    return found
