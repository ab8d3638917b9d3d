"""What the gate finds wrong, and which edits it wants left out."""

from __future__ import annotations

from typing import NamedTuple


class Violation(NamedTuple):
    """A broken promise: ``lines`` of the source are to be left as they are; if there are none, the whole file is."""

    code: str
    """The diagnostic of the lines that are left."""
    problem: str
    """The reason, for that diagnostic's message."""
    lines: frozenset[int] = frozenset()
    line: int = 0
    """The only line of the diagnostic; 0 for the first of each run of ``lines``."""
