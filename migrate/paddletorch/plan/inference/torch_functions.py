"""Which function of torch, or method of an unseen object, each call may call: by the last part of its name."""

from __future__ import annotations

import ast
from collections.abc import Set

from paddletorch.plan.model.view import FileView

_OPERATORS = "torch.ops.aten."
"""What names of traced graphs begin with; the name of an overload may follow: ``torch.ops.aten.ne.Scalar``."""


def function_name(qualified: str) -> str:
    """The last part of a function's name; of an operator of ATen without its overload: ``mul.Tensor``."""
    operator = qualified.removeprefix(_OPERATORS)
    return operator.partition(".")[0] if operator != qualified else qualified.rpartition(".")[2]


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
