"""A Python process that is given one job and answers with JSON lines."""

from __future__ import annotations

import json
import os
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import IO, Any

_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "GLOG_minloglevel": "2", "FLAGS_use_mkldnn": "0", "PYTHONUNBUFFERED": "1"}
"""One thread and no GPU: what is compared shall not depend on them, and a process with threads cannot be forked."""
_UNWATCHED = -1
"""In place of a descriptor: the child's parent cannot be watched."""
_LOOK = 0.5
"""Seconds between two looks at whether there is anything left to end."""
_SHOWN, _READ = 15, 20_000
"""Lines that are told of what a process printed last, and the bytes that they are looked for in."""


class Child:
    """A process that runs ``main`` of a module; what it prints is kept apart from its answers.

    Args:
        module: of this package; its ``main`` takes the job and a function that sends an answer.
        job: what it shall do: JSON.
    """

    def __init__(self, module: str, job: Mapping[str, Any]) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop
        watched, self._alive = os.pipe()  # its other end is this process's alone, and closes with it
        number = watched if os.name != "nt" else _UNWATCHED
        start = f"from paddletorch.children.child import serve; serve({module!r}, {number})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**_ENVIRONMENT, **os.environ, "CUDA_VISIBLE_DEVICES": ""},
            start_new_session=os.name != "nt",  # so that what it starts can be ended with it
            pass_fds=(watched,) if os.name != "nt" else (),
        )
        os.close(watched)
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(job).encode())
            self._process.stdin.close()
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=_read, args=(self._process.stdout, self._answers), daemon=True).start()

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def answer(self, seconds: float) -> dict[str, Any] | None:
        """The next answer; None if the process has ended.

        Raises:
            TimeoutError: there is none after ``seconds``.
        """
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None

    def stop(self) -> str:
        """End it and all that it has started; says how it had ended, with the last lines that it printed."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        code = self._process.poll()
        if os.name != "nt":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        if self._log.closed:
            return ""
        os.close(self._alive)
        self._log.seek(max(self._log.seek(0, os.SEEK_END) - _READ, 0))
        printed = self._log.read().decode("utf-8", "replace").splitlines()[-_SHOWN:]
        self._log.close()
        return "\n".join([ending(code), *printed])


def ending(code: int | None) -> str:
    """How a process ended, in words."""
    if code is None:
        return "it was stopped"
    if code >= 0:
        return f"the process ended with exit code {code}"
    try:
        return f"the process was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"the process was ended by signal {-code}"


def _read(stream: IO[bytes], answers: queue.SimpleQueue[dict[str, Any] | None]) -> None:
    for line in stream:
        with suppress(ValueError):
            answers.put(json.loads(line))
    answers.put(None)


def _end_with_parent(watched: int) -> None:
    """End all of this session when the parent does, however it ends: the user's code may never end.

    A process of its own waits for that: one with threads could not be forked.
    """
    served = os.getpid()
    if os.fork():
        os.close(watched)
        return
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # whoever reads the answers waits until nobody can write any more
        os.dup2(null, stream)
    while not select.select([watched], [], [], _LOOK)[0]:
        if os.getppid() != served:
            os._exit(0)
    os.killpg(0, signal.SIGKILL)


def serve(module: str, watched: int) -> None:
    """The child's side: do the job on stdin. What code of the user's prints goes to stderr, which the parent keeps."""
    import importlib

    if watched != _UNWATCHED:
        _end_with_parent(watched)
    job = json.loads(sys.stdin.buffer.read())
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    sys.dont_write_bytecode = True
    sys.path[:] = [one for one in sys.path if one]  # the current folder is the job's to name

    def send(answer: Mapping[str, Any]) -> None:
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()

    importlib.import_module(module).main(job, send)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads that the code has started need no end of their own
