"""What a file stores in attributes and in elements of containers, by their names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.inference.shared_memory import SharedMemory
from paddletorch.plan.model.view import FileView

KEEPING = frozenset("add append appendleft extend insert put put_nowait register_buffer send setdefault".split())
"""Methods of containers and objects that keep what they are given."""


class StoredValues:
    """An index for one file, which looks up each name once."""

    def __init__(self, view: FileView, memory: SharedMemory) -> None:
        self._view = view
        self._tree = view.tree
        self._memory = memory
        self._kept: dict[str, list[tuple[ast.Attribute, str]]] = {}
        self._attributes: dict[str, list[ast.expr]] = {}
        self._set: dict[str, list[ast.expr]] = {}

    def members_kept(self, name: str) -> list[tuple[ast.Attribute, str]]:
        """The reads of an attribute of that name that are returned or kept elsewhere, with the text of what is kept."""
        if name not in self._kept:
            self._kept[name] = list(self._members(name))
        return self._kept[name]

    def of_attribute(self, name: str) -> list[ast.expr]:
        """What is assigned to attributes of that name."""
        if name not in self._attributes:
            stores = self._tree.stores_by_name.get(name, ())
            self._attributes[name] = [store.value for store in stores if store.value is not None]
        return self._attributes[name]

    def in_elements(self, name: str) -> list[ast.expr]:
        """What is assigned to elements of a container of that name, or appended to it."""
        if name not in self._set:
            self._set[name] = list(self._elements(name))
        return self._set[name]

    def _members(self, name: str) -> Iterator[tuple[ast.Attribute, str]]:
        """The attributes of a name that are returned or kept elsewhere, and how what is kept is written."""
        for node in self._tree.members.get(name, ()):
            if not isinstance(node.ctx, ast.Load):
                continue
            view, parent = self._memory.outermost_view(node)
            if isinstance(parent, ast.Return) or _is_kept(view, parent):
                yield node, self._view.text(view)

    def _elements(self, name: str) -> Iterator[ast.expr]:
        """What is assigned to elements of a container of this name, or appended to it."""
        for load in self._tree.names.get(name, ()):
            parent = self._view.parent(load)
            user = self._view.parent(parent) if parent is not None else None
            if isinstance(parent, ast.Subscript) and parent.value is load:
                if isinstance(user, ast.Assign) and parent in user.targets:
                    yield user.value
            elif isinstance(user, ast.Call) and user.func is parent and _is_appending(parent):
                yield from user.args[:1]


def _is_kept(node: ast.expr, parent: ast.AST | None) -> bool:
    """Whether the expression is kept under another name, in an object or in a container."""
    if isinstance(parent, ast.Assign) and parent.value is node:
        return True
    function = parent.func if isinstance(parent, ast.Call) else None
    return isinstance(function, ast.Attribute) and function is not node and function.attr in KEEPING


def _is_appending(function: ast.AST | None) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "append"
