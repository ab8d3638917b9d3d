"""The code of modules whose run is recorded: their own, with the places of open questions looked at."""

from __future__ import annotations

import ast
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

from paddletorch.evidence.save import digest
from paddletorch.model import Ask, Question
from paddletorch.model.questions import Place

from paddletorch_shim.importhook.settings import Settings
from paddletorch_shim.importhook.store import Store
from paddletorch_shim.recording.graphs import watch_for_compiler
from paddletorch_shim.recording.instrument import instrument, written_in_place
from paddletorch_shim.recording.observer import watch
from paddletorch_shim.recording.recorder import Recorder, recorder_for
from paddletorch_shim.recording.spots import ABOUT_VALUES, NameSpot, Part, SharingSpot, Spot, ValueSpot, Where

if TYPE_CHECKING:
    from paddletorch_shim.importhook.conversion import ModuleConverter


class RecordedModules:
    """Looks at the modules of one project; each is converted once, to know what its conversion leaves open."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._store = Store(settings.options, "asks")
        self._converter: ModuleConverter | None = None
        self._lock = threading.RLock()
        self._recorder = recorder_for(settings.root, settings.options.source)
        watch_for_compiler()

    def code(self, fullname: str, source: bytes, file: str) -> CodeType | None:
        """See :class:`paddletorch_shim.importhook.settings.ModuleCode`; None where there is nothing to look at."""
        return self.code_of(source, file, _as_it_is)

    def code_of(self, source: bytes, file: str, change: Callable[[ast.Module], None]) -> CodeType | None:
        """As ``code``, for a file whose tree is changed before it is compiled."""
        path = self._path(file)
        questions = () if path is None else self._questions(source, file)
        if path is None or not questions:
            return None
        try:
            tree = ast.parse(source, file)
            change(tree)
            spots = observe(tree, questions, path, self._recorder)
            self._recorder.watches(digest(source), spots)
            return compile(tree, file, "exec", dont_inherit=True)
        except (SyntaxError, RecursionError, MemoryError):
            return None  # as its own code it runs, or fails, as it does without us

    def forget(self) -> None:
        """See :class:`paddletorch_shim.importhook.settings.ModuleCode`."""
        self._converter, self._lock = None, threading.RLock()

    def _path(self, file: str) -> str | None:
        """From the top folder, however the file was reached; None if it lies elsewhere."""
        real = Path(os.path.realpath(file))
        root = Path(self._settings.root)
        if not real.is_relative_to(root):
            return None
        path = real.relative_to(root).as_posix()
        return None if "\\" in path else path  # evidence has the same paths on every system

    def _questions(self, source: bytes, file: str) -> tuple[Question, ...]:
        kept = self._store.load(file, source)
        if kept is not None:
            return tuple(Question(Ask(ask), place) for ask, place in kept)
        from paddletorch_shim.importhook.conversion import ModuleConverter

        with self._lock:
            if self._converter is None:
                self._converter = ModuleConverter(self._settings.options)
            asked = self._converter.ask(source, self._settings.place(file))
        content = tuple((question.ask.value, question.place) for question in asked.questions)
        self._store.save(file, source, content, asked.dependencies)
        return asked.questions


def _as_it_is(tree: ast.Module) -> None:
    """Change nothing."""


def observe(tree: ast.Module, questions: Iterable[Question], path: str, recorder: Recorder) -> list[Spot]:
    """Change the ``tree`` of the file at ``path``, from the project's top folder, so that these are answered.

    The result has the places that are looked at from now on, for ``recorder`` to watch.
    """
    asks: dict[Place, set[Ask]] = {}
    for question in questions:
        asks.setdefault(question.place, set()).add(question.ask)
    targets = written_in_place(tree)
    indexes: dict[Place, list[int]] = {}
    spots: list[Spot] = []
    for place, asked in sorted(asks.items()):
        where = Where(path, place, os.path.join(recorder.root, path))  # noqa: PTH118
        new = [*_spots(recorder, where, asked, targets.get(place))]
        first = watch(new)
        indexes[place] = [*range(first, first + len(new))]
        spots += new
    instrument(tree, indexes)
    return spots


def _spots(recorder: Recorder, where: Where, asked: set[Ask], part: Part | None) -> Iterator[Spot]:
    """What looks at one place; ``part``: of the values that come by, or None for these themselves."""
    if values := asked & ABOUT_VALUES:
        yield ValueSpot(recorder, where, tuple(sorted(values)), part)
    for ask in sorted(asked & {Ask.CLASS, Ask.KEYS}):
        yield NameSpot(recorder, where, (ask,), part)
    if Ask.SHARED in asked:
        yield SharingSpot(recorder, where, (Ask.SHARED,), part)
