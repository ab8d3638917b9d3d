"""Fallbacks that never run: what a name is if an import of the source fails, where every allowed release has it.

``try: autocast = torch.cuda.amp.autocast`` with ``except: class autocast: ...`` in a file that imports torch anyway.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding


def never_runs(view: FileView, binding: Binding) -> bool:
    """Whether the binding stands in a handler of a ``try`` whose body cannot fail."""
    handler: ast.AST | None = None
    node: ast.AST | None = binding.node
    while node is not None and not isinstance(node, ast.Try):
        handler, node = node, view.parent(node)
    return isinstance(handler, ast.ExceptHandler) and isinstance(node, ast.Try) and _cannot_fail(view, node)


def _cannot_fail(view: FileView, guard: ast.Try) -> bool:
    names = [name for statement in guard.body for name in _named(view, statement)]
    return all(name is not None and _is_in_all(view, name) for name in names) and _is_imported_before(view, guard)


def _named(view: FileView, statement: ast.stmt) -> Iterator[str | None]:
    """The names that a statement imports or reads; None for anything else that it does."""
    if isinstance(statement, ast.ImportFrom) and not statement.level:
        yield from (f"{statement.module}.{alias.name}" for alias in statement.names)
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Attribute):
        yield view.qualified(statement.value)
    else:
        yield None


def _is_in_all(view: FileView, name: str) -> bool:
    """Whether every allowed release of the source has the API."""
    found = view.settings.lookup(name)
    if found is None or name.partition(".")[0] != view.settings.source:
        return False
    return found[1].available(view.settings.source_releases.versions)


def _is_imported_before(view: FileView, guard: ast.Try) -> bool:
    """Whether the module imports the source above, and ends where that fails."""
    for statement in view.tree.module.body:
        if isinstance(statement, ast.Import | ast.ImportFrom) and statement.lineno < guard.lineno:
            level = statement.level if isinstance(statement, ast.ImportFrom) else 0
            module = statement.module or "" if isinstance(statement, ast.ImportFrom) else ""
            names = [module] if module else [alias.name for alias in statement.names]
            if not level and any(name.partition(".")[0] == view.settings.source for name in names):
                return True
    return False
