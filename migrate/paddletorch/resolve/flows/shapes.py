"""How a value lies in what holds it: in each element of a list, at a place of a tuple, in the entries of a dict."""

from __future__ import annotations

import ast
from typing import Final, Literal

Step = Literal["each", "entry", "unnamed", "any"] | int
"""How one holder has it: each element; each value of a mapping; the same but of what a written key names; element or
entry; at a place of a tuple."""

Shape = tuple[Step, ...]
"""The holders from the outermost to the value itself; empty for the value."""

VALUE: Final[Shape] = ()
_MAPPINGS = ("entry", "unnamed")
_DEEP = 8
"""Values in more holders than this are not followed: a list that is put into itself has no end."""


def within(step: Step, shape: Shape) -> Shape | None:
    """The shape of a holder of what has ``shape``."""
    return (step, *shape) if len(shape) < _DEEP else None


def element(shape: Shape) -> Shape | None:
    """What a walk over the holder gives, if that has the value: of a mapping it gives the keys."""
    return shape[1:] if shape and shape[0] not in _MAPPINGS else None


def part(shape: Shape, index: ast.expr) -> Shape | None:
    """What a subscript of the holder gives, if that has the value."""
    if not shape:
        return None
    if isinstance(index, ast.Slice):
        return shape
    place, step = _number(index), shape[0]
    if step == "unnamed" and isinstance(index, ast.Constant):
        return None
    if isinstance(step, int) and place is not None:
        return shape[1:] if place in (step, step - 2) else None  # where the place is from the end, of a pair
    return shape[1:]


def _number(index: ast.expr) -> int | None:
    negative = isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub)
    constant = index.operand if negative and isinstance(index, ast.UnaryOp) else index
    if not isinstance(constant, ast.Constant) or not isinstance(constant.value, int):
        return None
    return -constant.value if negative else constant.value


def listed(shape: Shape) -> Shape | None:
    """The shape of a list, or an iterator, of what the holder gives."""
    found = element(shape)
    return None if found is None else within("each", found)


def mapped(shape: Shape) -> Shape | None:
    """The shape of a dict that is made of pairs, or of another dict."""
    if shape[:1] in (("entry",), ("unnamed",)):
        return shape
    return ("entry", *shape[2:]) if len(shape) > 1 and shape[1] in (1, "each", "any") else None


def method_result(shape: Shape, name: str) -> Shape | None:
    """What a method of the holder gives, if that has the value."""
    if shape[:1] in (("entry",), ("unnamed",), ("any",)):
        if name == "items":
            return within("each", (1, *shape[1:]))
        if name == "values":
            return ("each", *shape[1:])
        if name in ("get", "pop", "setdefault") and shape[0] != "unnamed":
            return shape[1:]
    elif name == "pop":
        return element(shape)
    return shape if name in ("copy", "__iter__") else None
