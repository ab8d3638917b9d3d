"""Whether two nodes of a function can both run in one call, and the loop around a node."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Scope

Loop = ast.For | ast.AsyncFor | ast.While

_OPERATORS = (ast.expr_context, ast.cmpop, ast.boolop, ast.unaryop)
_READ = (ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, *_OPERATORS)
_JUMPS = (ast.Return, ast.Continue, ast.Break, ast.Raise)


def exclusive(view: FileView, first: ast.AST, second: ast.AST) -> bool:
    """Whether at most one of two nodes runs in a call: branches of one ``if``, or a branch that returns or raises."""
    if _on_either_side(view, first, second):
        return True
    chain = _ancestors(view, first)
    above = {id(node): child for node, child in chain}
    for node, child in _ancestors(view, second):
        if id(node) not in above:
            continue
        left, right = above[id(node)], child
        if isinstance(node, ast.If | ast.IfExp | ast.Try | ast.Match) and _field(node, left) != _field(node, right):
            return True
        if isinstance(node, ast.Match) or (isinstance(node, ast.Try) and left is not right):
            return left is not right
        early = left if getattr(left, "lineno", 0) < getattr(right, "lineno", 0) else right
        return left is not right and isinstance(early, ast.If) and isinstance(early.body[-1], _JUMPS)
    return False


def runs_before(view: FileView, first: ast.AST, second: ast.AST) -> bool:
    """Whether ``first`` has run whenever ``second`` runs in the same call, or the same round of a loop around both."""
    above = {id(node): child for node, child in _ancestors(view, second)}
    holding = _conditions(view, second)
    for node, child in _ancestors(view, first):
        if id(node) in above:
            block = next(
                (value for _, value in ast.iter_fields(node) if isinstance(value, list) and child in value), []
            )
            later = above[id(node)]
            return later in block and block.index(child) < block.index(later)
        if isinstance(node, ast.If):
            holds = _field(node, child)
            if holds != "test" and holding.get(ast.dump(node.test)) != (holds == "body"):
                return False
        elif not isinstance(node, ast.With | ast.AsyncWith | ast.Expr | ast.Assign | ast.Call):
            return False
    return False


def catches(view: FileView, node: ast.AST, names: frozenset[str]) -> bool:
    """Whether a ``try`` around the node, in its function, has a handler that names one of these exceptions."""
    for parent, child in _ancestors(view, node):
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return False
        if isinstance(parent, ast.Try) and _field(parent, child) == "body":
            types = [handler.type for handler in parent.handlers if handler.type is not None]
            if any(isinstance(n, ast.Name) and n.id in names for one in types for n in ast.walk(one)):
                return True
    return False


def _on_either_side(view: FileView, first: ast.AST, second: ast.AST) -> bool:
    """Whether the nodes run under opposite conditions: ``if use_amp:`` and later ``if not use_amp:``."""
    needed = _conditions(view, first)
    return any(needed.get(test, holds) != holds for test, holds in _conditions(view, second).items())


def _conditions(view: FileView, node: ast.AST) -> dict[str, bool]:
    """Enclosing conditions whose value cannot change within the function, and their value at the node."""
    found: dict[str, bool] = {}
    for parent, child in _ancestors(view, node):
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            break
        if not isinstance(parent, ast.If | ast.IfExp) or child is parent.test:
            continue
        test, holds = parent.test, _field(parent, child) == "body"
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, holds = test.operand, not holds
        if _is_constant(view, test):
            found[ast.dump(test)] = holds
    return found


def _is_constant(view: FileView, test: ast.expr) -> bool:
    """Whether the function assigns nothing that a condition reads: ``args.fp16``, ``scaler is not None``."""
    scope = next((view.tree.scopes[n].function() for n in ast.walk(test) if isinstance(n, ast.Name)), None)
    for node in ast.walk(test):
        if not isinstance(node, _READ):
            return False
        if isinstance(node, ast.Name) and len(view.tree.scopes[node].lookup(node.id)) > 1:
            return False
        if isinstance(node, ast.Attribute) and scope in view.provide(_stored_in).get(node.attr, ()):
            return False
    return scope is not None


def _stored_in(view: FileView) -> dict[str, set[Scope]]:
    """The functions that store to an attribute, by its name."""
    found: dict[str, set[Scope]] = {}
    for store in view.tree.stores:
        found.setdefault(store.target.attr, set()).add(store.scope.function())
    return found


def _ancestors(view: FileView, node: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """The ancestors of ``node``, innermost first, each with its child that contains the node."""
    found: list[tuple[ast.AST, ast.AST]] = []
    child, parent = node, view.parent(node)
    while parent is not None:
        found.append((parent, child))
        child, parent = parent, view.parent(parent)
    return found


def _field(node: ast.AST, child: ast.AST) -> str:
    """The field of ``node`` that has ``child``."""
    for name, value in ast.iter_fields(node):
        if value is child or (isinstance(value, list) and any(v is child for v in value)):
            return name
    return ""


def loop_around(view: FileView, node: ast.AST) -> Loop | None:
    """The innermost loop statement of the same function around ``node``."""
    return next(loops_around(view, node), None)


def loops_around(view: FileView, node: ast.AST) -> Iterator[Loop]:
    """The loop statements of the same function around ``node``, the innermost first."""
    parent = view.parent(node)
    while parent is not None and not isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        if isinstance(parent, Loop):
            yield parent
        parent = view.parent(parent)
