"""Names of Paddle's parameters, ``p.name``, that code only collects and looks up: the identity of each serves as well.

``AdamW(apply_decay_param_fun=lambda name: name in decayed)`` asks for them, and torch's parameters have no names.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding

_LISTS = (ast.ListComp, ast.SetComp)
_PARAMETERS: dict[str, tuple[int | None, ...]] = {"parameters": (None,), "named_parameters": (None, 1)}
"""Which part of what a loop runs over is the parameter, by the method that gives it."""


def names_looked_up(view: FileView, function: ast.expr) -> list[ast.Attribute] | None:
    """Each ``p.name`` in the list in which the function of a name looks it up.

    None if the function does something else with the name, or the list is used, or filled, in another way.
    """
    body = _body(view, function)
    if body is None:
        return None
    name, condition = body
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        condition = condition.operand
    if not isinstance(condition, ast.Compare) or len(condition.ops) != 1 or not _is_name(condition.left, name):
        return None
    if not isinstance(condition.ops[0], ast.In | ast.NotIn):
        return None
    found = _collected(view, condition.comparators[0])
    return found or None


def is_always_true(view: FileView, function: ast.expr) -> bool:
    """Whether the function says yes whatever the name: ``lambda name: True``."""
    body = _body(view, function)
    return body is not None and isinstance(body[1], ast.Constant) and body[1].value is True


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _body(view: FileView, function: ast.expr) -> tuple[str, ast.expr] | None:
    """The parameter of a function of one argument, and the expression that it returns."""
    if isinstance(function, ast.Lambda):
        return _of_one(function.args, function.body, 0)
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    defined = [one for one in view.tree.of_kind(ast.FunctionDef) if one.name == name]
    if len(defined) != 1 or defined[0].decorator_list:
        return None
    statements = [s for s in defined[0].body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(statements) != 1 or not isinstance(statements[0], ast.Return) or statements[0].value is None:
        return None
    own = isinstance(function, ast.Attribute) and _is_name(function.value, "self")
    return _of_one(defined[0].args, statements[0].value, int(own))


def _of_one(arguments: ast.arguments, body: ast.expr, skipped: int) -> tuple[str, ast.expr] | None:
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)][skipped:]
    others = arguments.kwonlyargs or arguments.vararg or arguments.kwarg
    return (names[0], body) if len(names) == 1 and not others else None


def _collected(view: FileView, collection: ast.expr) -> list[ast.Attribute] | None:
    """Each ``p.name`` that a list or set is made of; None if it is used otherwise than looked up in."""
    reads: Sequence[ast.expr]
    if isinstance(collection, ast.Name):
        bindings = view.tree.scopes[collection].lookup(collection.id)
        if any(b.kind != "assign" for b in bindings):
            return None
        values, reads = [b.value for b in bindings], view.tree.reads(bindings)
    elif isinstance(collection, ast.Attribute) and _is_name(collection.value, "self"):
        values = [store.value for store in view.evaluator.stores_of(collection)]
        reads = [m for m in view.evaluator.same_attribute(collection) if isinstance(m.ctx, ast.Load)]
    else:
        return None
    found: list[ast.Attribute] = []
    for one in (*(_named(view, v) for v in values), *(_used(view, r) for r in reads)):
        if one is None:
            return None
        found += one
    return found


def _named(view: FileView, value: ast.expr | None) -> list[ast.Attribute] | None:
    """Each ``p.name`` of a list or set that is written out."""
    if isinstance(value, _LISTS):
        return [value.elt] if isinstance(value.elt, ast.Attribute) and _is_name_of_parameter(view, value.elt) else None
    if isinstance(value, ast.Call) and _is_name(value.func, "set") and len(value.args) < 2 and not value.keywords:
        return _named(view, value.args[0]) if value.args else []
    return [] if isinstance(value, ast.List) and not value.elts else None


def _used(view: FileView, read: ast.expr) -> list[ast.Attribute] | None:
    """What one use puts into the collection; None if it is another use than a look-up."""
    parent = view.parent(read)
    if isinstance(parent, ast.Compare):
        return [] if read in parent.comparators and isinstance(parent.ops[0], ast.In | ast.NotIn) else None
    call = view.parent(parent) if isinstance(parent, ast.Attribute) and parent.attr in ("append", "add") else None
    if isinstance(call, ast.Call) and call.func is parent and len(call.args) == 1:
        given = call.args[0]
        return [given] if isinstance(given, ast.Attribute) and _is_name_of_parameter(view, given) else None
    if isinstance(parent, ast.Call) and _is_name(parent.func, "len"):
        return []
    return None


def _is_name_of_parameter(view: FileView, node: ast.Attribute) -> bool:
    """Whether this is ``p.name`` of a variable that runs over the parameters of a layer."""
    if node.attr != "name" or not isinstance(node.value, ast.Name):
        return False
    reached = list(view.evaluator.reaching(node.value))
    return bool(reached) and all(_is_parameter(binding) for binding in reached)


def _is_parameter(binding: Binding) -> bool:
    """Whether a loop over the parameters of a layer binds the variable to each of them."""
    function = binding.value.func if isinstance(binding.value, ast.Call) else None
    method = function.attr if isinstance(function, ast.Attribute) else ""
    return method in _PARAMETERS and binding.path == _PARAMETERS[method]
