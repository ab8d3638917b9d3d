"""Ctrl-C and the other requests to stop: as exceptions, and not in the middle of a step that must be whole."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_STOP = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end a process; SIGHUP comes when the terminal is closed."""


class Terminated(KeyboardInterrupt):
    """A signal other than Ctrl-C; handled like it, so that what was begun is finished or undone."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def exit_code(stop: KeyboardInterrupt) -> int:
    """The shell's code for a process that a signal ended: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + (stop.number if isinstance(stop, Terminated) else signal.SIGINT)


@contextmanager
def signals_as_exceptions() -> Iterator[None]:
    """Turn the signals into exceptions, except those that are ignored, as SIGHUP is below nohup."""
    taken = [number for number in _STOP if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def signals_end_at_once() -> Iterator[None]:
    """Let Ctrl-C and the signals end the process where it is: for what has nothing to finish, and waits in threads."""
    taken = [number for number in (signal.SIGINT, *_STOP) if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _end) for number in taken}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Deliver Ctrl-C and the like only when the block is done."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_STOP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    os._exit(128 + number)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated(number)
