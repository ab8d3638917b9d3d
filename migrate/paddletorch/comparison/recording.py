"""Records what goes into each layer of a model and what comes out, and where the layer is made and called."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
from paddletorch_rules.layouts import walk

from paddletorch.comparison.sides import Side
from paddletorch.comparison.values import NoTensorError, arrays_of, leaves

MOST = 200_000
"""Numbers of a tensor that are kept; of a larger one, every n-th."""
_CONTAINERS = ("Sequential", "ModuleList", "ModuleDict", "LayerList", "LayerDict")

Event = dict[str, Any]
"""``layer``, ``call`` (which one of it), ``kind`` (``in`` or ``out``), ``arrays`` with their shapes; of ``in`` also the
layer that it is ``inside`` and the line ``at`` which that calls it, of ``out`` whether it is the ``library``'s own."""


class Recorder:
    """Records the calls of a model's layers.

    Args:
        side: of the model.
        roots: folders of the code that is compared; other code is the framework's or some package's.
    """

    def __init__(self, side: Side, roots: Sequence[str]) -> None:
        self._side = side
        self._roots = tuple(roots)
        self._made: dict[int, tuple[str, int]] = {}
        self._names: dict[int, str] = {}
        self.events: list[Event] | None = None
        self._calls: Counter[str] = Counter()
        self._stack: list[str] = []
        self._patch()

    def name_layers(self, model: Any) -> dict[str, dict[str, Any]]:
        """Give the layers of a model their names, the same on both sides, and tell what each is."""
        inner = self._inside_framework_layers(model)
        found: dict[str, dict[str, Any]] = {}
        for place in walk(model, self._side.name):
            if id(place.module) in inner or id(place.module) in self._names:
                continue
            name = place.torch.rstrip(".")
            self._names[id(place.module)] = name
            found[name] = self._description(place.module)
        return found

    @contextmanager
    def recording(self) -> Iterator[list[Event]]:
        """Record the calls meanwhile."""
        self.events, self._stack = [], []
        self._calls.clear()
        try:
            yield self.events
        finally:
            self.events = None

    def _description(self, module: Any) -> dict[str, Any]:
        forward = type(module).forward
        body = None
        code = getattr(inspect.unwrap(forward), "__code__", None)
        if code is not None and self._is_ours(code.co_filename):
            body = [code.co_filename, code.co_firstlineno, _last_line(code)]
        return {"type": type(module).__name__, "made": self._made.get(id(module)), "forward": body}

    def _inside_framework_layers(self, model: Any) -> set[int]:
        """Layers inside a layer of the framework, whose make is its own matter."""
        found: set[int] = set()
        for module in _modules(model):
            kind = type(module)
            if kind.__module__.partition(".")[0] == self._side.name and kind.__name__ not in _CONTAINERS:
                found |= {id(one) for one in _modules(module)} - {id(module)}
        return found

    def _patch(self) -> None:
        base, recorder = self._side.base, self
        call, begin = base.__call__, base.__init__

        def recorded_call(module: Any, *arguments: Any, **keywords: Any) -> Any:
            name = recorder._names.get(id(module)) if recorder.events is not None else None
            if name is None:
                return call(module, *arguments, **keywords)
            number = recorder._enter(name, (arguments, keywords), sys._getframe(1))
            try:
                returned = call(module, *arguments, **keywords)
            finally:
                recorder._stack.pop()
            library = type(module).__module__.partition(".")[0] == recorder._side.name
            recorder._note({"layer": name, "call": number, "kind": "out", "library": library}, returned)
            return returned

        def recorded_init(module: Any, *arguments: Any, **keywords: Any) -> None:
            begin(module, *arguments, **keywords)
            place = recorder._maker(module, sys._getframe(1))
            if place:
                recorder._made[id(module)] = place

        base.__call__, base.__init__ = recorded_call, recorded_init

    def _enter(self, name: str, given: Any, frame: FrameType) -> int:
        number = self._calls[name]
        self._calls[name] += 1
        inside = self._stack[-1] if self._stack else None
        event = {"layer": name, "call": number, "kind": "in", "inside": inside, "at": self._caller(frame)}
        self._stack.append(name)
        self._note(event, [*given[0], *given[1].values()])
        return number

    def _note(self, event: Event, value: Any) -> None:
        assert self.events is not None
        try:
            arrays = arrays_of(self._side, list(leaves(self._side, value)))
        except (NoTensorError, NotImplementedError):  # what the frameworks raise for tensors without numpy's form
            arrays = []
        # lists and numbers are settings as often as values, and are spelled in other ways on the other side
        is_result = event["kind"] == "out" and self._side.is_tensor(value)
        kept = [(where, one.shape, _sampled(one)) for where, one in arrays if one.ndim or is_result]
        self.events.append({**event, "arrays": kept})

    def _caller(self, frame: FrameType | None) -> tuple[str, int] | None:
        """The line of the user's that a call comes from."""
        while frame is not None and not self._is_ours(frame.f_code.co_filename):
            frame = frame.f_back
        return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None

    def _maker(self, module: Any, frame: FrameType | None) -> tuple[str, int] | None:
        """The line that makes a module: the caller of its constructors."""
        while frame is not None and _is_constructor(frame, module):
            frame = frame.f_back
        return self._caller(frame)

    def _is_ours(self, file: str) -> bool:
        return file.startswith(self._roots) and "site-packages" not in file


def _last_line(code: CodeType) -> int:
    """The last line of a function, of those in it too."""
    inner = (_last_line(one) for one in code.co_consts if isinstance(one, CodeType))
    return max(code.co_firstlineno, *(line or 0 for *_, line in code.co_lines()), *inner)


def _is_constructor(frame: FrameType, module: Any) -> bool:
    code = frame.f_code
    return bool(code.co_argcount) and frame.f_locals.get(code.co_varnames[0]) is module


def _modules(model: Any) -> Iterator[Any]:
    yield model
    for child in model.children():
        yield from _modules(child)


def _sampled(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array, or some of its numbers: the same ones of each array with this shape."""
    if array.size <= MOST:
        return np.array(array)
    return np.array(array.reshape(-1)[:: array.size // MOST + 1])


def roots_of(*folders: str) -> list[str]:
    """Folders as they stand in code objects, with a separator at the end."""
    return [str(Path(one).resolve()) + "/" for one in folders]
