"""The text of Python's binary operators."""

from __future__ import annotations

import ast

ELEMENTWISE: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
"""Operators that combine tensors element by element."""

OPERATORS: dict[type[ast.operator], str] = {**ELEMENTWISE, ast.MatMult: "@"}
"""Operators that tensors have."""
