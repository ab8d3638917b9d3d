"""What becomes of the arguments of one call."""

from __future__ import annotations

from dataclasses import dataclass, field

from paddletorch.model import Edit


@dataclass
class ArgumentPlan:
    """What becomes of a call's arguments, before it is decided how the call is written.

    ``keywords`` gives the target's name of each supplied argument that stays, by its place in the call;
    ``append`` what must be written out; ``edits`` change values in place; ``lists`` are places whose
    argument, with those that follow it up to the second place, becomes one list; ``drop_keys`` are the source's
    names that the dict behind ``**`` must lose.
    """

    keywords: dict[int, str] = field(default_factory=dict)
    drop: set[int] = field(default_factory=set)
    drop_keys: set[str] = field(default_factory=set)
    prepend: list[tuple[str, str]] = field(default_factory=list)
    append: list[tuple[str, str]] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    lists: dict[int, int] = field(default_factory=dict)
