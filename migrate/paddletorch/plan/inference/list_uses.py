"""What a program does with an object that is indexed as a list is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.model.view import FileView


def is_used_as_list(view: FileView, made: ast.expr) -> bool:
    """Whether the object that ``made`` makes is used as only a Python list may be, by its variable or attribute.

    That is by a slice, by an index that may be negative, by the assignment of an element, by ``extend`` or in a sum.
    """
    return any(_is_of_list(view, load) for load in _loads(view, made))


def _loads(view: FileView, made: ast.expr) -> Iterator[ast.expr]:
    """Where the file uses the variable or attribute that holds the object."""
    holder = view.parent(made)
    targets = holder.targets if isinstance(holder, ast.Assign) else [getattr(holder, "target", None)]
    for target in targets:
        if isinstance(target, ast.Attribute):
            yield from view.evaluator.same_attribute(target)
        elif isinstance(target, ast.Name):
            yield from view.tree.reads(view.tree.scopes[target].lookup(target.id))


def _is_of_list(view: FileView, load: ast.expr) -> bool:
    parent = view.parent(load)
    if isinstance(parent, ast.Attribute):
        return parent.attr == "extend"
    if isinstance(parent, ast.AugAssign):
        return parent.target is load
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.Add)
    if not isinstance(parent, ast.Subscript) or parent.value is not load:
        return False
    index = parent.slice
    may_be_negative = isinstance(index, ast.UnaryOp) or (
        isinstance(index, ast.BinOp) and isinstance(index.op, ast.Sub) and not isinstance(index.left, ast.Call)
    )
    return isinstance(index, ast.Slice) or may_be_negative or not isinstance(parent.ctx, ast.Load)
