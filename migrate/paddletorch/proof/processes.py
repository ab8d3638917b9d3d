"""Runs an example in two processes, as a launcher of the framework would start them."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paddletorch.model import Framework
from paddletorch.proof.compare import as_array, is_tensor

_COUNT = 2
_SECONDS = 60
"""A process that waits longer for the other one is ended."""
_POLL = 0.01
"""Seconds between two looks at what the processes have written."""


def in_two_processes(framework: Framework, run: Callable[[], Any]) -> list[Any]:
    """What ``run`` gives in each of two forked processes, by rank; tensors come as arrays.

    Raises:
        RuntimeError: a process failed, with what it said.
    """
    ports = _free_ports(_COUNT + 1)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, str(rank)) for rank in range(_COUNT)]
        end = os.pipe()
        children = {_start(framework, rank, ports, run, path, end): path for rank, path in enumerate(paths)}
        os.close(end[0])
        living = _wait_for_results(children)
        os.close(end[1])
        for child in living:
            os.waitpid(child, 0)
        found = [path.read_bytes() if path.exists() else b"" for path in paths]
    results = [pickle.loads(each) if each else ("no result", None) for each in found]
    for rank, (error, _) in enumerate(results):
        if error:
            raise RuntimeError(f"process {rank}: {error}")
    return [value for _, value in results]


def _wait_for_results(children: Mapping[int, Path]) -> list[int]:
    """Wait until each process has written its result or ended without one; gives those that live."""
    living = list(children)
    while not all(children[child].exists() for child in living):
        living = [child for child in living if not os.waitpid(child, os.WNOHANG)[0]]
        time.sleep(_POLL)
    return living


def _start(
    framework: Framework, rank: int, ports: Sequence[int], run: Callable[[], Any], path: Path, end: tuple[int, int]
) -> int:
    """Fork a process that writes an error or nothing, and its result, to ``path``; gives its number.

    It lives until the writing side of the pipe ``end`` is closed: the first process serves the store through which all
    find each other, and the others would be cut off if it ended when its own part is done.
    """
    child = os.fork()
    if child:
        return child
    os.close(end[1])
    signal.alarm(_SECONDS)
    os.environ.update(_environment(framework, rank, ports))
    try:
        outcome = ("", _plain(run()))
    except Exception:
        outcome = (traceback.format_exc(limit=-3), None)
    partial = path.with_suffix(".part")
    partial.write_bytes(pickle.dumps(outcome))
    partial.rename(path)
    os.read(end[0], 1)
    os._exit(0)  # without what the parent registered for its own end


def _environment(framework: Framework, rank: int, ports: Sequence[int]) -> dict[str, str]:
    """What the framework's launcher sets for a process."""
    if framework == "torch":
        own = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(_COUNT)}
        return own | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(ports[0]), "TORCHELASTIC_RUN_ID": "proof"}
    ends = [f"127.0.0.1:{port}" for port in ports[1:]]
    own = {"PADDLE_TRAINER_ID": str(rank), "PADDLE_TRAINERS_NUM": str(_COUNT), "PADDLE_DISTRI_BACKEND": "gloo"}
    own |= {"PADDLE_TRAINER_ENDPOINTS": ",".join(ends), "PADDLE_CURRENT_ENDPOINT": ends[rank]}
    return own | {"PADDLE_MASTER": f"127.0.0.1:{ports[0]}"}


def _free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _plain(value: Any) -> Any:
    if is_tensor(value):
        return as_array(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value
