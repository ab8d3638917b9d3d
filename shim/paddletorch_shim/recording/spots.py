"""The places of the program's code that are looked at, and what was seen there.

An answer is counted up to ``COUNTED`` in a process. Then values are passed on without a look if their class alone
decides the answer, and else only what decides it is compared.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import OrderedDict, defaultdict
from collections.abc import Container, Iterable
from contextlib import suppress
from functools import cache
from types import BuiltinFunctionType, FunctionType, SimpleNamespace
from typing import Any, NamedTuple, Protocol

from paddletorch.model import Ask, Question
from paddletorch.model.questions import Place

from paddletorch_shim.recording.answers import UNCLEAR, Answers
from paddletorch_shim.recording.sharing import is_held_elsewhere

COUNTED = 100
"""Up to how many times an answer is counted at one place in one process."""

_MOST = 64
"""More different values than these at one place say that anything may come there."""

ABOUT_VALUES = frozenset({Ask.TYPE, Ask.DTYPE, Ask.RANK})
"""What one look at a value answers."""


class Where(NamedTuple):
    """Where an expression stands."""

    file: str
    """From the project's top folder."""
    place: Place
    real: str
    """The file's real path."""


class Keeper(Protocol):
    """Where the answers go."""

    answers: Answers

    def changed(self, spot: Spot, *, new: bool) -> None:
        """An answer at ``spot`` was counted; ``new``: for the first time in this process."""

    def is_waiting(self) -> bool:
        """Whether new answers wait to be kept: values are looked at until they are."""


class Part(Protocol):
    """What is looked at of a value that comes by, in place of that value."""

    def __call__(self, value: Any) -> object:
        """The part, or ``MISSING``; no code of the program runs."""


class _Everything(Container[object]):
    def __contains__(self, item: object) -> bool:
        return True


class Spot(ABC):
    """A place, and what was seen there; ``quiet`` has the classes whose objects are not looked at any more."""

    def __init__(self, keeper: Keeper, where: Where, asks: tuple[Ask, ...], part: Part | None = None) -> None:
        """``part``: what of the values is looked at; None for the values themselves."""
        self.where, self.asks = where, asks
        self.quiet: Container[object] = set()
        self._part = part
        self._keeper = keeper
        self._answers: dict[object, tuple[str, ...]] = {}
        self._counts: dict[object, int] = {}
        self._fresh: dict[object, int] = {}

    def see(self, value: Any) -> None:
        """Note what ``value``, which has come by, is."""
        if self._part is None:
            self.look(value, type(value))
            return
        value = self._part(value)
        if value is MISSING:
            self.count(UNCLEAR, None)
        else:
            self.look(value, None)

    @abstractmethod
    def look(self, value: Any, kind: type | None) -> None:
        """Note what ``value`` is; ``kind`` is the class of what came by, if that was the value itself."""

    def count(self, key: object, value: object) -> bool:
        """Count the answers about ``value``, which ``key`` stands for; False if there is nothing more to learn."""
        count = self._counts.get(key, 0)
        if not count:
            self._answers[key] = self._answer(key, value)
            if len(self._answers) > _MOST:
                self.stop()
        if count < COUNTED:
            self._counts[key] = count + 1
            self._fresh[key] = self._fresh.get(key, 0) + 1
            self._keeper.changed(self, new=not count)
            return True
        if self._keeper.is_waiting():
            self._keeper.changed(self, new=False)
            return True
        return False

    def _answer(self, key: object, value: object) -> tuple[str, ...]:
        if key is UNCLEAR or len(self._answers) >= _MOST:
            return (UNCLEAR,) * len(self.asks)
        return tuple(self._keeper.answers.of(ask, value, self.where.real) for ask in self.asks)

    def taken(self) -> Iterable[tuple[Question, str, int]]:
        """What was counted since this was last asked."""
        fresh, self._fresh = self._fresh, {}
        for key, count in fresh.items():
            for ask, answer in zip(self.asks, self._answers[key], strict=True):
                yield Question(ask, self.where.place), answer, count

    def was_reached(self) -> bool:
        """Whether this process came to the place."""
        return bool(self._answers)

    def stop(self) -> None:
        """Look at nothing more."""
        self.quiet = _Everything()

    def wake(self) -> None:
        """Look at all values again."""
        if isinstance(self.quiet, set):
            self.quiet.clear()


