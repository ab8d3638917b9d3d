"""A model's state dict converted along its plan, with everything checked that can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np

from paddletorch_shim.weights import WeightsError, listed
from paddletorch_shim.weights.arrays import Array
from paddletorch_shim.weights.moves import Move, Plan


@dataclass(slots=True)
class Choices:
    """What the user says of keys, as patterns with ``*``: a Linear's weight, the same on both sides, left out."""

    linear: Sequence[str] = ()
    keep: Sequence[str] = ()
    drop: Sequence[str] = ()
    used: set[str] = field(default_factory=set)

    def of(self, key: str) -> str | None:
        """``linear``, ``keep``, ``drop`` or None.

        Raises:
            WeightsError: patterns of two kinds match.
        """
        found = [
            (kind, pattern)
            for kind, patterns in (("linear", self.linear), ("keep", self.keep), ("drop", self.drop))
            for pattern in patterns
            if fnmatchcase(key, pattern)
        ]
        self.used.update(f"--{kind} {pattern}" for kind, pattern in found)
        if len({kind for kind, _ in found}) > 1:
            raise WeightsError(f"{key}: {' and '.join(f'--{kind} {p}' for kind, p in found)} contradict each other")
        return found[0][0] if found else None

    def check_used(self) -> None:
        """Raises WeightsError for a pattern that no key matched."""
        given = [f"--{kind} {p}" for kind in ("linear", "keep", "drop") for p in getattr(self, kind)]
        idle = [one for one in given if one not in self.used]
        if idle:
            raise WeightsError(f"no key matches {listed(idle)}")


@dataclass(slots=True)
class Converted:
    """A model's state in the other framework, and what there is to say about it.

    Args:
        arrays: by the target's key.
        originals: by the model's key in the source, tied ones under all of theirs.
        moves: those that were made, to convert an optimizer's moments alike.
        left: source keys that are not in the target, and why.
        missing: keys of the model that the file lacks.
        tied: groups of target keys that are one tensor in the source and two layouts in the target.
    """

    arrays: dict[str, Array]
    originals: dict[str, Array]
    moves: dict[str, Move]
    left: dict[str, str]
    missing: list[str]
    tied: list[tuple[str, ...]]

    @property
    def transposed(self) -> int:
        return sum(move.transposed and self.arrays[key].values.ndim == 2 for key, move in self.moves.items())


def prefix(keys: Sequence[str], known: Mapping[str, object]) -> str:
    """What a wrapper such as DataParallel has put before all keys; "" if nothing, or not before all."""
    if not keys or any(key in known for key in keys):
        return ""
    candidates = {key[: -len(name)] for key in keys[:1] for name in known if key.endswith("." + name)}
    fitting = [one for one in candidates if all(key.startswith(one) for key in keys)]
    return max(fitting, key=lambda one: sum(key.removeprefix(one) in known for key in keys), default="")


def convert(plan: Plan, arrays: Mapping[str, Array], choices: Choices) -> Converted:
    """``arrays``, by the source's keys, as the target's.

    Raises:
        WeightsError: a key has no certain meaning or place, a shape is not the model's, or tied tensors differ.
    """
    arrays = dict(arrays)
    _share(plan, arrays)
    moves = dict(plan.moves)
    left = {key: reason for key, reason in plan.left.items() if key in arrays}
    unknown = {key: reason for key, reason in plan.unknown.items() if key in arrays}
    unknown |= {key: "the model has no such tensor" for key in arrays if key not in plan.shapes}
    for key in arrays:
        choice = choices.of(key)
        if choice is None:
            continue
        unknown.pop(key, None)
        left.pop(key, None)
        moves = {target: move for target, move in moves.items() if key not in move.sources}
        if choice == "drop":
            left[key] = "dropped, as asked for"
        else:
            moves[key] = Move(key, (key,), transposed=choice == "linear")
    if unknown:
        raise WeightsError(_unknown(unknown, bool(plan.parameters)))
    _check_shapes(plan, arrays, left)
    _check_padding(plan, arrays, choices)
    made = {}
    for target, move in moves.items():
        lacking = [key for key in move.sources if key not in arrays]
        if lacking and len(lacking) < len(move.sources):
            raise WeightsError(f"{target} is made of {listed(list(move.sources))}, and {listed(lacking)} is missing")
        if not lacking:
            try:
                made[target] = move.apply(arrays)
            except ValueError as error:
                raise WeightsError(f"{listed(list(move.sources))}: {error}") from None
    done = {target: move for target, move in moves.items() if target in made}
    for double, target in plan.doubles.items():
        if target in made:
            made[double] = made[target]
    for key in plan.added:
        if key.removesuffix("num_batches_tracked") + "running_mean" in made:
            made[key] = Array(np.zeros((), np.int64), "int64")
    missing = [key for key in plan.shapes if key not in arrays and key not in plan.repeated]
    originals = {key: array for key, array in arrays.items() if key in plan.shapes}
    return Converted(made, originals, done, left, missing, _separated(plan, done))


def _share(plan: Plan, arrays: dict[str, Array]) -> None:
    """Give each key of a tied tensor its values; files leave out all but one, or have them several times."""
    for group in plan.tied:
        present = [key for key in group if key in arrays]
        for key in present[1:]:
            if not arrays[key].equals(arrays[present[0]]):
                raise WeightsError(f"{present[0]} and {key} are one tensor in the model and differ in the file")
        if present:
            arrays.update({key: arrays[present[0]] for key in group if key not in arrays})


def _separated(plan: Plan, moves: Mapping[str, Move]) -> list[tuple[str, ...]]:
    """Tied tensors that the target has in several layouts."""
    made = []
    for group in plan.tied:
        inside = {target: move for target, move in moves.items() if set(move.sources) & set(group)}
        if len({(move.transposed, move.section, move.shape) for move in inside.values()}) > 1:
            made.append(tuple(inside))
    return made


def _unknown(unknown: Mapping[str, str], with_model: bool) -> str:
    by_reason: dict[str, list[str]] = {}
    for key, reason in unknown.items():
        by_reason.setdefault(reason, []).append(key)
    lines = [f"{listed(keys)}: {reason}" for reason, keys in by_reason.items()]
    ways = "--linear PATTERN (transposed), --keep PATTERN (as it is) or --drop PATTERN (left out)"
    way = (
        f"say what they are: {ways}"
        if with_model
        else f"give --model PACKAGE.MODULE:CLASS, or say what they are: {ways}"
    )
    return "not certain without more knowledge:\n  " + "\n  ".join(lines) + f"\n{way}"


def _check_shapes(plan: Plan, arrays: Mapping[str, Array], left: Mapping[str, str]) -> None:
    for key, array in arrays.items():
        expected = plan.shapes.get(key)
        if expected is not None and key not in left and array.shape != expected:
            raise WeightsError(
                f"{key} has shape {list(array.shape)} in the file and {list(expected)} in the model: "
                "is it the right --model, with the right --model-args?"
            )


def _check_padding(plan: Plan, arrays: Mapping[str, Array], choices: Choices) -> None:
    for key, row in plan.padded.items():
        if key in arrays and choices.of(key) is None and np.any(arrays[key].numbers()[row]):
            raise WeightsError(
                f"{key}: row {row}, of padding_idx, is not zero; Paddle's Embedding gives zeros there and torch's "
                f"gives the row, so the outputs would differ. Set it to zero, or carry it as it is with --keep {key}"
            )
