"""Answers questions about rows in a process of its own, which is replaced when a row brings it down."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import multiprocessing
import os
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from paddletorch_rules import Row, load

from paddletorch.proof.proof import Failure, Proof, Verdict, prove

SECONDS = 120.0
"""How long one row may take."""

_Answer = TypeVar("_Answer")


class Ended(NamedTuple):
    """What is known of a process that ended, or took too long, instead of answering."""

    message: str


class Replaced(Generic[_Answer]):
    """Asks about rows in a process that lives as long as the context, or until a row brings it down.

    Args:
        prepare: a function of a module that gives the function which answers for a row's id; the process calls it once.
        given: what ``prepare`` gets.
        seconds: how long one row may take.
    """

    def __init__(self, prepare: Callable[..., Callable[[str], _Answer]], *given: Any, seconds: float = SECONDS) -> None:
        self._prepare, self._given, self._seconds = prepare, given, seconds
        self._worker: _Worker | None = None

    def __enter__(self) -> Replaced[_Answer]:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._worker is not None:
            self._worker.stop()

    def ask(self, row_id: str) -> _Answer | Ended:
        """The answer for a row; how the process ended if it gives none."""
        if self._worker is None:
            self._worker = _Worker(self._prepare, self._given)
        answered, answer = self._worker.ask(row_id, self._seconds)
        if answered:
            found: _Answer = answer
            return found
        message = self._worker.stop() or f"took longer than {self._seconds:.0f} seconds"
        self._worker = None
        return Ended(message)


class Prover:
    """Proves rows in such a process.

    Args:
        tables: the user's table files that the rows were loaded with.
        seconds: how long one row may take.
    """

    def __init__(self, tables: tuple[str, ...] = (), seconds: float = SECONDS) -> None:
        self._process = Replaced(_proofs, tables, seconds=seconds)

    def __enter__(self) -> Prover:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.__exit__(*exception)

    def prove(self, row: Row) -> Proof:
        """The proof of ``row``; failing if it ends the process or takes too long."""
        found = self._process.ask(row.id)
        if not isinstance(found, Ended):
            return found
        failure = Failure("run", found.message, "\n".join((*row.examples, *row.paddle_examples)))
        return Proof(row.id, row.code, row.file, Verdict.FAILING, found.message, (), failure)


class _Worker:
    """The parent's side of a worker process."""

    def __init__(self, prepare: Callable[..., Callable[[str], Any]], given: tuple[Any, ...]) -> None:
        # spawn: the parent may hold a framework with threads (as tests do), which a fork does not survive
        context = multiprocessing.get_context("spawn")
        self._folder = tempfile.TemporaryDirectory()
        self._log = Path(self._folder.name) / "stderr"
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, prepare, given, str(self._log)), daemon=True)
        self._process.start()
        theirs.close()
        with contextlib.suppress(EOFError):  # if it ends here already, the first row tells
            self._pipe.recv()

    def ask(self, row_id: str, seconds: float) -> tuple[bool, Any]:
        """Whether there is an answer for the row, and the answer: the process may end or take too long."""
        try:
            self._pipe.send(row_id)
            if not self._pipe.poll(seconds):
                return False, None
            return True, self._pipe.recv()
        except (EOFError, OSError):
            return False, None

    def stop(self) -> str:
        """End the process; says how it had ended by itself, or nothing."""
        self._pipe.close()  # which an idle process takes as its end
        self._process.join(1)
        code = self._process.exitcode
        if code is None:
            self._process.kill()
            self._process.join()
        lines = self._log.read_text(errors="replace").splitlines()[-15:] if self._log.exists() else []
        self._folder.cleanup()
        if code is None:
            return ""
        ending = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return "\n".join([f"the process ended with {ending}", *lines])


def _serve(pipe: Connection, prepare: Callable[..., Callable[[str], Any]], given: tuple[Any, ...], log: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    os.environ.update(OMP_NUM_THREADS="1", GLOG_minloglevel="2", CUDA_VISIBLE_DEVICES="")
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(output, stream)
    faulthandler.enable(output)
    warnings.simplefilter("ignore")
    answer = prepare(*given)
    for framework in ("torch", "paddle"):
        importlib.import_module(framework)
    pipe.send("ready")
    while True:
        try:
            row_id = pipe.recv()
        except EOFError:
            return
        pipe.send(answer(row_id))


def _proofs(tables: tuple[str, ...]) -> Callable[[str], Proof]:
    rows = {row.id: row for row in reversed(load(tables).rows)}
    return lambda row_id: _proof(rows[row_id], tables)


def _proof(row: Row, tables: tuple[str, ...]) -> Proof:
    try:
        return prove(row, tables)
    except Exception:
        message = traceback.format_exc(limit=-3)
        failure = Failure("prove", message, "\n".join((*row.examples, *row.paddle_examples)))
        return Proof(row.id, row.code, row.file, Verdict.FAILING, message, (), failure)
