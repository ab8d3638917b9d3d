"""What is compared of two runs, one row for each tensor, in the order in which a fault would show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from paddletorch.comparison.measure import RUNNING_VARIANCE, Difference, difference

Rename = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Row:
    """One tensor of a stage on both sides.

    Args:
        what: ``in`` and ``out`` of a layer, ``output`` and ``input gradient`` of the model, ``gradient``, ``buffer``,
            ``loss``, ``loss scale``, ``growth tracker``, ``after steps``.
        layer: that it belongs to; "" is the model itself.
        call: of a layer: which one.
        name: of a parameter or buffer, or the place in what the model takes and returns.
        found: how far apart they are.
    """

    stage: str
    what: str
    layer: str
    call: int
    name: str
    found: Difference

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        return (self.stage, self.what, self.layer, self.call, self.name)

    @property
    def is_variance(self) -> bool:
        """Whether it is a running variance, of which the frameworks keep different ones (NNL208)."""
        return self.what in ("buffer", "after steps") and self.name.endswith(("running_var", "_variance"))

    def exceeds(self, tolerance: Mapping[str, float], noise: Mapping[tuple[str, str, str, int, str], Row]) -> bool:
        """Whether it is too far off: more than the tolerance, and more than ten times what rounding makes of it."""
        kind = "output" if self.what in ("in", "out", "output", "buffer") else "gradient"
        other = noise.get(self.key)
        allowed = max(tolerance[kind], 10 * other.found.error if other else 0.0, RUNNING_VARIANCE * self.is_variance)
        return bool(self.found.problem) or self.found.error > allowed


def rows_of(
    stage: str, expected: Any, made: Any, rename: Rename, left: Mapping[str, int] = MappingProxyType({})
) -> Iterator[Row]:
    """The rows of a stage.

    Args:
        rename: gives tensors of the source the keys and the layout of the converted model.
        left: when the forward pass last left each layer: gradients are there in the opposite order.
    """
    if expected is None or made is None:
        if (expected is None) != (made is None):
            yield Row(stage, "output", "", 0, "", Difference(problem="there are gradients on one side only"))
        return
    if stage in ("eval", "train"):
        yield from _events(stage, expected["events"], made["events"])
        yield from _paired(stage, "output", expected["outputs"], made["outputs"])
        yield from _named(stage, "buffer", rename(expected.get("buffers", {})), made.get("buffers", {}))
    elif stage == "steps":
        yield Row(stage, "loss", "", 0, "loss", difference(expected["losses"], made["losses"]))
        for what, key in (("loss scale", "scales"), ("growth tracker", "trackers")):
            if key in expected:
                yield Row(stage, what, "", 0, what, difference(expected[key], made.get(key)))
        yield from _named(stage, "after steps", rename(expected["state"]), made["state"])
    else:
        gradients = expected["parameters"]
        largest = max(
            (float(np.abs(one).max()) for one in gradients.values() if one is not None and one.size), default=0
        )
        renamed = rename(gradients)
        order = sorted(renamed, key=lambda key: left.get(key.rpartition(".")[0], -1), reverse=True)
        backward = {key: renamed[key] for key in order}
        yield from _named(stage, "gradient", backward, made["parameters"], largest)
        yield from _paired(stage, "input gradient", expected["inputs"], made["inputs"])


def _events(stage: str, expected: Any, made: Any) -> Iterator[Row]:
    there = {(one["layer"], one["call"], one["kind"]): one for one in made}
    for event in expected:
        layer, call, kind = event["layer"], event["call"], event["kind"]
        other = there.get((layer, call, kind))
        if other is None:
            continue
        alike = [one[1] for one in event["arrays"]] == [one[1] for one in other["arrays"]]
        if kind == "in" and not alike:
            continue  # arguments may stand in another order, or be made by the layer itself
        # what a layer of a framework returns beside its result, such as weights of attention, is its own matter
        is_library = kind == "out" and event["library"] and other["library"]
        if len(event["arrays"]) != len(other["arrays"]) and not is_library:
            problem = f"{len(event['arrays'])} tensors, converted {len(other['arrays'])}"
            yield Row(stage, kind, layer, call, "", Difference(problem=problem))
            continue
        for (where, shape, one), (_, its, two) in zip(event["arrays"], other["arrays"], strict=False):
            found = difference(one, two)
            if shape != its and is_library:
                break
            if shape != its:
                found = Difference(problem=f"shape {list(shape)}, converted {list(its)}")
            yield Row(stage, kind, layer, call, where, found)


def _paired(stage: str, what: str, expected: Any, made: Any) -> Iterator[Row]:
    if len(expected) != len(made):
        problem = f"{len(expected)} tensors, converted {len(made)}"
        yield Row(stage, what, "", 0, "", Difference(problem=problem))
        return
    for (where, one), (_, other) in zip(expected, made, strict=True):
        yield Row(stage, what, "", 0, where, difference(one, other))


def _named(stage: str, what: str, expected: Any, made: Any, scale: float = 0.0) -> Iterator[Row]:
    for key, one in expected.items():
        if key in made or one is not None:
            layer = key.rpartition(".")[0]
            yield Row(stage, what, layer, 0, key, difference(one, made.get(key), scale))
