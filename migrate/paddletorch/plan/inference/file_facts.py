"""Facts about a whole file that are evidence for its receivers."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from functools import cached_property

from paddletorch.plan.inference.allocations import Allocations
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.resolve.scopes.bindings import Binding, Scope

_ANY = "*"
"""In place of a variable: all that are written alike. No variable is called so."""


class FileFacts:
    """Facts about a whole file that are evidence for its receivers; each is computed when first read."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._objects = view.provide(Allocations)
        self._by_variable: dict[str, dict[Hashable, frozenset[str]]] = {}

    def methods(self, receiver: ast.expr, *, by_name: bool = False) -> frozenset[str]:
        """The names of the methods called on the variable that the receiver is; ``by_name``: or on one of its name."""
        path = path_of(receiver)
        if path not in self._by_variable:
            found: dict[Hashable, set[str]] = {_ANY: set()}
            for other, name in self._calls_on.get(path, ()):
                found.setdefault(self._objects.variable(other), set()).add(name)
                found[_ANY].add(name)
            self._by_variable[path] = {variable: frozenset(names) for variable, names in found.items()}
        return self._by_variable[path].get(_ANY if by_name else self._objects.variable(receiver), frozenset())

    @cached_property
    def _calls_on(self) -> dict[str, list[tuple[ast.expr, str]]]:
        """The receivers of methods and the methods' names, by what is written."""
        found: dict[str, list[tuple[ast.expr, str]]] = {}
        for call in self._view.tree.calls:
            if isinstance(call.func, ast.Attribute):
                found.setdefault(path_of(call.func.value), []).append((call.func.value, call.func.attr))
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
        return frozenset(self._members)

    def may_take(self, call: ast.Call, name: str) -> bool:
        """Whether a member of this name that a class of the file defines may be what is called with these arguments."""
        functions = [binding.node for binding in self._members.get(name, ())]
        return any(not isinstance(one, ast.FunctionDef) or _takes(one.args, call) for one in functions)

    @cached_property
    def _members(self) -> dict[str, list[Binding]]:
        found: dict[str, list[Binding]] = {}
        for scope in self._view.tree.own.values():
            if scope.kind == "class" and not self._is_called_by_framework(scope.node):
                for name, bindings in scope.bindings.items():
                    found.setdefault(name, []).extend(bindings)
        return found

    def _is_called_by_framework(self, node: ast.AST | None) -> bool:
        """Whether the class is a function of automatic differentiation, on whose objects nobody calls ``backward``."""
        settings = self._view.settings
        bases = [self._view.qualified(base) for base in node.bases] if isinstance(node, ast.ClassDef) else []
        rows = [settings.lookup(base) for base in bases if base is not None]
        return any(found is not None and found[0].id == "autograd.Function" for found in rows)

    @cached_property
    def names_shim(self) -> bool:
        """Whether the file names the runtime shim."""
        return b"paddletorch_shim" in self._view.source.body


def _takes(parameters: ast.arguments, call: ast.Call) -> bool:
    """Whether a method with these parameters may be called so: it has the keywords, and room for the rest."""
    positional = [*parameters.posonlyargs, *parameters.args]
    names = {one.arg for one in (*parameters.args, *parameters.kwonlyargs)}
    unfit = parameters.kwarg is None and any(k.arg is not None and k.arg not in names for k in call.keywords)
    given = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
    return not unfit and (parameters.vararg is not None or len(given) <= len(positional))


def scope_of(view: FileView, node: ast.expr) -> Scope | None:
    """The scope of the variable with which a dotted path begins."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return view.tree.scopes.get(node)
