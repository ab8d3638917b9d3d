"""Calls that give a named tuple, such as ``torch.max(x, dim)``: which of its fields are used."""

from __future__ import annotations

import ast

from paddletorch_rules import Form

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.translate import constant
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView

WHOLE = "whole"
"""The template for a use of the tuple that is none of its fields."""


def named_result(view: FileView, call: ast.Call, form: Form, beside: list[Edit]) -> tuple[ast.expr, str]:
    """The expression to replace and its template: one field's, or all as a tuple where they are unpacked.

    A name that is given the tuple keeps it, if all its uses are seen: ``beside`` takes the edits of those.

    Raises:
        Refusal: the tuple is used as a whole.
    """
    fields = [f for f in form.results if f != WHOLE]
    parent = view.parent(call)
    if isinstance(parent, ast.Attribute) and parent.attr in fields:
        return parent, form.results[parent.attr]
    if isinstance(parent, ast.Subscript) and parent.value is call:
        index = constant(parent.slice)
        if isinstance(index, int) and -len(fields) <= index < len(fields):
            return parent, form.results[fields[index]]
    used = unpacked(view, call, len(fields))
    if used is None and WHOLE in form.results:
        return call, form.results[WHOLE]
    if used is None:
        kept = _kept(view, call, fields)
        if kept is None:
            raise Refusal("API223", fields=", ".join(fields))
        beside += kept
    return call, ", ".join(form.results[f] for f in fields)


def _kept(view: FileView, call: ast.Call, fields: list[str]) -> list[Edit] | None:
    """Edits at the uses of the one name that the call's value is given to; None if a use may need a named tuple."""
    statement = view.parent(call)
    if isinstance(statement, ast.Expr) or _takes_tuple(statement, call):
        return []
    if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return None
    bindings = view.tree.scopes[target].lookup(target.id)
    edits: list[Edit] = []
    for load in view.tree.names.get(target.id, []):
        if view.tree.scopes[load].lookup(load.id) is not bindings:
            continue
        parent = view.parent(load)
        if isinstance(parent, ast.Attribute) and parent.attr in fields and len(bindings) == 1:
            end = view.source.span(load).end
            edits.append(Edit(Span(end, view.source.span(parent).end), f"[{fields.index(parent.attr)}]"))
        elif not _takes_tuple(parent, load):
            return None
    return edits


def _takes_tuple(parent: ast.AST | None, load: ast.expr) -> bool:
    """Whether the use sees no difference between a tuple and a named one: ``r[0]``, ``a, b = r``, ``print(r)``."""
    if isinstance(parent, ast.Assign):
        return isinstance(parent.targets[0], ast.Tuple | ast.List) and parent.value is load
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id in _TAKE_TUPLES and load in parent.args
    return isinstance(parent, ast.Subscript | ast.For | ast.comprehension | ast.Starred)


_TAKE_TUPLES = frozenset({"print", "len", "tuple", "list", "zip", "enumerate", "iter"})


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
    """Whether the use of a call shows that it gives these fields: unpacked, or one of them by name."""
    fields = [f for f in form.results if f != WHOLE]
    parent = view.parent(call)
    if isinstance(parent, ast.Attribute) and parent.attr in fields:
        return True
    return len(fields) > 1 and unpacked(view, call, len(fields)) is not None
