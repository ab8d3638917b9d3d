"""A file that was read and parsed, with its scopes."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from paddletorch.resolve.scopes.scopes import ScopeTree
from paddletorch.resolve.scopes.string_annotations import expand_string_annotations
from paddletorch.text.source import Source


@dataclass(eq=False, slots=True)
class Parsed:
    """One file. ``users`` counts those who still need it."""

    source: Source
    module: ast.Module
    tree: ScopeTree
    users: int = 0

    @classmethod
    def of(cls, source: Source, module: ast.Module) -> Parsed:
        """Find the scopes of a module, those of annotations in quotes included."""
        tree = ScopeTree(module)
        expand_string_annotations(tree, lambda node: source.slice(source.span(node)))
        return cls(source, module, tree)
