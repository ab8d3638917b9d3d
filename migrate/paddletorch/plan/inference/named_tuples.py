"""Calls that return a named tuple, such as ``torch.max(x, dim)``: its fields, and which of them are used."""

from __future__ import annotations

import ast

from paddletorch_rules import Form

from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant

WHOLE = "whole"
"""The key, in a form's results, of the template for the tuple as a whole."""


def fields_of(form: Form) -> list[str]:
    """The fields of the named tuple that a call of the form returns, in order."""
    return [f for f in form.results if f != WHOLE]


def unpacked(view: FileView, call: ast.Call, count: int) -> ast.Tuple | ast.List | None:
    """The targets of ``a, b = call``, if there are ``count`` of them."""
    parent = view.parent(call)
    if not isinstance(parent, ast.Assign) or parent.value is not call or len(parent.targets) != 1:
        return None
    target = parent.targets[0]
    if not isinstance(target, ast.Tuple | ast.List) or len(target.elts) != count:
        return None
    return None if any(isinstance(e, ast.Starred) for e in target.elts) else target


def shows_fields(view: FileView, call: ast.Call, form: Form) -> bool:
    """Whether a use shows that the call returns these fields: it is unpacked, or a field is read by name or place.

    ``x.max(1)[1]`` is read by place: of an array it would be the largest number of row 1, which nobody asks for by
    reducing all rows first; ``points.max(0)[1]`` is how arrays of points are asked.
    """
    fields = fields_of(form)
    parent = view.parent(call)
    if isinstance(parent, ast.Attribute) and parent.attr in fields:
        return True
    if isinstance(parent, ast.Subscript) and parent.value is call and constant(parent.slice) == 1 and len(fields) > 1:
        axis = constant(call.args[0]) if len(call.args) == 1 else None
        return type(axis) is int and axis != 0 and isinstance(parent.ctx, ast.Load)
    return len(fields) > 1 and unpacked(view, call, len(fields)) is not None
