"""A use of an API that the tables have, before it is planned."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from paddletorch_rules import Form, Row

from paddletorch.resolve import Binding

Role = Literal["call", "partial", "base", "annotation", "check", "alias", "probe", "patch", "member", "value"]
"""How the API is used."""

AnchorKind = Literal["import", "alias", "attribute", "free", "outside"]


class Anchor(NamedTuple):
    """The bound part of a dotted use: ``amp`` of ``amp.GradScaler``."""

    kind: AnchorKind
    key: Hashable
    node: ast.expr
    bindings: tuple[Binding, ...]
    names: frozenset[str]


class Candidate(NamedTuple):
    """An API that a use may mean, with its row and form."""

    name: str
    row: Row
    form: Form


@dataclass(frozen=True, eq=False, slots=True)
class Site:
    """One use: the dotted expression ``node``, the APIs it may mean and the syntax around it."""

    node: ast.expr
    anchor: Anchor
    candidates: tuple[Candidate, ...]
    role: Role
    call: ast.Call | None
    other: ast.AST | None
    """The binding that may give the name another meaning, if there is one."""
    recorded: bool = False
    """Only a recorded run shows what it is: its arguments may be converted, its name may not be replaced."""

    @property
    def name(self) -> str:
        """The first API that it may mean, for messages."""
        return self.candidates[0].name
