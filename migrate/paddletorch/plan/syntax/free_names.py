"""Names for new variables."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch.plan.model.view import FileView


def free_name(view: FileView, node: ast.AST, wanted: str, others: Iterable[str] = ()) -> str:
    """``wanted``, with a number appended if the function around ``node``, the module or ``others`` use that name."""
    tree = view.tree
    function = tree.scopes[node].function()
    taken = {*tree.scope.bindings, *others}
    taken |= {name for scope in tree.own.values() if scope.function() is function for name in scope.bindings}
    taken |= {load.id for load in tree.loads if tree.scopes[load].function() is function}
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name
