"""What becomes of the members used in a file."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from paddletorch_rules import Row

from paddletorch.model import Conversion, Edit, Uses
from paddletorch.plan.model.view import FileView


@dataclass
class MemberPlan:
    """What becomes of the members used in a file."""

    edits: list[Edit] = field(default_factory=list)
    conversions: list[Conversion] = field(default_factory=list)
    matched: set[ast.AST] = field(default_factory=set)
    uses: dict[str, Uses] = field(default_factory=dict)
    rooted: list[tuple[ast.expr, str]] = field(default_factory=list)
    """Members whose replacement names a module, and that module."""


def record(view: FileView, plan: MemberPlan, node: ast.expr, row: Row, name: str, replacement: str) -> None:
    """Note a conversion at ``node``."""
    line, column = view.source.position(view.source.span(node).start)
    plan.conversions.append(Conversion(row.code, name, replacement, line, column, row.id))
