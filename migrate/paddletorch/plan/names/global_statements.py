"""Renames a framework in ``global torch`` and ``nonlocal torch``, where imports in that function bind it for others."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping

from paddletorch.model import Edit, Span
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.import_statements import Clause
from paddletorch.resolve import Binding, Scope

Imported = Mapping[ast.stmt, list[tuple[Binding, Clause]]]
"""The names that import statements bind, each with what becomes of it."""


def redirection_edits(
    view: FileView, imported: Imported, needs: Mapping[ast.stmt, Collection[str]], renamed: Collection[Span]
) -> Iterator[Edit]:
    """Name the target wherever the source is named, or where an import of the target now stands beside another.

    Where nothing there binds the source's name, that stays if the function has the target's name for a variable of its
    own, or may read it above. ``renamed`` are places where the target's name stands from now on: ``torch = None``.
    """

    def is_renamed(binding: Binding) -> bool:
        return isinstance(binding.node, ast.Name) and view.source.span(binding.node) in renamed

    gone = {id(b) for pairs in imported.values() for b, c in pairs if c.target is not None or c.drop}
    binding_target = {s for s, pairs in imported.items() if any(_binds_target(view, *pair) for pair in pairs)}
    binding_target |= {s for s, modules in needs.items() if view.target in modules}
    for node, scope in view.tree.redirections:
        names: list[str] = []
        for name in node.names:
            bindings = scope.lookup(name)
            targets = [b for b in bindings if b.node in binding_target]
            is_lost = (
                name == view.settings.source and bool(targets) and all(id(b) in gone or is_renamed(b) for b in bindings)
            )
            binds = _any_in(view, scope, targets)
            is_lost = is_lost and (binds or (view.target not in scope.bindings and _is_first(view, node)))
            names += [] if is_lost else [name]
            if is_lost or binds:
                names.append(view.target)
        names = list(dict.fromkeys(names))
        if names != node.names:
            keyword = "global" if isinstance(node, ast.Global) else "nonlocal"
            yield Edit(view.source.span(node), f"{keyword} {', '.join(names)}")


def _is_first(view: FileView, statement: ast.stmt) -> bool:
    """Whether nothing but declarations and a docstring stands above the statement in its function."""
    function = view.parent(statement)
    body = function.body if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else []
    above = body[: body.index(statement)] if statement in body else [statement]
    return all(isinstance(s, ast.Global | ast.Nonlocal) or _is_docstring(s) for s in above) and bool(body)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _binds_target(view: FileView, binding: Binding, clause: Clause) -> bool:
    """Whether ``import torch`` becomes an import that binds the target's own name."""
    plain = isinstance(binding.node, ast.Import) and clause.alias.asname is None
    return plain and (clause.target or "").partition(".")[0] == view.target


def _any_in(view: FileView, scope: Scope, bindings: Iterable[Binding]) -> bool:
    """Whether one of the imports stands in the code of ``scope`` itself."""
    for binding in bindings:
        node: ast.AST | None = binding.node
        while node is not None and node not in view.tree.own:
            node = view.parent(node)
        if node is not None and view.tree.own[node] is scope:
            return True
    return False
