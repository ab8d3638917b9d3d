"""``--watch``: a process that converts what is changed, not what it wrote itself, and ends cleanly."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, Queue

import pytest

from .conftest import FINDING, PLAIN, Run

SECONDS = 60
"""How long a test waits for a line before it fails."""


class Watching:
    """A ``paddletorch convert --watch``, and what it prints."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "paddletorch", "convert", "--to", "paddle", "--watch", *arguments]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
        )
        self.seen: list[str] = []
        self._lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def until(self, wanted: str) -> str:
        """The next line that holds the words."""
        while True:
            try:
                line = self._lines.get(timeout=SECONDS)
            except Empty:
                pytest.fail(f"{wanted!r} did not come: {self.seen}")
            self.seen.append(line)
            if wanted in line:
                return line

    def stop(self, number: int = signal.SIGINT) -> int:
        """Its exit code after the signal; all that it printed is then seen."""
        self.process.send_signal(number)
        code = self.process.wait(SECONDS)
        while True:
            try:
                self.seen.append(self._lines.get(timeout=0.5))
            except Empty:
                return code


@pytest.fixture
def watching(folder: Path) -> Iterator[Callable[..., Watching]]:
    started: list[Watching] = []

    def start(*arguments: str) -> Watching:
        started.append(Watching(folder, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")


def test_a_changed_file_is_converted_and_what_was_written_is_no_change(
    watching: Callable[..., Watching], folder: Path
) -> None:
    (folder / "a.py").write_text(PLAIN)
    run = watching("--write", ".")
    run.until("Watching .")
    assert "paddle.amp.GradScaler" in (folder / "a.py").read_text()
    (folder / "b.py").write_text(PLAIN)
    run.until("Changed: b.py")
    run.until("Watching")
    (folder / "a.py").write_text(PLAIN)  # as it was first: another text than the one that was written
    run.until("Changed: a.py")
    run.until("Watching")
    assert run.stop() == 0
    changes = [line for line in run.seen if line.startswith("Changed")]
    assert changes == ["Changed: b.py", "Changed: a.py"], "it took its own writing for a change"
    assert "paddle.amp.GradScaler" in (folder / "b.py").read_text()


def test_it_ends_with_the_code_of_the_last_run(watching: Callable[..., Watching], folder: Path) -> None:
    (folder / "a.py").write_text(FINDING)
    run = watching("a.py")
    run.until("Watching a.py")
    assert run.stop() == 1
    assert not any("Traceback" in line or "Interrupted" in line for line in run.seen)


def test_a_file_that_is_replaced_is_seen_and_its_neighbour_is_not(
    watching: Callable[..., Watching], folder: Path
) -> None:
    (folder / "a.py").write_text(PLAIN)
    run = watching("--diff", "a.py")
    run.until("Watching a.py")
    (folder / "b.py").write_text(PLAIN)
    (folder / "new").write_text(FINDING)
    (folder / "new").replace(folder / "a.py")
    assert run.until("Changed") == "Changed: a.py"
    run.until("+scaler = paddle.amp.GradScaler(")
    run.until("Watching")
    assert run.stop() == 1


def test_settings_that_are_half_written_wait_for_the_next_change(
    watching: Callable[..., Watching], folder: Path
) -> None:
    (folder / "a.py").write_text(PLAIN)
    run = watching(".")
    run.until("Watching .")
    (folder / "paddletorch.toml").write_text("select = [")
    run.until("not valid TOML")
    (folder / "paddletorch.toml").write_text('select = ["TEN"]\n')
    run.until("Changed: paddletorch.toml")
    run.until("Watching")
    assert run.stop() == 0


def test_what_is_done_once_is_not_watched(paddletorch: Run) -> None:
    for arguments in (["-"], ["--output", "out", "."], ["--write-baseline", "--baseline", "b.json", "."]):
        result = paddletorch("convert", "--to", "paddle", "--watch", *arguments, stdin=b"")
        assert result.returncode == 2 and b"--watch" in result.stderr


def test_without_watchfiles_it_says_what_to_install(paddletorch: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    result = paddletorch("convert", "--to", "paddle", "--watch", ".")
    assert result.returncode == 2 and b"pip install 'paddletorch[watch]'" in result.stderr
