"""How much CPU time the conversion of one file may take.

The conversion asks, again and again, whether its time is over: that works in any thread, with any number of files
at once and on every system, which a timer that interrupts the process does not.
"""

from __future__ import annotations

import time
from typing import Final

_clock = time.thread_time if hasattr(time, "thread_time") else time.process_time

_EVERY = 64
"""Questions between two looks at the clock."""


class OutOfTime(Exception):
    """The conversion of one file has taken longer than it may."""


class TimeLimit:
    """The CPU seconds of this thread that are left for one file."""

    def __init__(self, seconds: float = 0.0) -> None:
        """``seconds``: from now on; 0: no limit."""
        self._end: Final = _clock() + seconds if seconds > 0 else None
        self._questions = 0

    def check(self) -> None:
        """Go on, if there is time left.

        Raises:
            OutOfTime: there is none.
        """
        if self._end is None:
            return
        self._questions += 1
        if self._questions % _EVERY == 1 and _clock() > self._end:
            raise OutOfTime
