"""The function that the program's code calls at each place that is looked at."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from paddletorch_shim.recording.answers import UNCLEAR
from paddletorch_shim.recording.spots import Spot

NAME = "__paddletorch_seen__"
"""What the program's code calls ``seen`` by: a name among the builtins, which no module shows as its own."""

_spots: list[Spot] = []


def seen(index: int, value: Any) -> Any:
    """``value``, after the place of this index has looked at it."""
    if type(value) not in _spots[index].quiet:
        _look(index, value)
    return value


def _look(index: int, value: Any) -> None:
    spot = _spots[index]
    try:
        spot.look(value)
    except Exception:  # whatever a strange value does, the program goes on as it would
        with suppress(Exception):
            spot.count(UNCLEAR, None)


def watch(spots: list[Spot]) -> int:
    """Have ``seen`` look at the places of these; the index of the first."""
    vars(builtins)[NAME] = seen
    _spots.extend(spots)
    return len(_spots) - len(spots)


def references_of_a_variable() -> int:
    """How many references a spot sees, on the way from ``seen``, to what only one variable of a function holds."""
    counter: Any = _Counter()
    index = watch([counter])
    variable = object()
    seen(index, variable)
    return int(counter.references)


class _Counter:
    quiet: frozenset[type] = frozenset()
    references = 0

    def look(self, value: object) -> None:
        self.references = sys.getrefcount(value)


def forget_in_graphs(modules: Mapping[str, Any] = sys.modules) -> None:
    """Tell ``torch.compile``, if it is imported, that ``seen`` is nothing to be compiled."""
    dynamo: Any = modules.get("torch._dynamo")
    if hasattr(dynamo, "substitute_in_graph"):
        dynamo.substitute_in_graph(seen)(_passed_on)


def _passed_on(index: int, value: Any) -> Any:
    return value
