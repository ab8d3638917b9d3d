"""Decides which modules must be imported for the new text, and beside which statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch.plan.model.changes import Import
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.statements import block_of
from paddletorch.resolve import Binding


def needed_modules(view: FileView, imports: Iterable[Import]) -> dict[ast.stmt, list[str]]:
    """Modules to import, by the statement beside which they are imported."""
    statements_by_module: dict[str, set[ast.stmt]] = {}
    for one in imports:
        if not _has_module(view, _root(one.node), one.module):
            found = _imports_for(view, one.node) if one.site is None else _imports_of(view, one.site)
            statements_by_module.setdefault(one.module, set()).update(found)
    needs: dict[ast.stmt, list[str]] = {}
    for module in sorted(statements_by_module):
        for statement in _without_needless(view, statements_by_module[module]):
            needs.setdefault(statement, []).append(module)
    return needs


def _imports_of(view: FileView, site: Site) -> list[ast.stmt]:
    """The imports that bind a site's name; if there is none, the first imports of the source framework."""
    found: list[ast.stmt] = [b.node for b in site.anchor.bindings if isinstance(b.node, ast.Import | ast.ImportFrom)]
    if found:
        return found
    return list(view.tree.stars) if site.anchor.kind == "free" else _first_source_imports(view)


def _without_needless(view: FileView, needs: set[ast.stmt]) -> set[ast.stmt]:
    """Remove needless statements: an import at the top serves the code below it, one in a block the rest of the block.

    In a document each cell that needs an import has its own, since it may be run alone.
    """
    top = [s for s in needs if isinstance(view.parent(s), ast.Module)]
    if top:
        first = min(s.lineno for s in top)
        needs = {*top, *(s for s in needs if s.lineno < first)}
    blocks: dict[tuple[int, int], ast.stmt] = {}
    for statement in sorted(needs, key=lambda s: s.lineno):
        blocks.setdefault((id(block_of(view, statement)), view.source.cell(statement.lineno)), statement)
    return set(blocks.values())


def _root(node: ast.expr) -> ast.AST:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _has_module(view: FileView, node: ast.AST, module: str) -> bool:
    scope = view.tree.scopes.get(node, view.tree.scope)
    if any(b.qualified == module and _runs_before(view, b, node) for b in scope.lookup(module)):
        return True
    names = view.module_imports.get(module, ())
    return any(scope.lookup(name) is view.tree.scope.bindings[name] for name in names)


def _runs_before(view: FileView, binding: Binding, node: ast.AST) -> bool:
    """Whether an import runs before ``node``: it is at module level, or earlier in a block around the node."""
    if binding.scope is view.tree.scope or not isinstance(binding.node, ast.stmt):
        return True
    around: list[ast.AST] = []
    current: ast.AST | None = node
    while current is not None:
        around.append(current)
        current = view.parent(current)
    block = block_of(view, binding.node)
    return any(s in around and s.lineno >= binding.node.lineno for s in block)


def _imports_for(view: FileView, node: ast.expr) -> list[ast.stmt]:
    """The imports of the source beside which a module is imported; if there is none, the first statement."""
    scope = view.tree.scopes.get(node)
    while scope is not None and scope is not view.tree.scope:
        for bindings in scope.bindings.values():
            for binding in bindings:
                root = (binding.qualified or "").partition(".")[0]
                if root != view.settings.source or not isinstance(binding.node, ast.stmt):
                    continue
                if _runs_before(view, binding, node):
                    return [binding.node]
        scope = scope.parent
    return _first_source_imports(view) or _first_statement(view)


def _first_statement(view: FileView) -> list[ast.stmt]:
    """The statement before which an import is inserted, in a file that imports nothing of the source."""
    for number, statement in enumerate(view.tree.module.body):
        docstring = number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (docstring or future or isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)):
            return [statement]
    return []


def _first_source_imports(view: FileView) -> list[ast.stmt]:
    for bindings in view.tree.scope.bindings.values():
        for binding in bindings:
            root = (binding.qualified or "").partition(".")[0]
            if root == view.settings.source and isinstance(binding.node, ast.stmt):
                return [binding.node]
    return []
