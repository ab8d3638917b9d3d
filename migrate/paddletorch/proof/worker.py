"""Runs proofs in a process of their own, which is replaced when a row brings it down."""

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
from multiprocessing.connection import Connection
from pathlib import Path

from paddletorch_rules import Row, load

from paddletorch.proof.proof import Failure, Proof, Verdict, prove

SECONDS = 120.0
"""How long one row may take."""


class Prover:
    """Proves rows in a worker process that lives as long as the context, or until a row brings it down.

    Args:
        tables: the user's table files that the rows were loaded with.
        seconds: how long one row may take.
    """

    def __init__(self, tables: tuple[str, ...] = (), seconds: float = SECONDS) -> None:
        self._tables, self._seconds = tables, seconds
        self._worker: _Worker | None = None

    def __enter__(self) -> Prover:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._worker is not None:
            self._worker.stop()

    def prove(self, row: Row) -> Proof:
        """The proof of ``row``; failing if it ends the process or takes too long."""
        if self._worker is None:
            self._worker = _Worker(self._tables)
        proof = self._worker.prove(row, self._seconds)
        if proof is not None:
            return proof
        message = self._worker.stop() or f"took longer than {self._seconds:.0f} seconds"
        self._worker = None
        failure = Failure("run", message, "\n".join((*row.examples, *row.paddle_examples)))
        return Proof(row.id, row.code, row.file, Verdict.FAILING, message, (), failure)


class _Worker:
    """The parent's side of a worker process."""

    def __init__(self, tables: tuple[str, ...]) -> None:
        # spawn: the parent may hold a framework with threads (as tests do), which a fork does not survive
        context = multiprocessing.get_context("spawn")
        self._folder = tempfile.TemporaryDirectory()
        self._log = Path(self._folder.name) / "stderr"
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, tables, str(self._log)), daemon=True)
        self._process.start()
        theirs.close()
        with contextlib.suppress(EOFError):  # if it ends here already, the first row tells
            self._pipe.recv()

    def prove(self, row: Row, seconds: float) -> Proof | None:
        """The proof of one row, or None if the process ended or took too long."""
        try:
            self._pipe.send(row.id)
            if not self._pipe.poll(seconds):
                return None
            proof: Proof = self._pipe.recv()
        except (EOFError, OSError):
            return None
        return proof

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


def _serve(pipe: Connection, tables: tuple[str, ...], log: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    os.environ.update(OMP_NUM_THREADS="1", GLOG_minloglevel="2", CUDA_VISIBLE_DEVICES="")
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(output, stream)
    faulthandler.enable(output)
    warnings.simplefilter("ignore")
    rows = {row.id: row for row in reversed(load(tables).rows)}
    for framework in ("torch", "paddle"):
        importlib.import_module(framework)
    pipe.send("ready")
    while True:
        try:
            row_id = pipe.recv()
        except EOFError:
            return
        pipe.send(_proof(rows[row_id], tables))


def _proof(row: Row, tables: tuple[str, ...]) -> Proof:
    try:
        return prove(row, tables)
    except Exception:
        message = traceback.format_exc(limit=-3)
        failure = Failure("prove", message, "\n".join((*row.examples, *row.paddle_examples)))
        return Proof(row.id, row.code, row.file, Verdict.FAILING, message, (), failure)
