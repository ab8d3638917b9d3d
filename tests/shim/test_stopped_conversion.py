"""``paddletorch state convert`` that is killed, stopped, or out of space: OUT is there whole, or it is not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from paddletorch_shim import checkpoints
from paddletorch_shim.limits import Limits

from ..full_disk import files_up_to

STATE = {"scale": 8.0, "growth_factor": 3.0, "backoff_factor": 0.25, "growth_interval": 7, "_growth_tracker": 5}

STOPPED_AT = """
import os, signal, sys
real = os.{step}
def stop(*arguments):
    os.kill(os.getpid(), signal.{name})
    return real(*arguments)
os.{step} = stop
sys.argv[1:] = ["state", "convert", "in.pt", "out", "--to", "paddle", *sys.argv[1:]]
from paddletorch.__main__ import main; main()
"""
"""The signal comes before a step of the writing."""


def convert(
    folder: Path, *arguments: str, script: str | None = None, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    command = ["-m", "paddletorch", "state", "convert", "in.pt", "out", "--to", "paddle"]
    command = command if script is None else ["-c", script]

    def prepare() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # whoever runs the tests may ignore them
            signal.signal(number, signal.SIG_DFL)
        if before is not None:
            before()

    return subprocess.run(
        [sys.executable, *command, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        preexec_fn=prepare,
        check=False,
    )


@pytest.fixture(params=["a scaler's state", "weights"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """The checkpoint ``in.pt``, and the arguments that its conversion needs."""
    if request.param == "weights":
        torch.save({"conv.weight": torch.ones(2, 2, 3, 3)}, tmp_path / "in.pt")
        return ["--keep", "*"]
    torch.save(STATE, tmp_path / "in.pt")
    return []


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
@pytest.mark.parametrize("step", ["fdopen", "fsync", "link"])
def test_stopped_while_it_writes(source: list[str], tmp_path: Path, name: str, step: str) -> None:
    stopped = convert(tmp_path, *source, script=STOPPED_AT.format(step=step, name=name))
    number = signal.Signals[name]
    assert stopped.returncode == (-number if number is signal.SIGKILL else 128 + number), stopped.stderr
    assert not (tmp_path / "out").exists()
    assert len(names_in(tmp_path)) == (2 if number is signal.SIGKILL else 1)
    again = convert(tmp_path, *source)
    assert again.returncode == 0, again.stderr
    assert names_in(tmp_path) == ["in.pt", "out"]
    checkpoints.load(tmp_path / "out", Limits())


def test_no_space_for_it(source: list[str], tmp_path: Path) -> None:
    done = convert(tmp_path, *source, before=files_up_to(50))
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert names_in(tmp_path) == ["in.pt"]


@pytest.mark.parametrize("links", [True, False], ids=["with hard links", "without hard links"])
def test_what_appears_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    """Also where the file system has no hard links, as those of USB sticks."""

    def link(temporary: Path, target: Path) -> None:
        target.write_text("precious")
        if not links:
            raise PermissionError
        real(temporary, target)

    def refused(temporary: Path, target: Path) -> None:
        raise PermissionError

    real = os.link
    monkeypatch.setattr(os, "link", link)
    with pytest.raises(checkpoints.CheckpointError, match="exists"):
        checkpoints.write(tmp_path / "out", b"new")
    assert names_in(tmp_path) == ["out"] and (tmp_path / "out").read_text() == "precious"
    if not links:
        monkeypatch.setattr(os, "link", refused)
        checkpoints.write(tmp_path / "other", b"new")
        assert names_in(tmp_path) == ["other", "out"] and (tmp_path / "other").read_bytes() == b"new"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="nothing here tells of other processes")
def test_a_killed_conversion_leaves_no_process(tmp_path: Path) -> None:
    """The target's model is made in a process of its own, which waits for work."""
    torch.save({"conv.weight": torch.ones(2, 2, 3, 3)}, tmp_path / "in.pt")
    code = "import os, pathlib, time\npathlib.Path('pid').write_text(str(os.getpid()))\ntime.sleep(300)\n"
    (tmp_path / "slow.py").write_text(code)
    command = [sys.executable, "-m", "paddletorch", "state", "convert", "in.pt", "out", "--to", "paddle"]
    with subprocess.Popen(
        [*command, "--target-model", "slow:Net"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
        pid = int((tmp_path / "pid").read_text())
        assert is_running(pid)
        process.kill()
    wait_until(lambda: not is_running(pid))
    assert not (tmp_path / "out").exists()


def wait_until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended may wait for an init that collects it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
