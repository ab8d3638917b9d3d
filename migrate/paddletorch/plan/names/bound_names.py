"""Which names are bound on every path to a place of the file."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Bound, DefiniteAssignment


def is_bound(view: FileView, name: str, node: ast.AST) -> bool:
    """Whether ``name`` is bound wherever ``node`` is evaluated: with both frameworks, and with the target alone."""
    flow = view.provide(_assignment)
    scope = flow.scope_at(node)
    bindings = scope.lookup(name)
    if len(bindings) == 1 and bindings[0].kind == "import" and _is_above(view, bindings[0].node, node):
        return True
    if flow.named(name, node, scope) is not Bound.ALWAYS:
        return False
    return view.provide(_assignment_with_target).named(name, node, scope) is Bound.ALWAYS


def star_may_bind(view: FileView, name: str, node: ast.AST, own: Collection[str]) -> bool:
    """Whether an ``import *`` may give the name to something else at ``node``, where its own import may not have run.

    ``own`` are the qualified names that the import binds it to.
    """
    others = view.evaluator.bare.get(name, frozenset()).difference(own) if view.tree.stars else ()
    return bool(others) and not is_bound(view, name, node)


def runs_before(view: FileView, statement: ast.stmt, node: ast.AST) -> bool:
    """Whether ``statement`` runs on every path to ``node``."""
    return _is_above(view, statement, node) or view.provide(_assignment).after([statement], node) is Bound.ALWAYS


def may_run_before(view: FileView, statements: Iterable[ast.stmt], node: ast.AST) -> bool:
    """Whether one of ``statements`` runs on a path to ``node``."""
    return view.provide(_assignment).after(statements, node) is not Bound.NEVER


def _assignment(view: FileView) -> DefiniteAssignment:
    return DefiniteAssignment(view.tree, (view.settings.source, view.target))


def _assignment_with_target(view: FileView) -> DefiniteAssignment:
    return DefiniteAssignment(view.tree, (view.target,))


def _is_above(view: FileView, statement: ast.AST, node: ast.AST) -> bool:
    """Whether ``statement`` stands on top of the module, above the line of ``node``."""
    if not isinstance(statement, ast.stmt) or view.parent(statement) is not view.tree.module:
        return False
    return (statement.end_lineno or statement.lineno) < getattr(node, "lineno", 0)
