"""What only a terminal gets: colours, the progress bar, rendered pages, Ctrl-C."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import FINDING, PLAIN, Tree

TO = ("convert", "--to", "paddle")


HELD = """
import os, time
from paddletorch.batch import pool, run
from paddletorch.engine.engine import Engine
real, done, run.POOL_FROM, pool._MOST, pool._LEAST = Engine.convert, [], 1, 1, 1
def convert(self, data, path, evidence=None, left=frozenset()):
    while done and not os.path.exists('../sent'): time.sleep(0.01)
    done.append(path)
    return real(self, data, path, evidence, left)
Engine.convert = convert
"""
"""Each process converts one file, and waits for the file ``sent`` before it goes on."""


def heard() -> None:
    """Let a process hear the signals that whoever runs the tests may ignore."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Terminal:
    """A run with a terminal as stderr, and as stdout too unless ``stdout`` says otherwise."""

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        patience: float = 1000,
        stdout: int | None = None,
        before: str = "",
        **environment: str,
    ):
        """``patience``: seconds until the progress bar shows; by default for ever. ``before``: code to run first."""
        script = (
            f"import paddletorch.batch.progress; paddletorch.batch.progress._PATIENCE = {patience}\n{before}"
            "from paddletorch.__main__ import main; main()"
        )
        clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            cwd=folder,
            stdout=theirs if stdout is None else stdout,
            stderr=theirs,
            env=clean | {"TERM": "xterm", "COLUMNS": "100"} | environment,
            preexec_fn=heard,
        )
        os.close(theirs)
        self.shown = b""

    def read(self, until: bytes | None = None) -> None:
        """Read on until ``until`` has been shown, or to the end."""
        while until is None or until not in self.shown:
            try:
                self.shown += os.read(self._ours, 65536)
            except OSError:  # how a terminal says that nobody writes to it any more
                os.close(self._ours)
                return

    def finish(self) -> tuple[int, bytes]:
        """The exit code and all that was shown."""
        self.read()
        return self.process.wait(), self.shown


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours(tree: Tree, folder: Path, environment: dict[str, str], coloured: bool) -> None:
    tree({"a.py": FINDING})
    code, shown = Terminal(folder, *TO, **environment).finish()
    assert code == 1
    assert b"AMP226" in shown
    assert (b"\x1b[" in shown) == coloured


def test_short_run_shows_no_bar(tree: Tree, folder: Path) -> None:
    tree({"a.py": PLAIN})
    _, shown = Terminal(folder, *TO).finish()
    assert b"Converting" not in shown


@pytest.mark.parametrize(("extra", "expected"), [((), True), (("--quiet",), False)])
def test_long_run_shows_a_bar_and_takes_it_away(
    tree: Tree, folder: Path, extra: tuple[str, ...], expected: bool
) -> None:
    tree({f"f{n}.py": PLAIN for n in range(3)})
    code, shown = Terminal(folder, *TO, "--write", *extra, patience=0).finish()
    assert code == 0
    assert (b"Converting" in shown) == expected
    assert not expected or b"3 files scanned: 3 with uses, 3 converted." in shown


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interruption_changes_nothing(tree: Tree, folder: Path, number: signal.Signals, code: int, jobs: str) -> None:
    tree({f"f{n}.py": PLAIN for n in range(20)})
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    command = (*TO, "--write", "--no-cache", "--jobs", jobs)
    terminal = Terminal(folder, *command, patience=0, stdout=subprocess.DEVNULL, before=HELD)
    terminal.read(until=b"Converting")
    terminal.process.send_signal(number)
    (folder.parent / "sent").touch()
    assert terminal.finish()[0] == code
    assert b"Traceback" not in terminal.shown
    assert b"Error: interrupted; no file was changed" in terminal.shown
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_explain_is_rendered(folder: Path) -> None:
    code, shown = Terminal(folder, "explain", "AMP101").finish()
    assert code == 0
    assert b"AMP101" in shown
    assert b"\x1b[" in shown
    assert b"\n# " not in shown


def test_a_page_is_not_printed_on_a_terminal(tree: Tree, folder: Path) -> None:
    tree({"a.py": PLAIN})
    code, shown = Terminal(folder, *TO, "--format", "html").finish()
    assert code == 2
    assert b"--report FILE.html" in shown and b"<html" not in shown
