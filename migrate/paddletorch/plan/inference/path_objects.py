"""Values that may be path objects such as ``Path(folder) / "last.pt"``, where the target's functions take strings."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding
from paddletorch.resolve.evaluator.call_index import argument_of, is_method

_MAKE_PATHS = frozenset(
    {"Path", "PurePath", "PosixPath", "with_suffix", "with_name", "joinpath", "resolve", "absolute"}
)
_DEPTH = 5


class PathObjects:
    """Answers about the values of one file, by what it assigns, annotates and passes; no file is one."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._known: dict[tuple[ast.expr, int], bool] = {}
        """By the expression, and by how many steps from it may be taken: the calls of a function share much."""

    def may_be(self, node: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether the value may be a path object."""
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, ast.Div)
        if isinstance(node, ast.Call):
            return ast.unparse(node.func).rpartition(".")[2] in _MAKE_PATHS
        key = node, depth
        if key not in self._known:
            self._known[key] = bool(depth) and any(
                _says_path(one) if is_annotation else self.may_be(one, depth - 1)
                for one, is_annotation in self._sources(node)
            )
        return self._known[key]

    def _sources(self, node: ast.expr) -> Iterator[tuple[ast.expr, bool]]:
        """What a variable or attribute gets its value from; with True where it is an annotation."""
        if isinstance(node, ast.IfExp):
            yield from ((node.body, False), (node.orelse, False))
        elif isinstance(node, ast.Attribute):
            for store in self._view.evaluator.stores_of(node):
                yield from _given(store.value, store.annotation)
        elif isinstance(node, ast.Name) and node in self._view.tree.scopes:
            for binding in self._view.evaluator.reaching(node):
                if binding.kind in ("assign", "parameter"):
                    yield from _given(binding.value, binding.annotation)
                if binding.kind == "parameter":
                    yield from ((argument, False) for argument in self._passed(binding))

    def _passed(self, parameter: Binding) -> Iterator[ast.expr]:
        """What the file's calls of the function give the parameter."""
        function = parameter.scope.node
        if isinstance(function, ast.FunctionDef):
            for call in self._view.evaluator.calls.of(function):
                argument = argument_of(call, function, parameter.name, is_method(parameter.scope))
                if argument is not None:
                    yield argument


def _given(value: ast.expr | None, annotation: ast.expr | None) -> Iterator[tuple[ast.expr, bool]]:
    if annotation is not None:
        yield annotation, True
    if value is not None:
        yield value, False


def _says_path(annotation: ast.expr) -> bool:
    text = ast.unparse(annotation)
    return "Path" in text and "IO" not in text
