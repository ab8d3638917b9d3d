"""One place in a file where an API of the tables stands."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

from paddletorch_rules import Form, Row

from paddletorch.resolve import Binding

Role = Literal["call", "partial", "base", "annotation", "check", "alias", "probe", "patch", "member", "value"]
"""How the API is used."""

AnchorKind = Literal["import", "alias", "attribute", "free", "outside"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """The part of a dotted use whose binding gives it its meaning: ``amp`` of ``amp.GradScaler``."""

    kind: AnchorKind
    key: Hashable
    node: ast.expr
    bindings: tuple[Binding, ...]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One API that a use may mean."""

    name: str
    row: Row
    form: Form


@dataclass(frozen=True, eq=False, slots=True)
class Site:
    """One use: the dotted expression ``node``, what it may mean and what surrounds it."""

    node: ast.expr
    anchor: Anchor
    candidates: tuple[Candidate, ...]
    role: Role
    call: ast.Call | None
    other: ast.AST | None
    """What may make the name something else, if there is such a binding."""

    @property
    def name(self) -> str:
        """The first name it may mean, for messages."""
        return self.candidates[0].name
