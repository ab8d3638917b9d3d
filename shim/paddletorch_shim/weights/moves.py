"""What becomes of each tensor of a model: one of the same values elsewhere, a section of one, several joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from paddletorch_shim.weights.arrays import Array


@dataclass(frozen=True, slots=True)
class Move:
    """How one tensor of the target comes about.

    Args:
        target: its key.
        sources: keys that are joined along the first axis, in order; usually one.
        transposed: each matrix is transposed first, or after ``section`` is taken.
        section: ``(k, n)``: the k-th of n equal parts along the first axis.
        shape: the target's, where it differs by more than that; one entry may be -1.
    """

    target: str
    sources: tuple[str, ...]
    transposed: bool = False
    section: tuple[int, int] | None = None
    shape: tuple[int, ...] | None = None

    def apply(self, arrays: Mapping[str, Array]) -> Array:
        """The target's tensor; it shares memory with its source where it is unchanged.

        Raises:
            KeyError: a source is missing.
            ValueError: the shapes do not go together.
        """
        parts = [arrays[key] for key in self.sources]
        first = parts[0]
        if len(parts) == 1 and not self.transposed and self.section is None and self.shape in (None, first.shape):
            return first
        values = [part.values for part in parts]
        if self.section is not None:
            values = [np.split(one, self.section[1])[self.section[0]] for one in values]
        if self.transposed:
            values = [one.T if one.ndim == 2 else one for one in values]
        joined = values[0] if len(values) == 1 else np.concatenate(values)
        return first.having(joined if self.shape is None else joined.reshape(self.shape))


@dataclass(slots=True)
class Plan:
    """All moves for one model.

    Args:
        moves: by the target's key; a source may be in several.
        left: source keys that have no place in the target, and why that changes nothing.
        unknown: source keys that nothing certain can be said of, and why.
        repeated: source keys whose tensor is there under another key as well.
        doubles: target keys and the key of the same tensor: Paddle lists an RNN's tensors twice.
        added: int64 zeros that the target has and the source has not.
        shapes: of each source key in the model; None while a lazy module does not know it.
        tied: groups of source keys that are one tensor in the model.
        padded: rows that Paddle's embedding takes as zeros, by the source key of the weight.
        parameters: source keys of the parameters, in the order of ``model.parameters()``.
    """

    moves: dict[str, Move] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)
    doubles: dict[str, str] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    shapes: dict[str, tuple[int, ...] | None] = field(default_factory=dict)
    tied: list[tuple[str, ...]] = field(default_factory=list)
    padded: dict[str, int] = field(default_factory=dict)
    parameters: list[str] = field(default_factory=list)

    def sources(self) -> set[str]:
        """The source keys that move."""
        return {key for move in self.moves.values() for key in move.sources}
