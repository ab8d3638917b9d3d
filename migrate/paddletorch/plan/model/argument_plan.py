"""What becomes of the arguments of one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paddletorch.model import Edit
from paddletorch.plan.model.findings import Finding


@dataclass(frozen=True, slots=True)
class ArgumentPlan:
    """What becomes of a call's arguments, before it is decided how the call is written.

    ``keywords`` gives the target's name of each supplied argument that stays, by its place in the call;
    ``append`` what must be written out; ``edits`` change values in place; ``lists`` are places whose
    argument, with those that follow it up to the second place, becomes one list; ``drop_keys`` are the source's
    names that the dict behind ``**`` must lose.
    """

    keywords: Mapping[int, str]
    drop: frozenset[int]
    drop_keys: frozenset[str]
    prepend: tuple[tuple[str, str], ...]
    append: tuple[tuple[str, str], ...]
    edits: tuple[Edit, ...]
    lists: Mapping[int, int]
    findings: tuple[Finding, ...]
    """What is to be said of the arguments, though the call converts."""
