"""What was found in a project file: a requirement, a command or an image of the source framework."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

REQUIREMENT = "PRJ201"
COMMAND = "PRJ202"
CPU_BUILD = "PRJ203"
ENVIRONMENT = "PRJ204"


class Replaced(NamedTuple):
    """``text`` in place of the characters from ``start`` to ``end``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that names the source framework, at characters ``start`` to ``end``."""

    start: int
    end: int
    code: str
    name: str
    """As it is written."""
    problem: str = ""
    """Why it is left; empty if it has an exact counterpart."""
    instead: str = ""
    """The way out."""
    edits: tuple[Replaced, ...] = ()
    replacement: str = ""
    """What is written for it."""
    also: tuple[str, ...] = ()
    """Codes of what is said of it where it is converted."""

    def left(self, problem: str, instead: str = "") -> Found:
        """The same, left as it is."""
        return replace(self, problem=problem, instead=instead, edits=(), replacement="", also=())

    def moved(self, by: int) -> Found:
        """The same in a text that begins ``by`` characters earlier."""
        edits = tuple(Replaced(edit.start + by, edit.end + by, edit.text) for edit in self.edits)
        return replace(self, start=self.start + by, end=self.end + by, edits=edits)
