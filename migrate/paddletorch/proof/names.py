"""Which names the text of a module uses: of a framework, and of the objects it handles."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Framework


def members(text: str) -> Iterator[str]:
    """The attributes that ``text`` uses of anything but what it imports."""
    tree = ast.parse(text)
    imported = _imported(tree)
    for node in _chains(tree):
        root = _root(node)
        if not (isinstance(root, ast.Name) and root.id in imported):
            yield node.attr


def leftovers(text: str, framework: Framework) -> Iterator[str]:
    """Each use in ``text`` of ``framework`` or of a name imported from it; an import that nothing uses is none."""
    tree = ast.parse(text)
    imported = {framework: framework, **_imported(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and imported.get(node.id, "").partition(".")[0] == framework:
            yield next((ast.unparse(n) for n in _chains(tree) if _root(n) is node), node.id)


def _imported(tree: ast.AST) -> dict[str, str]:
    """What each name that is bound by an import stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _chains(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Attribute accesses, the longest of a chain first."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))


def _root(node: ast.AST) -> ast.AST:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node
