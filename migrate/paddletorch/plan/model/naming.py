"""How the names of a file are written after the conversion."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from paddletorch.plan.model.site import Anchor, Site


class Group(NamedTuple):
    """All uses of one binding of a name (or of one attribute name)."""

    anchor: Anchor
    sites: tuple[Site, ...]
    other_uses: tuple[ast.expr, ...] = ()
    deleted: bool = False
    hidden: bool = False
    """The name may also be used in syntax that this Python version cannot parse."""
    fallback: bool = False
    """The name may also be the file's own; every use is right for both as it is converted."""
    target: str | None = None
    """What the name is bound to after the conversion; None if the binding is left."""


@dataclass(frozen=True, slots=True)
class Naming:
    """The decided names."""

    groups: Mapping[Hashable, Group]
    """Groups by the key of their anchor."""
    rewritten: frozenset[Site] = frozenset()
    """Sites where the source's name is not used any more."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Local names of the target's modules in the converted file, by module."""
