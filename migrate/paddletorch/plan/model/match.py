"""Expressions that match the template of a row's source side."""

from __future__ import annotations

import ast
from typing import NamedTuple

from paddletorch_rules import Row


class Match(NamedTuple):
    """An expression that matches the template of a row, with the arguments at its placeholders."""

    node: ast.expr
    start: ast.Attribute
    row: Row
    arguments: dict[str, ast.expr]
    attributes: frozenset[ast.AST]
    """The attribute nodes that belong to the template itself."""
