"""Own ``train`` methods of layers, to torch: its ``eval()`` calls ``train(False)``, Paddle's sets the mode itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.statements import insert_before, own_line

_CODE = "NNM101"


def plan_train_methods(view: FileView, planned: Planned) -> Changes:
    """Let the body of each own ``train`` run only where the model is put into training mode."""
    edits: list[Edit] = []
    done = []
    for method in _methods(view):
        first = _first_statement(method)
        if view.is_deselected(_CODE, method) or not own_line(view, first) or isinstance(first, ast.If):
            continue  # a test of the mode stands there already
        edits += _with_mode(view, method)
        text = f"if not mode:\n{' ' * view.source.indent}return super().train(mode)"
        edits.append(insert_before(view, first, text, _CODE))
        done.append(view.conversion(_CODE, method, "Layer.train", "Module.train"))
    return Changes(tuple(edits), tuple(done))


def _methods(view: FileView) -> Iterator[ast.FunctionDef]:
    """Methods called ``train`` that call the parent's without the mode."""
    for scope in view.tree.own.values():
        node = scope.node
        if not isinstance(node, ast.FunctionDef) or node.name != "train" or node.args.vararg or node.args.kwarg:
            continue
        names = [a.arg for a in (*node.args.args, *node.args.kwonlyargs)]
        in_class = scope.parent is not None and scope.parent.kind == "class"
        if in_class and names in (["self"], ["self", "mode"]) and any(map(_is_parents, ast.walk(node))):
            yield node


def _is_parents(node: ast.AST) -> bool:
    """Whether this is ``super().train()``."""
    if not isinstance(node, ast.Call) or node.args or node.keywords or not isinstance(node.func, ast.Attribute):
        return False
    parent = node.func.value
    of_super = isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "super"
    return of_super and node.func.attr == "train"


def _first_statement(method: ast.FunctionDef) -> ast.stmt:
    """The first statement that is no docstring."""
    first = method.body[0]
    docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(method.body) > 1
    return method.body[1] if docstring else first


def _with_mode(view: FileView, method: ast.FunctionDef) -> list[Edit]:
    """Add the parameter that torch gives."""
    if len(method.args.args) + len(method.args.kwonlyargs) > 1:
        return []
    end = view.source.span(method.args.args[0]).end
    return [Edit(Span(end, end), ", mode=True", _CODE)]
