"""Keeps what was seen: soon after it is new, when the process ends, and when one that it started ends."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Iterable
from functools import cache
from multiprocessing import util
from pathlib import Path
from time import monotonic

from paddletorch.evidence.document import evidence_file
from paddletorch.evidence.save import Busy, merge
from paddletorch.model import Evidence, Framework, Question
from paddletorch.model.failure import reason

from paddletorch_shim.recording.answers import Answers
from paddletorch_shim.recording.spots import Spot

_SECONDS = 1.0
"""How long a new answer may wait to be kept while values still come by, if keeping takes no longer."""

_SHARE = 20
"""Keeping what is new takes no more than one part in so many of the time."""


class Recorder:
    """What this process has seen of the files of one project and not yet kept."""

    def __init__(self, root: str, answers: Answers) -> None:
        """``root``: real path of the project's top folder."""
        self.root, self.answers = root, answers
        self.asked = 0
        self.trouble = ""
        self._spots: list[Spot] = []
        self._digests: dict[str, str] = {}
        self._changed: set[Spot] = set()
        self._waits = False
        self._kept, self._pause = -_SECONDS, _SECONDS
        self._keeping = threading.Lock()
        self._unkept: list[dict[str, Evidence]] = []

    def watches(self, digest: str, spots: Iterable[Spot]) -> None:
        """Take what ``spots``, of one file with this digest, will see."""
        new = list(spots)
        self._spots += new
        self._digests.update((spot.where.file, digest) for spot in new)
        self.asked += sum(len(spot.asks) for spot in new)

    def changed(self, spot: Spot, *, new: bool) -> None:
        """See :class:`paddletorch_shim.recording.spots.Keeper`."""
        self._changed.add(spot)
        if not (new or self._waits):
            return
        if monotonic() - self._kept >= self._pause:
            self.keep()
        elif not self._waits:
            self._waits = True
            for one in self._spots:  # the next value, wherever it comes by, looks at the clock
                one.wake()

    def is_waiting(self) -> bool:
        """See :class:`paddletorch_shim.recording.spots.Keeper`."""
        return self._waits

    def keep(self) -> None:
        """Write what was seen since the last time. Where that fails it is dropped, and ``trouble`` says why."""
        if not self._keeping.acquire(blocking=False):
            return
        begun = monotonic()
        try:
            changed, self._changed = self._changed, set()
            self._waits = False
            if changed:
                self._unkept.append(self._seen(changed))
            while self._unkept:  # Ctrl-C may come at any time: what it kept from being written is written next time
                merge(Path(self.root), self.answers.framework, self._unkept[0])
                del self._unkept[0]
        except Busy:
            self._waits = bool(self._unkept)
        except Exception as error:
            self.trouble = reason(error) if isinstance(error, OSError) else str(error)
            self._unkept.clear()
        finally:
            self._pause = max(_SECONDS, _SHARE * (monotonic() - begun))
            self._kept = begun
            self._keeping.release()

    def _seen(self, spots: Iterable[Spot]) -> dict[str, Evidence]:
        files: dict[str, dict[Question, dict[str, int]]] = {}
        for spot in spots:
            seen = files.setdefault(spot.where.file, {})
            for question, answer, count in spot.taken():
                counts = seen.setdefault(question, {})
                counts[answer] = counts.get(answer, 0) + count
        return {file: Evidence(self._digests[file], seen) for file, seen in files.items()}

    def begin_forked(self) -> None:
        """In a forked process: what the other one has not yet kept is its own matter."""
        self._keeping = threading.Lock()
        for spot in self._spots:
            for _ in spot.taken():
                pass
        self._changed, self._waits, self._kept, self._unkept = set(), False, -_SECONDS, []

    def stop(self) -> None:
        """Look at nothing more, and keep what was seen."""
        for spot in self._spots:
            spot.stop()
        self.keep()

    def summary(self) -> str:
        """What this process can say of the recording, in a line."""
        file = evidence_file(Path(self.root))
        if self.trouble:
            return f"the evidence could not be kept in {file}: {self.trouble}"
        if not self.asked:
            return "nothing was open about the modules that this process imported"
        return f"{self.reached} of {self.asked} open questions of the imported modules answered: {file}"

    @property
    def reached(self) -> int:
        """How many questions have an answer from this process."""
        return sum(len(spot.asks) for spot in self._spots if spot.was_reached())


_recorders: dict[str, Recorder] = {}


def recorder_for(root: str, framework: Framework) -> Recorder:
    """The recorder of this process for the project in ``root``."""
    if root not in _recorders:
        recorder = _recorders[root] = Recorder(root, Answers(framework))
        _at_ends()
        util.register_after_fork(recorder, _keep_at_end)
    return _recorders[root]


def forget(root: str) -> None:
    """The next recorder for the project begins anew."""
    _recorders.pop(root, None)


@cache
def _at_ends() -> None:
    atexit.register(_keep_all)
    sys.addaudithook(_keep_before_exec)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_begin_forked)


def _keep_all() -> None:
    for recorder in _recorders.values():
        recorder.keep()


def _keep_before_exec(event: str, _: tuple[object, ...]) -> None:
    """Another program takes the process over, and nothing that ``atexit`` would call is called."""
    if event == "os.exec":
        _keep_all()


def _begin_forked() -> None:
    for recorder in _recorders.values():
        recorder.begin_forked()


def _keep_at_end(recorder: Recorder) -> None:
    """In a process of ``multiprocessing``, which ends without what ``atexit`` would call."""
    util.Finalize(None, recorder.keep, exitpriority=-100)
