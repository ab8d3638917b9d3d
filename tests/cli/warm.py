"""Children of ``compare`` and ``try`` that are forked from a process that has imported their framework already.

A child has its own session, folder, environment and streams, as if it had been started. Its framework is the only one
that its parent has imported, so the other one can still be put out of reach.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

LATE = {"torch": ("torch._dynamo",), "paddle": ()}
"""What a framework imports itself when a program makes its first optimizer, which takes as long as the framework."""
OWN = ("paddletorch.comparison.one_side", "paddletorch.trial.imports", "paddletorch_shim.weights.models")
"""What the children import in any case; none of it imports a framework."""


class Server:
    """A process that has imported one framework, and forks children."""

    def __init__(self, framework: str, environment: Mapping[str, str]) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, __file__, framework, str(theirs.fileno())]
            quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
            self._process = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()], **quiet)

    def start(self, command: list[str], environment: Mapping[str, str], streams: list[int]) -> socket.socket:
        """Start ``python -c CODE`` with these streams; the socket tells the child's number, and how it ended."""
        ours, theirs = socket.socketpair()
        job = {"code": command[-1], "folder": str(Path.cwd()), "environment": dict(environment)}
        with theirs:
            message = json.dumps(job).encode()
            socket.send_fds(self._socket, [len(message).to_bytes(4, "big")], [*streams, theirs.fileno()])
            self._socket.sendall(message)
        return ours

    def stop(self) -> None:
        """End it; it has no more children."""
        self._socket.close()
        self._process.wait(20)


class Forked:
    """What ``subprocess.Popen`` gives, as far as ``Child`` uses it: it starts once its job is written."""

    def __init__(
        self, servers: dict[str, Server], command: list[str], *, stderr: IO[bytes], env: Mapping[str, str], **_: Any
    ) -> None:
        unwatched = [re.sub(r", \d+\)$", ", -1)", part) for part in command]  # the server is the parent, and stays
        self._servers, self._command, self._stderr, self._environment = servers, unwatched, stderr, env
        self._status: int | None = None
        self.stdin = _Job(self)
        reading, self._writing = os.pipe()
        self.stdout = os.fdopen(reading, "rb")
        self.pid = 0

    def start(self, job: bytes) -> None:
        """Fork the child from the server of the job's framework, and give it the job."""
        given = json.loads(job)
        framework = given["framework"] if "framework" in given else given["target"]
        if framework not in self._servers:
            self._servers[framework] = Server(framework, self._environment)
        reading, writing = os.pipe()
        streams = [reading, self._writing, self._stderr.fileno()]
        self._socket = self._servers[framework].start(self._command, self._environment, streams)
        os.close(reading)
        os.close(self._writing)
        self.pid = int.from_bytes(self._socket.recv(4), "big")
        with os.fdopen(writing, "wb") as given:
            given.write(job)

    def wait(self, timeout: float | None = None) -> int:
        """How it ended: its exit code, or the number of its signal below zero."""
        if self._status is None:
            self._socket.settimeout(timeout)
            try:
                told = self._socket.recv(4)
            except TimeoutError:
                raise subprocess.TimeoutExpired(self._command, timeout or 0) from None
            self._status = int.from_bytes(told, "big", signed=True)
            self._socket.close()
        return self._status

    def poll(self) -> int | None:
        """As ``wait``, or None if it has not ended."""
        try:
            return self.wait(0.001)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """``Child`` has ended the session."""


class _Job(io.BytesIO):
    def __init__(self, process: Forked) -> None:
        super().__init__()
        self._process = process

    def close(self) -> None:
        if not self.closed:
            job = self.getvalue()
            super().close()
            self._process.start(job)


def _serve(framework: str, requests: socket.socket) -> None:
    sys.path.pop(0)  # the folder of this file
    for module in (framework, *LATE[framework], *OWN):
        importlib.import_module(module)
    while True:
        head, streams, *_ = socket.recv_fds(requests, 4, 4)
        if not head:
            os._exit(0)  # a framework's own end takes its time
        size, message = int.from_bytes(head, "big"), b""
        while len(message) < size:
            message += requests.recv(size - len(message))
        if not os.fork():
            requests.close()
            _watch(json.loads(message), streams)
        for one in streams:
            os.close(one)
        while True:  # those that are done
            try:
                if not os.waitpid(-1, os.WNOHANG)[0]:
                    break
            except ChildProcessError:
                break


def _watch(job: dict[str, Any], streams: list[int]) -> None:
    """Start the child, and tell its number and how it ends."""
    told = socket.socket(fileno=streams.pop())
    child = os.fork()
    if child:
        for one in streams:
            os.close(one)
        _, status = os.waitpid(child, 0)
        told.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
        os._exit(0)
    os.setsid()
    told.sendall(os.getpid().to_bytes(4, "big"))
    told.close()
    for number, one in enumerate(streams):
        os.dup2(one, number)
        os.close(one)
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    code = 1
    try:
        exec(job["code"], {"__name__": "__main__"})
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))
