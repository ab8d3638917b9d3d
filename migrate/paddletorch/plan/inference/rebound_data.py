"""Data that code keeps before its tensor gets other data: ``backup[name] = p.data``, then ``p.data = shadow[name]``.

In torch the tensor then has other memory, and what was kept stays; Paddle writes into the same memory.
"""

from __future__ import annotations

import ast

from paddletorch.plan.model.view import FileView


def is_kept_before_rebinding(view: FileView, node: ast.Attribute) -> bool:
    """Whether ``x.data`` is kept as it is, and the same function gives ``x`` other data afterwards."""
    kept: ast.AST = node
    statement = view.parent(node)
    if isinstance(statement, ast.DictComp | ast.ListComp):
        collected = statement.value if isinstance(statement, ast.DictComp) else statement.elt
        kept, statement = (statement, view.parent(statement)) if collected is node else (node, None)
    if not isinstance(statement, ast.Assign) or statement.value is not kept or len(statement.targets) != 1:
        return False
    later = [store for store in _stores(view, node) if store.lineno > node.lineno]
    if not later or any(_is_changed(view, node, store) for store in later[:1]):
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return isinstance(target, ast.Subscript | ast.Attribute)
    reads = view.tree.reads(view.tree.scopes[target].lookup(target.id)) if target in view.tree.scopes else []
    end = later[0].end_lineno or later[0].lineno
    return any(read.lineno > end for read in reads)


def _stores(view: FileView, node: ast.Attribute) -> list[ast.Attribute]:
    """Where the function gives the tensor of this text other data."""
    function, text = _function(view, node), ast.unparse(node.value)
    found = [
        member
        for member in view.tree.members.get("data", ())
        if isinstance(member.ctx, ast.Store)
        and isinstance(view.parent(member), ast.Assign)
        and ast.unparse(member.value) == text
        and _function(view, member) is function
    ]
    return sorted(found, key=lambda member: member.lineno)


def _is_changed(view: FileView, kept: ast.Attribute, store: ast.Attribute) -> bool:
    """Whether the tensor is written in place in between, which what was kept would show."""
    text = ast.unparse(kept.value)
    calls = (call for call in view.tree.calls if kept.lineno < call.lineno < store.lineno)
    names = (call.func for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"))
    return any(ast.unparse(name.value).removesuffix(".data") == text for name in names)


def _function(view: FileView, node: ast.AST) -> ast.AST | None:
    found = view.parent(node)
    while found is not None and not isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        found = view.parent(found)
    return found
