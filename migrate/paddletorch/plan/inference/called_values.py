"""Which calls of a file may call an object, a partial object, or a class or function of the file."""

from __future__ import annotations

import ast

from paddletorch.plan.model.view import FileView
from paddletorch.resolve.values import Value, Values


class CalledValues:
    """The calls of one file by the kinds of what they may call."""

    def __init__(self, view: FileView) -> None:
        self._calls: dict[type[Value], list[ast.Call]] = {}
        kinds: dict[Values, list[list[ast.Call]]] = {}
        for call in view.tree.calls:
            values = view.evaluator.values(call.func)
            if values not in kinds:
                kinds[values] = [self._calls.setdefault(kind, []) for kind in {v.__class__ for v in values}]
            for calls in kinds[values]:
                calls.append(call)

    def of(self, kind: type[Value]) -> list[ast.Call]:
        """The calls whose callee may be a value of this kind, in the order of the tree."""
        return self._calls.get(kind, [])
