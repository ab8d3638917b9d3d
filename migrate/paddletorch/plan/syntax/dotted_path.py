"""The text of a dotted path, by which receivers are told apart."""

from __future__ import annotations

import ast


def path_of(node: ast.expr) -> str:
    """The text of a dotted path such as ``self.scaler``; a subscript is written ``[]``; empty for anything else."""
    path = ""
    while node.__class__ is not ast.Name:  # asked of every name and attribute of a file
        if node.__class__ is ast.Attribute:
            path = f".{node.attr}{path}"
        elif node.__class__ is ast.Subscript:
            path = "[]" + path
        else:
            return ""
        node = node.value
    return node.id + path
