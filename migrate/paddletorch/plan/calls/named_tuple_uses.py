"""Calls that return a named tuple, such as ``torch.max(x, dim)``: the expression to replace, and its template."""

from __future__ import annotations

import ast

from paddletorch_rules import Form

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.named_tuples import WHOLE, fields_of, unpacked
from paddletorch.plan.model.refusals import Refused, ResultUsedWhole
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant


def named_result(view: FileView, call: ast.Call, form: Form) -> tuple[ast.expr, str, tuple[Edit, ...]]:
    """The expression to replace, its template, and edits elsewhere in the file.

    The template is that of one field, or of all as a tuple where they are unpacked. If the tuple is assigned to a name
    whose uses are all known, the edits are those of its uses.

    Raises:
        Refused: the tuple is used as a whole.
    """
    fields = fields_of(form)
    parent = view.parent(call)
    is_read = isinstance(getattr(parent, "ctx", None), ast.Load)  # a call cannot stand where a value is assigned to
    if isinstance(parent, ast.Attribute) and parent.attr in fields and is_read:
        return parent, form.results[parent.attr], ()
    if isinstance(parent, ast.Subscript) and parent.value is call and is_read:
        index = constant(parent.slice)
        if isinstance(index, int) and -len(fields) <= index < len(fields):
            return parent, form.results[fields[index]], ()
    every_field = ", ".join(form.results[f] for f in fields)
    if unpacked(view, call, len(fields)) is not None:
        return call, every_field, ()
    if WHOLE in form.results:
        return call, form.results[WHOLE], ()
    edits = _edits_at_uses(view, call, fields)
    if edits is None:
        raise Refused(ResultUsedWhole(tuple(fields)))
    return call, every_field, edits


def _edits_at_uses(view: FileView, call: ast.Call, fields: list[str]) -> tuple[Edit, ...] | None:
    """Edits at the uses of the only name that has the call's result; None if a use may need the named tuple."""
    statement = view.parent(call)
    if isinstance(statement, ast.Expr) or _accepts_tuple(statement, call):
        return ()
    if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return None
    bindings = view.tree.scopes[target].lookup(target.id)
    edits: list[Edit] = []
    for load in view.tree.reads(bindings):
        parent = view.parent(load)
        if isinstance(parent, ast.Attribute) and parent.attr in fields and len(bindings) == 1:
            name = view.source.attribute_name(parent)
            dot = view.source.body.rfind(b".", view.source.span(load).end, name.start)  # behind what may close brackets
            edits.append(Edit(Span(dot, name.end), f"[{fields.index(parent.attr)}]"))
        elif not _accepts_tuple(parent, load):
            return None
    return tuple(edits)


def _accepts_tuple(parent: ast.AST | None, load: ast.expr) -> bool:
    """Whether the use works the same with a plain tuple: ``r[0]``, ``a, b = r``, ``print(r)``."""
    if isinstance(parent, ast.Assign):
        return isinstance(parent.targets[0], ast.Tuple | ast.List) and parent.value is load
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id in _ACCEPT_TUPLES and load in parent.args
    return isinstance(parent, ast.Subscript | ast.For | ast.comprehension | ast.Starred)


_ACCEPT_TUPLES = frozenset({"print", "len", "tuple", "list", "zip", "enumerate", "iter"})
