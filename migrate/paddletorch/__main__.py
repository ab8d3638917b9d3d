"""The entry point: runs the command line and turns every way it can end into an exit code."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
TERMINATED = 143


def main() -> NoReturn:
    """Run ``paddletorch`` with ``sys.argv``; exits 0, 1 or 2 as documented, 130 after Ctrl-C."""
    gc.set_threshold(200_000, 20, 50)  # syntax trees are many small objects that live as long as their file
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character that the terminal cannot show must not end the run
            stream.reconfigure(errors="backslashreplace")
    try:
        signal.signal(signal.SIGTERM, _terminate)
        import click

        from paddletorch.cli import cli

        try:
            code = cli.main(standalone_mode=False, prog_name="paddletorch")
            sys.stdout.flush()
        except click.Abort:  # click's word for Ctrl-C
            raise KeyboardInterrupt from None
        except click.ClickException as error:
            error.show()
            code = max(error.exit_code, 2)  # click says 1 for a file that cannot be opened; 1 means findings
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        code = INTERRUPTED
    except Exception as error:
        if os.environ.get("PADDLETORCH_DEBUG"):
            raise
        print(f"paddletorch: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        print("PADDLETORCH_DEBUG=1 shows where it happened; please report it.", file=sys.stderr)
        code = 2
    sys.exit(code)


def _terminate(signum: int, frame: FrameType | None) -> NoReturn:
    sys.exit(TERMINATED)  # as an exception, so that temporary files are removed


if __name__ == "__main__":
    main()
