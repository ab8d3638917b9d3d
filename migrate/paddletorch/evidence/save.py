"""Adds what a process saw to the evidence of a project; any number of processes may do so at once."""

from __future__ import annotations

import errno
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

from paddletorch_rules.bounded import read_regular

from paddletorch.evidence.document import LARGEST, Document, EvidenceError, dump, evidence_file, parse
from paddletorch.model.options import Framework
from paddletorch.model.questions import Evidence, Question

if sys.platform != "win32":
    import fcntl

_LOCK = "lock"
_IGNORE = ".gitignore"
_PATIENCE = 5.0
"""Seconds to wait for another process that writes, which takes much less."""


class Busy(OSError):
    """Another process has been writing the evidence for too long; trying again later may do."""


def digest(data: bytes) -> str:
    """What stands for the bytes of a file."""
    return hashlib.sha256(data).hexdigest()


def read(root: Path) -> Document | None:
    """The evidence about the project in ``root``; None if there is none yet.

    Raises:
        EvidenceError: what is there is no evidence.
        OSError: it cannot be read.
    """
    try:
        return parse(read_regular(evidence_file(root), LARGEST))
    except FileNotFoundError:
        return None


def prepare(root: Path, framework: Framework, *, fresh: bool = False) -> None:
    """Make ready for a run on ``framework``: drop evidence about files that have changed, with ``fresh`` all of it.

    Raises:
        EvidenceError: what is there is no evidence, or is about runs on the other framework.
        OSError: the folder cannot be made or written.
    """
    folder = _own_folder(root)
    ignore = folder / _IGNORE
    with _locked(folder):
        if not os.path.lexists(ignore):
            _put(ignore, f"/{_LOCK}\n".encode())
        found = None if fresh else read(root)
        if found is not None and found.framework != framework:
            raise EvidenceError(f"it is about runs on {found.framework}, not {framework}")
        kept = {} if found is None else {p: e for p, e in found.files.items() if _digest_now(root, p) == e.digest}
        if found is None or kept != found.files:
            _write(root, Document(framework, kept))


def merge(root: Path, framework: Framework, seen: Mapping[str, Evidence]) -> None:
    """Add ``seen``, by paths from ``root``. Counts add up; of two versions of a file, that on the disk counts.

    Raises:
        EvidenceError: what is there is no evidence, or is about runs on the other framework.
        OSError: it cannot be read or written.
    """
    folder = _own_folder(root)
    with _locked(folder):
        found = read(root)
        if found is not None and found.framework != framework:
            raise EvidenceError(f"it is about runs on {found.framework}, not {framework}")
        files = {} if found is None else dict(found.files)
        for path, new in seen.items():
            old = files.get(path)
            if old is not None and old.digest == new.digest:
                files[path] = Evidence(new.digest, _added(old.seen, new.seen))
            elif old is None or _digest_now(root, path) == new.digest:
                files[path] = new
        _write(root, Document(framework, files))


def _own_folder(root: Path) -> Path:
    """The folder of the evidence, made if need be.

    Raises:
        OSError: it cannot be made, or is a link: a repository that brings one along would say where is written.
    """
    folder = evidence_file(root).parent
    folder.mkdir(exist_ok=True)
    if folder.is_symlink():
        raise _is_link(folder)
    return folder


def _is_link(path: Path) -> OSError:
    return OSError(errno.ELOOP, f"{path.name} is a link, and nothing is written through links", str(path))


def _added(
    old: Mapping[Question, Mapping[str, int]], new: Mapping[Question, Mapping[str, int]]
) -> dict[Question, Mapping[str, int]]:
    both = dict(old)
    for question, counts in new.items():
        before = both.get(question, {})
        both[question] = {**before, **{answer: before.get(answer, 0) + count for answer, count in counts.items()}}
    return both


def _digest_now(root: Path, path: str) -> str:
    try:
        return digest(read_regular(root / path))
    except OSError:
        return ""


def _write(root: Path, document: Document) -> None:
    """Whoever reads meanwhile sees the whole file, old or new; a process that is killed leaves one file, used again."""
    _put(evidence_file(root), dump(document))


def _put(target: Path, content: bytes) -> None:
    temporary = target.with_name(f"{target.name}.tmp")
    temporary.unlink(missing_ok=True)  # a leftover, or a link that lies there
    try:
        with temporary.open("xb") as file:
            file.write(content)
        temporary.replace(target)
    except BaseException:  # a full disk, Ctrl-C
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until no other process writes; the lock ends with its process, however that ends.

    Raises:
        Busy: that takes too long.
        OSError: the lock is a link, or cannot be made.
    """
    if sys.platform == "win32":
        yield
        return
    lock = folder / _LOCK
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        if lock.is_symlink():
            raise _is_link(lock) from error
        raise
    try:
        _lock(descriptor)
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # a process that was forked meanwhile has the descriptor too
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    end = monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                return  # a file system without locks
            if monotonic() > end:
                raise Busy(error.errno, "another process is writing it") from error
        sleep(0.01)
