"""Facts about a whole file that are evidence for its receivers."""

from __future__ import annotations

import ast
from functools import cached_property

from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.resolve.scopes.bindings import Scope


class FileFacts:
    """Facts about a whole file that are evidence for its receivers; each is computed when first read."""

    def __init__(self, view: FileView) -> None:
        self._view = view

    @cached_property
    def methods(self) -> dict[str, set[str]]:
        """The names of the methods called on each dotted path."""
        found: dict[str, set[str]] = {}
        for call in self._view.tree.calls:
            if isinstance(call.func, ast.Attribute):
                found.setdefault(path_of(call.func.value), set()).add(call.func.attr)
        return found

    @cached_property
    def attributes(self) -> dict[tuple[Scope | None, str], set[str]]:
        """The names of the attributes that a scope reads of each dotted path, and ``()`` of one that it calls."""
        found: dict[tuple[Scope | None, str], set[str]] = {}
        for node in self._view.tree.attributes:
            if isinstance(node.ctx, ast.Load) and (path := path_of(node.value)):
                found.setdefault((scope_of(self._view, node.value), path), set()).add(node.attr)
        for call in self._view.tree.calls:
            if path := path_of(call.func):
                found.setdefault((scope_of(self._view, call.func), path), set()).add("()")
        return found

    @cached_property
    def class_members(self) -> frozenset[str]:
        """Names that classes of this file define, such as their methods."""
        return frozenset(name for s in self._view.tree.own.values() if s.kind == "class" for name in s.bindings)

    @cached_property
    def imports_source(self) -> bool:
        """Whether the file imports anything of the source framework, or names it as documentation does."""
        return self._view.has_code_of(self._view.settings.source)

    @cached_property
    def names_shim(self) -> bool:
        """Whether the file names the runtime shim."""
        return b"paddletorch_shim" in self._view.source.body


def scope_of(view: FileView, node: ast.expr) -> Scope | None:
    """The scope of the variable with which a dotted path begins."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return view.tree.scopes.get(node)
