"""Which function of torch, or method of an unseen object, each call may call: by the last part of its name."""

from __future__ import annotations

import ast
from collections.abc import Set

from paddletorch.plan.model.view import FileView
from paddletorch.resolve.facts.dtypes import function_name


def called_function(view: FileView, call: ast.Call) -> str:
    """The function or method by its last part; empty for the functions of other packages and of the file."""
    name = view.qualified(call.func)
    if name is not None:
        return function_name(name) if name.startswith("torch.") else ""
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


class CallsByFunction:
    """The calls of one file by the function or method that each calls."""

    def __init__(self, view: FileView) -> None:
        self._calls: dict[str, list[ast.Call]] = {}
        for call in view.tree.calls:
            self._calls.setdefault(called_function(view, call), []).append(call)

    def of(self, names: Set[str]) -> list[ast.Call]:
        """The calls of functions with these names."""
        return [call for name in sorted(names & self._calls.keys()) for call in self._calls[name]]
