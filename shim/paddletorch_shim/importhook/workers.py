"""Gives the hooks to the processes that ``multiprocessing`` spawns, before they import anything of the program.

Forked processes have them anyway. A spawned process first unpickles what ``get_preparation_data`` says, then runs the
program's main module again: the settings travel as an object that installs them when it is unpickled.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing import spawn
from typing import Any

from paddletorch_shim.importhook.settings import Settings

_SPAWNED_MAIN = "paddletorch_shim.importhook.spawned_main"

Installer = Callable[[tuple[Settings, ...]], None]
"""Installs hooks; a function that can be pickled by its name."""

_plain: Callable[[str], dict[str, Any]] | None = None


def attach(in_force: Callable[[], tuple[Settings, ...]], install: Installer) -> None:
    """Send what ``in_force`` says to each process that is spawned from now on, and have it call ``install`` first."""
    global _plain
    if _plain is not None:
        return
    plain = _plain = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        data = plain(name)
        settings = in_force()
        main = data.get("init_main_from_path")
        if main is not None and os.path.realpath(main) in (one.script for one in settings):
            # the script itself is converted too: a module of ours runs it as the main module
            del data["init_main_from_path"]
            data["init_main_from_name"] = _SPAWNED_MAIN
        return {"paddletorch_hooks": _Hooks(settings, install), **data}

    spawn.get_preparation_data = get_preparation_data


def detach() -> None:
    """Send nothing any more."""
    global _plain
    if _plain is not None:
        spawn.get_preparation_data = _plain  # type: ignore[assignment]
        _plain = None


class _Hooks:
    """Is the call ``install(settings)`` where it is unpickled."""

    def __init__(self, settings: tuple[Settings, ...], install: Installer) -> None:
        self._settings = settings
        self._install = install

    def __reduce__(self) -> tuple[Installer, tuple[tuple[Settings, ...]]]:
        return self._install, (self._settings,)
