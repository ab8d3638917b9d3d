"""Which calls of a file may call an object, a partial object, or a class or function of the file."""

from __future__ import annotations

import ast

from paddletorch.plan.model.view import FileView
from paddletorch.resolve.values import Instance, Value, Values


class CalledValues:
    """The calls of one file by the kinds of what they may call."""

    def __init__(self, view: FileView) -> None:
        self._values = view.evaluator.values
        self._calls: dict[type[Value], list[ast.Call]] = {}
        kinds: dict[Values, list[list[ast.Call]]] = {}
        for call in view.tree.calls:
            values = view.evaluator.values(call.func)
            if values not in kinds:
                kinds[values] = [self._calls.setdefault(kind, []) for kind in {v.__class__ for v in values}]
            for calls in kinds[values]:
                calls.append(call)

    def of_object(self, made: ast.Call, api: str) -> list[ast.Call]:
        """The calls that may call what ``made`` makes: that object, or one of the API whose call is not seen."""
        return [call for call in self.of(Instance) if any(_may_be(v, made, api) for v in self._values(call.func))]

    def of(self, kind: type[Value]) -> list[ast.Call]:
        """The calls whose callee may be a value of this kind, in the order of the tree."""
        return self._calls.get(kind, [])


def _may_be(value: Value, made: ast.Call, api: str) -> bool:
    return isinstance(value, Instance) and value.api == api and value.call in (made, None)
