"""``--watch``: a process that converts what is changed, not what it wrote itself, and ends cleanly."""

from __future__ import annotations

import os
import shutil
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


def _with_usual_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):  # whoever runs the tests may ignore them
        signal.signal(number, signal.SIG_DFL)


class Watching:
    """A ``paddletorch convert --watch``, and what it prints."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "paddletorch", "convert", "--to", "paddle", "--watch", *arguments]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            preexec_fn=_with_usual_signals if hasattr(signal, "SIGHUP") else None,
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


def test_a_pipe_in_place_of_what_it_wrote_does_not_stop_it(watching: Callable[..., Watching], folder: Path) -> None:
    (folder / "a.py").write_text(PLAIN)
    run = watching("--write", ".")
    run.until("Watching .")
    (folder / "a.py").unlink()
    os.mkfifo(folder / "a.py")
    run.until("Changed: a.py")
    run.until("Watching")
    (folder / "b.py").write_text(PLAIN)
    run.until("Changed: b.py")
    run.until("Watching")
    assert "paddle.amp.GradScaler" in (folder / "b.py").read_text()
    assert run.stop() == 2  # of the pipe


def test_a_cache_that_is_spoilt_or_goes_does_not_stop_it(
    watching: Callable[..., Watching], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = folder.parent / "cache"
    monkeypatch.setenv("PADDLETORCH_CACHE_DIR", str(cache))
    (folder / "a.py").write_text(PLAIN)
    run = watching("--write", ".")
    run.until("Watching .")
    for file in cache.iterdir():
        file.write_bytes(b"spoilt" * 1000)
    (folder / "b.py").write_text(PLAIN)
    run.until("Changed: b.py")
    run.until("Watching")
    shutil.rmtree(cache)
    (folder / "c.py").write_text(PLAIN)
    run.until("Changed: c.py")
    run.until("Watching")
    assert all("paddle.amp.GradScaler" in (folder / name).read_text() for name in ("a.py", "b.py", "c.py"))
    assert run.stop() == 0


@pytest.mark.parametrize("again", [True, False])
def test_a_folder_that_goes_ends_it_with_a_word(watching: Callable[..., Watching], folder: Path, again: bool) -> None:
    """Of another one under its name nothing would be heard."""
    (folder / "src").mkdir()
    (folder / "src" / "a.py").write_text(PLAIN)
    run = watching("--write", "src")
    run.until("Watching src")
    (folder / "src").rename(folder / "elsewhere")
    if again:
        (folder / "src").mkdir()
    run.until("src was removed or replaced, and is no longer watched: start again")
    assert run.process.wait(SECONDS) == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_requests_to_end(watching: Callable[..., Watching], folder: Path, number: signal.Signals) -> None:
    (folder / "a.py").write_text(PLAIN)
    run = watching("--write", ".")
    run.until("Watching .")
    assert run.stop(number) == 0
    assert not any("Traceback" in line for line in run.seen)


def test_what_is_done_once_is_not_watched(paddletorch: Run) -> None:
    for arguments in (["-"], ["--output", "out", "."], ["--write-baseline", "--baseline", "b.json", "."]):
        result = paddletorch("convert", "--to", "paddle", "--watch", *arguments, stdin=b"")
        assert result.returncode == 2 and b"--watch" in result.stderr


def test_without_watchfiles_it_says_what_to_install(paddletorch: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    result = paddletorch("convert", "--to", "paddle", "--watch", ".")
    assert result.returncode == 2 and b"pip install 'paddletorch[watch]'" in result.stderr
