"""The function that the program's code calls at each place that is looked at."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

from paddletorch_shim.recording.spots import Spot, look_at

NAME = "__paddletorch_seen__"
"""What the program's code calls ``seen`` by: a name among the builtins, which no module shows as its own."""

_spots: list[Spot] = []


def seen(index: int, value: Any) -> Any:
    """``value``, after the place of this index has looked at it."""
    if type(value) not in _spots[index].quiet:
        look_at(_spots[index], value)
    return value


def watch(spots: Iterable[Spot]) -> int:
    """Have ``seen`` look at the places of these; the index of the first."""
    vars(builtins)[NAME] = seen
    first = len(_spots)
    _spots.extend(spots)
    return first


def leave_out_of_graphs(dynamo: Any) -> None:
    """Tell ``torch.compile``, by its module ``torch._dynamo``, that ``seen`` is nothing to be compiled."""
    if hasattr(dynamo, "substitute_in_graph"):
        dynamo.substitute_in_graph(seen)(_passed_on)


def _passed_on(index: int, value: Any) -> Any:
    return value
