"""How the names of a file are written once it is converted."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from paddletorch.plan.model.site import Anchor, Site


@dataclass(frozen=True, slots=True)
class Group:
    """All uses of one binding of a name (or of one attribute name)."""

    anchor: Anchor
    sites: tuple[Site, ...]
    other_uses: tuple[ast.expr, ...] = ()
    deleted: bool = False
    hidden: bool = False
    """The name may also be used in syntax that this Python cannot read."""
    fallback: bool = False
    """The name may also be something of the file's own, which suits every use as it is converted."""
    target: str | None = None
    """What the name stands for afterwards; None if the binding stays."""


@dataclass(frozen=True, slots=True)
class Naming:
    """The decided names."""

    groups: Mapping[Hashable, Group]
    """By the key of the anchor."""
    rewritten: frozenset[Site] = frozenset()
    """Sites that no longer use the source's name."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Names that the converted file has for modules of the target."""
