"""Whether what a value can be is a tensor, and of which framework: one answer, which all others read."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from paddletorch.resolve.values import TENSOR, Container, Instance, Unknown, Value, Values

FORWARD = "forward"
"""The origin of an input of ``forward``, which is a tensor by all likelihood."""


class Certainty(IntEnum):
    """How certain it is that an object is of a type."""

    NO = 0
    MAYBE = 1
    YES = 2


class Tensorhood(NamedTuple):
    """How far a value is a tensor."""

    certainty: Certainty
    """``YES`` if it can be nothing else; ``NO`` if all that it can be is known, and no tensor."""
    origins: frozenset[str]
    """The frameworks of the tensors that it is seen to be, or ``FORWARD``; empty where none is seen."""
    has_others: bool
    """Whether it can be another object too that is known; None and functions count as nothing."""
    has_containers: bool
    """Whether it can be a list, tuple or dict too."""

    @property
    def is_certain(self) -> bool:
        """Whether it can be nothing but a tensor."""
        return self.certainty is Certainty.YES

    @property
    def is_seen(self) -> bool:
        """Whether it can be a tensor, among others."""
        return bool(self.origins)

    @property
    def is_only_object(self) -> bool:
        """Whether it is seen to be a tensor and no other object; it may be a container, which most operators refuse."""
        return bool(self.origins) and not self.has_others

    @property
    def is_likely(self) -> bool:
        """Whether it is seen to be a tensor and nothing else, beside None and what cannot be followed."""
        return self.is_only_object and not self.has_containers

    def of(self, origin: str) -> Tensorhood:
        """The same where only tensors that come from ``origin`` count as such."""
        if self.origins <= {origin}:
            return self
        certainty = Certainty.MAYBE if origin in self.origins or self.certainty is Certainty.MAYBE else Certainty.NO
        return Tensorhood(certainty, self.origins & {origin}, True, self.has_containers)


def tensorhood(values: Values) -> Tensorhood:
    """How far what ``values`` say is a tensor."""
    origins: set[str] = set()
    others: set[type[Value]] = set()
    for value in values:
        if isinstance(value, Instance) and value.type == TENSOR:
            origins.add(value.api.partition(".")[0])
        else:
            others.add(value.__class__)
    certain = Certainty.MAYBE if origins or Unknown in others else Certainty.NO
    return Tensorhood(
        Certainty.YES if origins and not others else certain,
        frozenset(origins),
        Instance in others,
        Container in others,
    )
