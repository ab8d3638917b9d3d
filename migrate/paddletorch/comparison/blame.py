"""Which lines of the code are behind a difference, on one side."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Lines = tuple[str, int, int]
"""A file, the first line and the last."""


def lines_of_row(
    what: str, layer: str, call: int, events: Sequence[Mapping[str, Any]], layers: Mapping[str, Any]
) -> Lines | None:
    """The code that makes what differs.

    What goes into a layer is made by the code that calls it, since the call before. What comes out, when all that is
    inside was the same, is made by the code after its last inner call; of a layer of the framework the line that makes
    it is all there is.
    """
    entered = next((n for n, one in enumerate(events) if _is(one, layer, call, "in")), None)
    if what == "in" and entered is not None and events[entered]["at"]:
        return _before_call(events, entered, layers)
    if what == "out" and entered is not None:
        return _after_calls(events, entered, layers)
    return _whole(layers.get(layer))


BEHIND = {
    "loss scale": ("scaler", "train_step"),
    "growth tracker": ("scaler", "train_step"),
    "loss": ("train_step", "loss"),
    "after steps": ("train_step", "optimizer"),
}
"""Of what differs in the steps, the program's own functions that may be behind it, the likeliest first."""


def lines_of_functions(functions: Mapping[str, Callable[..., Any] | None]) -> dict[str, Lines]:
    """Where the program's own functions stand, by what they are used for."""
    found: dict[str, Lines] = {}
    for name, function in functions.items():
        try:
            lines, first = inspect.getsourcelines(function)  # type: ignore[arg-type]
            found[name] = inspect.getfile(function), first, first + len(lines) - 1  # type: ignore[arg-type]
        except (OSError, TypeError):
            continue  # there is none, or a built-in function has no lines
    return found


def _whole(description: Any) -> Lines | None:
    if not description:
        return None
    if description["forward"]:
        file, first, last = description["forward"]
        return file, first, last
    if description["made"]:
        file, line = description["made"]
        return file, line, line
    return None


def _before_call(events: Sequence[Mapping[str, Any]], entered: int, layers: Mapping[str, Any]) -> Lines:
    event = events[entered]
    file, last = event["at"]
    first = last
    whole = _whole(layers.get(event["inside"])) if event["inside"] is not None else None
    if whole and whole[0] == file and whole[1] <= last <= whole[2]:
        first = whole[1]
    for one in reversed(events[:entered]):
        if _is(one, event["inside"], None, "in"):
            break
        if one["kind"] == "in" and one["inside"] == event["inside"] and one["at"] and one["at"][0] == file:
            first = max(first, one["at"][1]) if one["at"][1] <= last else first
            break
    return file, first, last


def _after_calls(events: Sequence[Mapping[str, Any]], entered: int, layers: Mapping[str, Any]) -> Lines | None:
    event = events[entered]
    whole = _whole(layers.get(event["layer"]))
    if whole is None:
        return None
    file, first, last = whole
    for one in events[entered + 1 :]:
        if _is(one, event["layer"], event["call"], "out"):
            break
        if one["kind"] == "in" and one["inside"] == event["layer"] and one["at"] and one["at"][0] == file:
            first = max(first, one["at"][1]) if one["at"][1] <= last else first
    return file, first, last


def _is(event: Mapping[str, Any], layer: str | None, call: int | None, kind: str) -> bool:
    return event["layer"] == layer and event["kind"] == kind and (call is None or event["call"] == call)
