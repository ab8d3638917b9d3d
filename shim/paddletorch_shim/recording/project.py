"""What is recorded if nobody says: which folder is the project, and which framework it runs on."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import get_args

from paddletorch.inputs.config import load_config
from paddletorch.model import Framework, Options
from paddletorch_rules.bounded import read_regular

_TOPS = (".paddletorch", ".git", "paddletorch.toml", "pyproject.toml", "setup.py", "setup.cfg")
"""What lies in the top folder of a project."""

_IMPORT = re.compile(rb"^[ \t]*(?:import|from)[ \t]+(torch|paddle)\b", re.MULTILINE)

_MOST_FILES = 5000


class UnknownDirection(ValueError):
    """Nothing says which framework the program runs on; the message says what to give."""


def project_of(start: Path) -> Path:
    """The nearest folder upwards from the folder ``start`` that looks like the top of a project; else ``start``."""
    start = start.resolve()
    return next((folder for folder in (start, *start.parents) if _is_top(folder)), start)


def options_for(root: Path, to: Framework | None, program: Path | None = None) -> Options:
    """How the modules below ``root`` would be converted, which says what is asked.

    ``to`` is what the command says; else the settings file does, else what ``program`` imports, else the project.

    Raises:
        UnknownDirection: none of these says one direction.
        ConfigError: the settings file cannot be used.
    """
    config = load_config(root)
    for key, why in config.left_out:
        if key in ("", "tables"):  # the others say nothing of a recording
            warnings.warn(why, stacklevel=2)
    return Options(
        to or config.to or _other(root, program),
        source_version=config.source_version,
        target_version=config.target_version,
        unsafe=bool(config.unsafe),
        tables=config.tables or (),
    )


def _is_top(folder: Path) -> bool:
    return any((folder / name).exists() for name in _TOPS)


def _other(root: Path, program: Path | None) -> Framework:
    """The framework that the program does not import."""
    found = _imported(program) if program is not None else set()
    if len(found) != 1:
        found = {name for file in islice(_files(root), _MOST_FILES) for name in _imported(file)}
    if len(found) == 1:
        return "paddle" if found == {"torch"} else "torch"
    both = " and ".join(sorted(found))
    what = f"imports {both}" if found else f"imports neither {' nor '.join(get_args(Framework))}"
    raise UnknownDirection(f"the program in {root} {what}: say where it is to go, --to paddle or --to torch")


def _imported(file: Path) -> set[str]:
    try:
        return {name.decode() for name in _IMPORT.findall(read_regular(file))}
    except OSError:
        return set()


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = [one for one in sorted(folders) if _is_part(Path(folder, one))]
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(".py"))


def _is_part(folder: Path) -> bool:
    name = folder.name
    return not (name.startswith(".") or name in ("site-packages", "node_modules") or (folder / "pyvenv.cfg").exists())
