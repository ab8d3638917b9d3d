"""The object that a call makes, and the tensor of it that an initializer in the call's arguments is for."""

from __future__ import annotations

import ast

from paddletorch_rules import Row
from paddletorch_rules.hooks.attributes import RECURRENT, attribute, initialized_tensor

from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.statements import ends_line, own_line

_NAMES = ("m", "layer", "made")


def object_path(view: FileView, call: ast.Call) -> str | None:
    """How statements after the call name its object; None if they cannot.

    ``self.fc`` of ``self.fc = Linear(3, 4)``, and ``self`` of ``super().__init__(3, 4)``.
    """
    statement = view.parent(call)
    if isinstance(statement, ast.Expr):
        name = constructed(view, call)
        return name if name is not None and own_line(view, statement) and ends_line(view, statement) else None
    if isinstance(statement, ast.Assign):
        target = statement.targets[0] if len(statement.targets) == 1 else None
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    else:
        return None
    if target is None or statement.value is not call or not _is_path(target):
        return None
    return view.written(target) if own_line(view, statement) and ends_line(view, statement) else None


def constructed(view: FileView, call: ast.Call) -> str | None:
    """The name of the object that a parent's constructor makes: the first parameter of the function around it."""
    function = view.tree.scopes[call].node
    if not isinstance(function, ast.FunctionDef) or not ast.unparse(call.func).endswith("__init__"):
        return None
    parameters = [*function.args.posonlyargs, *function.args.args]
    return parameters[0].arg if parameters else None


def object_name(call: ast.Call) -> str:
    """A name for the object inside a function of it, which the call's arguments do not use."""
    used = {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}
    return next((name for name in _NAMES if name not in used), "_made")


def tensor_for(view: FileView, initializer: ast.Call) -> str | None:
    """The tensor that an initializer is for which is written in a layer's arguments: ``self.fc.weight``.

    ``parameter`` if it is for many, one after the other. None if it is no such initializer: it may be kept, and applied
    to any tensor. A function of the file gives an initializer, which is a function of the tensor.
    """
    if not view.settings.overloads(view.qualified(initializer.func) or ""):
        return None
    value: ast.AST = initializer
    holder = view.parent(value)
    holder = view.parent(holder) if isinstance(holder, ast.keyword) and holder.arg == "initializer" else holder
    if isinstance(holder, ast.Call):
        fields = attribute(holder)
        if fields is None or fields.get("initializer") is not initializer:
            return None
        value = holder
    keyword = view.parent(value)
    call = view.parent(keyword) if isinstance(keyword, ast.keyword) else None
    if not isinstance(keyword, ast.keyword) or not isinstance(call, ast.Call) or keyword.arg is None:
        return None
    parameter = keyword.arg
    rows = [row for name in _classes(view, call) for row, _ in view.settings.overloads(name)]
    if not rows or any(not _takes(view, row, parameter) for row in rows):
        return None
    if rows[0].hook == RECURRENT:
        return "parameter"
    tensor = initialized_tensor(rows[0].hook, parameter, keyword.value)
    return None if tensor is None else f"{object_path(view, call) or object_name(call)}.{tensor}"


def held_as(view: FileView, initializer: ast.expr) -> str:
    """What the parameter, variable or attribute is called that holds an initializer, empty if nothing does."""
    value: ast.AST = initializer
    while isinstance(holder := view.parent(value), ast.Call | ast.IfExp | ast.BoolOp | ast.keyword):
        if isinstance(holder, ast.keyword) and holder.arg not in ("initializer", None):
            return str(holder.arg)
        value = holder
    if isinstance(holder, ast.Assign):
        return view.written(holder.targets[0])
    return view.written(holder.target) if isinstance(holder, ast.AnnAssign) else ""


def _classes(view: FileView, call: ast.Call) -> list[str]:
    """The class of the object that the call makes; the bases of the class whose constructor calls its parent's."""
    function = call.func
    of = [function]
    if isinstance(function, ast.Attribute) and function.attr == "__init__":
        of = [function.value]  # Base.__init__(self)
        if isinstance(function.value, ast.Call) and ast.unparse(function.value.func) == "super":
            around = view.parent(view.tree.scopes[call].node)
            of = around.bases if isinstance(around, ast.ClassDef) else []
    names = [view.qualified(node) for node in of]
    return [name or "" for name in names]


def _takes(view: FileView, row: Row, parameter: str) -> bool:
    source = view.settings.source
    return row.instance is not None and any(pair.name(source) == parameter for pair in row.parameters)


def _is_path(target: ast.expr) -> bool:
    while isinstance(target, ast.Attribute):
        target = target.value
    return isinstance(target, ast.Name)
