"""The entry point: runs the command line and turns every way it can end into an exit code."""

from __future__ import annotations

import errno
import gc
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from paddletorch.model.interrupts import exit_code, signals_as_exceptions

_FULL = frozenset(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG", "EIO") if hasattr(errno, name))
"""What writing to a disk that is full or gone fails with, also where stdout goes there."""


def main() -> NoReturn:
    """Run ``paddletorch`` with ``sys.argv``; exits 0, 1 or 2 as documented, 130 after Ctrl-C.

    After ``paddletorch run``, the process is the program's.
    """
    with process_settings():
        outcome = _command_line()
        if not callable(outcome) and not sys.modules.keys() & {"torch", "paddle"}:  # their bindings call it a leak
            gc.freeze()  # or Python looks through tables and syntax trees now and at the end, only to free them
    if callable(outcome):
        outcome()  # out here, where what the program raises is its own
    sys.exit(outcome)


def _command_line() -> int | Callable[[], NoReturn] | None:
    """An exit code, or the program that is to be run."""
    try:
        import click

        from paddletorch.cli.main import cli

        try:
            outcome: int | Callable[[], NoReturn] | None = cli.main(standalone_mode=False, prog_name="paddletorch")
            if sys.stdout is not None and not sys.stdout.closed:  # a language server's is closed at its end
                sys.stdout.flush()
        except click.Abort as abort:  # click's word for Ctrl-C
            raise abort.__cause__ or KeyboardInterrupt from None
        except click.ClickException as error:
            error.show()
            outcome = max(error.exit_code, 2)  # click says 1 for a file that cannot be opened; 1 means findings
    except KeyboardInterrupt as stop:
        _say("Interrupted.")
        outcome = exit_code(stop)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            _say(f"paddletorch: what was to be printed cannot be written: {error.strerror}")
            return 2
        if os.environ.get("PADDLETORCH_DEBUG"):
            raise
        message = str(error).encode("unicode_escape").decode()  # it may quote a file's name
        _say(f"paddletorch: internal error: {type(error).__name__}: {message}")
        _say("PADDLETORCH_DEBUG=1 shows where it happened; please report it.")
        outcome = 2
    return outcome


def _say(line: str) -> None:
    with suppress(OSError):  # stderr may be full too
        print(line, file=sys.stderr)


@contextmanager
def process_settings() -> Iterator[None]:
    """How a command wants the process to be; a program that is run after it finds it as Python made it."""
    _fill_closed_descriptors()
    threshold = gc.get_threshold()
    gc.set_threshold(1_000_000, 20, 50)  # syntax trees live as long as their file, and leave hardly any cycles
    streams = [s for s in (sys.stdout, sys.stderr) if hasattr(s, "reconfigure")]
    errors = [stream.errors for stream in streams]
    for stream in streams:  # a character that the terminal cannot show must not end the run
        stream.reconfigure(errors="backslashreplace")
    try:
        with signals_as_exceptions(), warnings.catch_warnings():
            for category in (SyntaxWarning, DeprecationWarning):  # what Python thinks of the code that is converted
                warnings.simplefilter("ignore", category)
            yield
    finally:
        gc.set_threshold(*threshold)
        for stream, before in zip(streams, errors, strict=True):
            if not stream.closed:
                stream.reconfigure(errors=before)


def _fill_closed_descriptors() -> None:
    """Keep the numbers 0 to 2 from files that are opened later: what is printed would go into them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    main()
