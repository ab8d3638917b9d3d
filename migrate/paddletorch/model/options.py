"""What a run is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Framework = Literal["torch", "paddle"]

PACKAGES: dict[Framework, tuple[str, ...]] = {"torch": ("torch", "torchvision"), "paddle": ("paddle",)}
"""The packages whose names count as the framework's."""
"""A framework by its import root."""

ShimMode = Literal["never", "auto", "always"]

InitialValues = Literal["target", "source"]
"""Whose default initial values a layer gets: those of the framework that it is converted to, or from."""

MAX_FILE_SIZE = 16_000_000
"""Bytes of the largest file that is converted, if nothing else is said."""

MAX_FILE_SECONDS = 60.0
"""CPU seconds that one file may take, if nothing else is said."""


@dataclass(frozen=True, slots=True)
class Options:
    """What one run was asked to do; picklable, so that workers get the same.

    ``source_version`` / ``target_version`` are release specifiers as typed (``"3.3"``, ``">=2.6,<3"``,
    ``"installed"``) or None for "no release given".
    """

    target: Framework
    source_version: str | None = None
    target_version: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    unsafe: bool = False
    annotate: bool = False
    verify: bool = False
    """Convert each result again, and leave the files that a second run would change."""
    shim: ShimMode = "never"
    initial_values: InitialValues = "target"
    tables: tuple[str, ...] = ()
    project_files: bool = False
    """Also change what stands outside Python: requirements and the commands of scripts."""
    max_file_size: int = MAX_FILE_SIZE
    """In bytes; 0: no limit."""
    max_file_seconds: float = MAX_FILE_SECONDS
    """In CPU seconds; 0: no limit."""

    @property
    def source(self) -> Framework:
        """The framework that the code is written for."""
        return "torch" if self.target == "paddle" else "paddle"

    def wants(self, code: str) -> bool:
        """Whether ``code`` is selected and not ignored."""
        return (not self.select or code.startswith(self.select)) and not code.startswith(self.ignore)
