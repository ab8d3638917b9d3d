"""What a run is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Framework = Literal["torch", "paddle"]
"""A framework by its import root."""

ShimMode = Literal["never", "auto", "always"]


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
    shim: ShimMode = "never"
    tables: tuple[str, ...] = ()

    @property
    def source(self) -> Framework:
        """The framework that the code is written for."""
        return "torch" if self.target == "paddle" else "paddle"

    def wants(self, code: str) -> bool:
        """Whether ``code`` is selected and not ignored."""
        return (not self.select or code.startswith(self.select)) and not code.startswith(self.ignore)
