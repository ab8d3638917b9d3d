"""The names and dotted paths of one file by what is written: where ``self.scaler`` stands."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property

from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.resolve import Binding

_PATHS = frozenset({ast.Name, ast.Attribute})
"""There are many nodes, and Python tests their class faster than with ``isinstance``."""


class Paths:
    """Names and attributes by their path, and what is called on them."""

    def __init__(self, view: FileView) -> None:
        self._tree = view.tree
        self._names: dict[str, dict[int, list[ast.Name]]] = {}
        """By name and by the identity of the list of bindings that it means."""

    def of(self, path: str) -> list[ast.Name | ast.Attribute]:
        """The names and attributes with the path, read or assigned."""
        return self._nodes.get(path, [])

    def names(self, bindings: Sequence[Binding]) -> list[ast.Name]:
        """The names that mean ``bindings``, which are all bindings of one name, read or assigned."""
        if not bindings:
            return []
        name = bindings[0].name
        if name not in self._names:
            found: dict[int, list[ast.Name]] = {}
            for node in self.of(name):
                if isinstance(node, ast.Name):
                    found.setdefault(id(self._tree.scopes[node].lookup(name)), []).append(node)
            self._names[name] = found
        return self._names[name].get(id(bindings), [])

    @cached_property
    def _nodes(self) -> dict[str, list[ast.Name | ast.Attribute]]:
        found: dict[str, list[ast.Name | ast.Attribute]] = {}
        for node in self._tree.scopes:
            if node.__class__ in _PATHS and (path := path_of(node)):  # type: ignore[arg-type]
                if path in found:
                    found[path].append(node)  # type: ignore[arg-type]
                else:
                    found[path] = [node]  # type: ignore[list-item]
        return found
