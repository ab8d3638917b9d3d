"""When an expression needs brackets: operator precedence, as in Python's reference."""

from __future__ import annotations

import ast

ATOM = 16

_BINARY: dict[type, int] = {
    ast.BitOr: 6,
    ast.BitXor: 7,
    ast.BitAnd: 8,
    ast.LShift: 9,
    ast.RShift: 9,
    ast.Add: 10,
    ast.Sub: 10,
    ast.Mult: 11,
    ast.MatMult: 11,
    ast.Div: 11,
    ast.FloorDiv: 11,
    ast.Mod: 11,
    ast.Pow: 13,
}


def precedence_of(node: ast.expr) -> int:
    """The operator precedence of an expression; a higher one binds more tightly."""
    if isinstance(node, ast.NamedExpr | ast.Tuple | ast.Yield | ast.YieldFrom):
        return 0
    if isinstance(node, ast.Lambda):
        return 0
    if isinstance(node, ast.IfExp):
        return 1
    if isinstance(node, ast.BoolOp):
        return 2 if isinstance(node.op, ast.Or) else 3
    if isinstance(node, ast.UnaryOp):
        return 4 if isinstance(node.op, ast.Not) else 12
    if isinstance(node, ast.Compare):
        return 5
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)]
    if isinstance(node, ast.Await):
        return 14
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex):
        return 15
    return ATOM


def required_precedence(parent: ast.AST | None, child: ast.expr) -> int:
    """The minimum precedence of an expression that can replace ``child`` without brackets."""
    if isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Subscript) and parent.value is child):
        return ATOM
    if isinstance(parent, ast.Call) and parent.func is child:
        return ATOM
    if isinstance(parent, ast.Await):
        return 15
    if isinstance(parent, ast.Starred):
        return 6
    if isinstance(parent, ast.UnaryOp):
        return 4 if isinstance(parent.op, ast.Not) else 12
    if isinstance(parent, ast.BinOp):
        level = _BINARY[type(parent.op)]
        right = parent.right is child
        if isinstance(parent.op, ast.Pow):
            return 12 if right else 14
        return level + 1 if right else level
    if isinstance(parent, ast.AugAssign) and parent.value is child:
        return 12 if isinstance(parent.op, ast.Pow) else _BINARY[type(parent.op)] + 1  # it may be written x = x + y
    if isinstance(parent, ast.Compare):
        return 6
    if isinstance(parent, ast.BoolOp):
        return precedence_of(parent) + 1
    if isinstance(parent, ast.IfExp):
        return 1 if parent.orelse is child else 2
    if isinstance(parent, ast.comprehension):
        return 2
    if isinstance(parent, ast.FormattedValue):
        return 1
    return 0  # any expression may stand here; the caller decides about a tuple without brackets


def is_closed(text: str) -> bool:
    """Whether an expression can stand on any line: its line breaks are inside brackets."""
    if "\n" not in text and "\r" not in text:
        return True
    try:
        return len(ast.parse(text).body) == 1  # two: the next line would be a statement of its own
    except SyntaxError:
        return False


def brackets_for(node: ast.expr, text: str, parent: ast.AST | None, replaced: ast.expr) -> tuple[str, str]:
    """The brackets that ``node``, written ``text``, needs in the place of ``replaced``; empty if none."""
    bare = isinstance(node, ast.NamedExpr | ast.Yield | ast.YieldFrom)
    if bare or precedence_of(node) < required_precedence(parent, replaced) or not is_closed(text):
        return "(", ")"
    return "", ""
