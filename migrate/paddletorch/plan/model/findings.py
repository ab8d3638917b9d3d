"""Findings and matches, before they are text."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from paddletorch_rules import Row


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagnostic before its text is filled in."""

    code: str
    node: ast.expr | ast.stmt | ast.alias
    name: str
    holes: tuple[tuple[str, str], ...]
    row: Row | None = None
    applied: bool = False
    """What it is about was converted all the same, so that no option is needed for it."""


@dataclass(frozen=True, slots=True)
class Match:
    """An expression of the file that a row writes as a template, with what stands in its holes."""

    node: ast.expr
    start: ast.Attribute
    row: Row
    holes: dict[str, ast.expr]
    attributes: frozenset[ast.AST]
    """The members that are the template's own."""