class ValueSpot(Spot):
    """Looks at classes, and at dtypes and ranks of tensors."""

    def __init__(self, keeper: Keeper, where: Where, asks: tuple[Ask, ...], part: Part | None = None) -> None:
        super().__init__(keeper, where, asks, part)
        self._needs_tensor = asks != (Ask.TYPE,)
        self._tensors: set[type] = set()
        self._done: set[object] = set()

    def look(self, value: Any, kind: type | None) -> None:
        """See :class:`Spot`."""
        own = type(value)
        if own in self._tensors:
            key: object = (own, value.dtype, value.ndim)
            if key not in self._done and not self.count(key, value):
                self._done.add(key)
        elif self._needs_tensor and own not in self._answers and self._keeper.answers.is_tensor(own):
            self._tensors.add(own)
            self.look(value, kind)
        elif not self.count(own, value) and kind is not None and isinstance(self.quiet, set):
            self.quiet.add(kind)


class NameSpot(Spot):
    """Looks at which class or function a value is, or which keys a mapping has."""

    def look(self, value: Any, kind: type | None) -> None:
        """See :class:`Spot`."""
        self.count(self._key(value), value)

    def _key(self, value: Any) -> object:
        """What decides the answer: of functions made in a loop it is the same."""
        if self.asks == (Ask.KEYS,):
            return tuple(dict.keys(value)) if isinstance(value, dict) else type(value)
        if isinstance(value, FunctionType):
            return value.__code__
        if isinstance(value, type | BuiltinFunctionType):
            return _Same(value)
        return type(value)


class _Same:
    """Equal where it is the same object, whatever that thinks of being equal."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value


class SharingSpot(Spot):
    """Looks at whether a tensor is held elsewhere when it is written in place."""

    def look(self, value: Any, kind: type | None) -> None:
        """See :class:`Spot`."""
        references = sys.getrefcount(value)  # before anything else holds it
        shared = type(value) not in _IMMUTABLE and self._is_shared(value, references)
        if not self.count("yes" if shared else "no", value) and shared:
            self.stop()  # whatever comes now, it was not always the only one

    def _is_shared(self, value: Any, references: int) -> bool:
        answers = self._keeper.answers
        expected = _references(is_part=self._part is not None)
        return not answers.is_tensor(type(value)) or is_held_elsewhere(answers.framework, value, references - expected)

    def _answer(self, key: object, value: object) -> tuple[str, ...]:
        return (str(key) if key in ("yes", "no") else "yes",)


_IMMUTABLE = (bool, int, float, complex, str, bytes, tuple)

MISSING = object()
"""What a part gives that is not there, or cannot be had without running code of the program."""


class Attribute(Part):
    """The attribute of this name, as the object itself holds it, or as a layer does."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, value: Any) -> object:
        """See :class:`Part`."""
        held = getattr(value, "__dict__", {})
        for names in (held, held.get("_buffers"), held.get("_parameters")):
            if isinstance(names, dict) and self._name in names:
                return names[self._name]
        return MISSING


class Element(Part):
    """The element of a list or dict, of which both and the index come by."""

    def __call__(self, value: Any) -> object:
        """See :class:`Part`."""
        container, index = value
        if type(container) in _DICTS and type(index) in (str, int):
            return dict.get(container, index, MISSING)
        if type(container) is list and type(index) is int and -len(container) <= index < len(container):
            return container[index]
        return MISSING


_DICTS = (dict, OrderedDict, defaultdict)


@cache
def _references(*, is_part: bool) -> int:
    """How many references to a value that only one variable, or one object, holds are seen on its way."""
    keeper: Any = None
    counter = _Counter(keeper, Where("", (0, 0, 0, 0), ""), (), Attribute("held") if is_part else None)
    variable = SimpleNamespace(held=object()) if is_part else object()
    _as_seen(counter, variable)
    return counter.references


def _as_seen(spot: Spot, value: object) -> None:
    """Holds the value while it is looked at, as the function does that the program calls."""
    look_at(spot, value)


class _Counter(Spot):
    references = 0

    def look(self, value: Any, kind: type | None) -> None:
        """See :class:`Spot`."""
        self.references = sys.getrefcount(value)


def look_at(spot: Spot, value: object) -> None:
    """Have ``spot`` see ``value``; whatever a strange value does, the program goes on as it would."""
    try:
        spot.see(value)
    except Exception:
        with suppress(Exception):
            spot.count(UNCLEAR, None)
