"""Puts the call of the observer around the expressions of a module that are to be looked at.

All else of the syntax tree stays: positions, docstrings, annotations, what is assigned to. Text that an expression is
written as again, such as annotations that Python keeps as strings, is left alone.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from paddletorch.model.questions import Place, place_of

from paddletorch_shim.recording.observer import NAME
from paddletorch_shim.recording.spots import Attribute, Element, Part

_UNTOUCHED = {"annotation", "returns", "type_params", "pattern"}
"""Fields of syntax nodes that hold no expressions which run as such."""


def instrument(tree: ast.Module, indexes: Mapping[Place, list[int]]) -> None:
    """Change ``tree`` so that values at the places are looked at by the observers of these indexes.

    What an augmented assignment writes is looked at just before.
    """
    _Instrument(indexes).visit(tree)


def written_in_place(tree: ast.Module) -> dict[Place, Part | None]:
    """The targets of augmented assignments that can be looked at before, and what is looked at of what is read for it.

    A variable is read itself, of an attribute its object, of an element of a variable both and the index, if that is
    a variable or a constant; nothing else can be read twice without running code twice.
    """
    found: dict[Place, Part | None] = {}
    for node in ast.walk(tree):
        target = node.target if isinstance(node, ast.AugAssign) else None
        if target is None or _read_before(target) is None:
            continue
        if isinstance(target, ast.Attribute):
            found[place_of(target)] = Attribute(target.attr)
        else:
            found[place_of(target)] = Element() if isinstance(target, ast.Subscript) else None
    return found


def _read_before(target: ast.expr) -> ast.expr | None:
    """What is read to look at the target of an assignment before; None if that cannot be done."""
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    if not isinstance(target, ast.Attribute | ast.Subscript) or not isinstance(target.value, ast.Name):
        return None
    owner = ast.Name(target.value.id, ast.Load())
    if isinstance(target, ast.Attribute):
        return owner
    if isinstance(target.slice, ast.Name | ast.Constant):
        return ast.Tuple([owner, copy(target.slice)], ast.Load())
    return None


class _Instrument:
    def __init__(self, indexes: Mapping[Place, list[int]]) -> None:
        self._indexes = dict(indexes)

    def visit(self, node: ast.AST) -> None:
        for field, value in ast.iter_fields(node):
            if field in _UNTOUCHED:
                continue
            if isinstance(value, list):
                value[:] = [new for item in value for new in self._items(item)]
            elif isinstance(value, ast.AST):
                setattr(node, field, self._node(value))

    def _items(self, item: Any) -> list[Any]:
        if not isinstance(item, ast.AST):
            return [item]
        before: list[Any] = []
        if isinstance(item, ast.AugAssign):
            read = _read_before(item.target)
            if read is not None:
                before = [_look_before(item.target, read, i) for i in self._indexes.pop(place_of(item.target), ())]
        return [*before, self._node(item)]

    def _node(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.JoinedStr) and sys.version_info < (3, 12):
            return node  # positions in it are not those of the file
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return node  # a docstring
        if not isinstance(node, ast.expr) or not _can_be_wrapped(node):
            self.visit(node)
            return node
        indexes = self._indexes.pop(place_of(node), [])  # of two nodes at one place, the outer one
        self.visit(node)
        for index in indexes:
            node = _observed(node, index)
        return node


def _can_be_wrapped(node: ast.expr) -> bool:
    if not isinstance(getattr(node, "ctx", None) or ast.Load(), ast.Load):
        return False
    if isinstance(node, ast.Tuple) and any(isinstance(part, ast.Slice | ast.Starred) for part in node.elts):
        return False
    if type(node).__name__ == "Interpolation":  # of a template string, since Python 3.14
        return False
    return not isinstance(node, ast.Slice | ast.Starred | ast.FormattedValue)


def _observed(node: ast.expr, index: int) -> ast.expr:
    at: Callable[[ast.expr], ast.expr] = lambda new: ast.copy_location(new, node)  # noqa: E731
    function, number = at(ast.Name(NAME, ast.Load())), at(ast.Constant(index))
    return at(ast.Call(func=function, args=[number, node], keywords=[]))


def _look_before(target: ast.expr, read: ast.expr, index: int) -> ast.stmt:
    """A statement that looks at what is ``read``, for an assignment's target, before."""
    for node in ast.walk(read):
        ast.copy_location(node, target)
    return ast.copy_location(ast.Expr(_observed(read, index)), target)
