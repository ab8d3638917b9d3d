"""The text of Python's binary operators."""

from __future__ import annotations

import ast

BITWISE: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
"""Operators of bits."""

ELEMENTWISE: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    **BITWISE,
}
"""Operators that combine tensors element by element."""

OPERATORS: dict[type[ast.operator], str] = {**ELEMENTWISE, ast.MatMult: "@"}
"""Operators that tensors have."""

IN_PLACE: dict[type[ast.operator], str] = {**ELEMENTWISE, ast.LShift: "<<", ast.RShift: ">>"}
"""Operators whose augmented form, ``x += y``, writes into torch's tensors: of ``@=`` torch makes a new one."""
