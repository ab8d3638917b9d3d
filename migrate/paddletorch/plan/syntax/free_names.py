"""Names for new variables."""

from __future__ import annotations

import ast
from collections.abc import Collection

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Scope


def free_name(view: FileView, node: ast.AST, wanted: str, others: Collection[str] = ()) -> str:
    """``wanted``, with a number appended if the function around ``node``, the module or ``others`` use that name."""
    tree = view.tree
    own = view.provide(_NamesOfFunctions).of(tree.scopes[node].function())
    number, name = 1, wanted
    while name in own or name in tree.scope.bindings or name in others:
        number += 1
        name = f"{wanted}_{number}"
    return name


class _NamesOfFunctions:
    """The names that each function binds or reads."""

    def __init__(self, view: FileView) -> None:
        self._names: dict[Scope, set[str]] = {}
        for scope in view.tree.own.values():
            self._names.setdefault(scope.function(), set()).update(scope.bindings)
        for load in view.tree.loads:
            self._names.setdefault(view.tree.scopes[load].function(), set()).add(load.id)

    def of(self, function: Scope) -> Collection[str]:
        return self._names.get(function, ())
