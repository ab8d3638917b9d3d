"""Expressions of a file that a row writes as a template."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from paddletorch_rules import Row


@dataclass(frozen=True, slots=True)
class Match:
    """An expression of the file that a row writes as a template, with what stands for its placeholders."""

    node: ast.expr
    start: ast.Attribute
    row: Row
    arguments: dict[str, ast.expr]
    attributes: frozenset[ast.AST]
    """The members that are the template's own."""
