"""What a hook was asked to do."""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import CodeType
from typing import Protocol

from paddletorch.model import Options


@dataclass(frozen=True, slots=True)
class Settings:
    """Picklable, so that worker processes get the same."""

    options: Options
    """How modules are converted."""
    packages: tuple[str, ...] = ()
    """Dotted names of the modules that are converted, with what is below them, wherever they are installed."""
    folders: tuple[str, ...] = ()
    """Real paths: modules below are converted, installed packages among them left out."""
    script: str = ""
    """Real path of the script that runs as ``__main__``, if one does."""
    allow: tuple[str, ...] = ()
    """Codes, areas or prefixes of findings that neither stop a module nor warn."""
    root: str = ""
    """Real path of the project whose run is recorded; modules then stay as they are. Empty: they are converted."""

    def allows(self, code: str) -> bool:
        """Whether a finding of ``code`` is of no matter."""
        return code.startswith(self.allow)

    def place(self, file: str) -> str:
        """The absolute path from which the imports of the module in ``file`` are looked up."""
        real = os.path.realpath(file)
        return real if real == self.script else os.path.abspath(file)  # noqa: PTH100


class ModuleCode(Protocol):
    """What a hook does with the modules that it is for."""

    def code(self, fullname: str, source: bytes, file: str) -> CodeType | None:
        """The code that a module runs; ``file`` is what tracebacks name. None: its own, as Python compiles it.

        Raises:
            SyntaxError: the module is no Python.
            ConversionError: it cannot be converted safely.
            ValueError: a table or a release specifier is wrong.
        """

    def forget(self) -> None:
        """Look at all files anew: some have changed, or a fork has cut short what a thread was doing."""
