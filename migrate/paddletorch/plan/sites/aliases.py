"""Which names of a file may hold an API that is used as a value: ``norm_layer=nn.LayerNorm``.

A quick over-approximation by names alone; the evaluator then decides what the names really hold.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from paddletorch.plan.model.view import FileView

_CONTAINER_FUNCTIONS = frozenset(
    "dict partial list tuple set frozenset zip getattr OrderedDict defaultdict deepcopy copy next".split()
)
"""Functions whose result contains their arguments."""

_PASSING_ON = frozenset(
    {ast.BinOp, ast.BoolOp, ast.Compare, ast.Dict, ast.IfExp, ast.List, ast.Set, ast.Starred, ast.Subscript, ast.Tuple}
)
"""Expressions around one that pass it on without a name."""

_ELEMENT_METHODS = frozenset({"get", "pop", "values", "items", "copy", "setdefault"})
"""Methods that return elements of a container."""


def names_that_may_hold(view: FileView, expressions: Iterable[ast.expr]) -> frozenset[str]:
    """Names of variables, parameters, attributes and functions that may hold or return one of the expressions."""
    return frozenset(view.provide(_Propagation).run(expressions))


class _Propagation:
    def __init__(self, view: FileView) -> None:
        self._parents = view.tree.parents
        self._names = view.tree.names
        self._members = view.tree.members
        self._receiving: dict[ast.AST, frozenset[str]] = {}
        self._functions: dict[str, list[ast.arguments]] = {}
        self._by_position: dict[tuple[str, int], frozenset[str]] = {}
        """Parameters that take what is passed to a function, by its name and the argument's position."""
        for node in view.tree.own:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                owner = self._parents.get(node)
                self._functions.setdefault(node.name, []).append(node.args)
                if node.name == "__init__" and isinstance(owner, ast.ClassDef):
                    self._functions.setdefault(owner.name, []).append(node.args)

    def run(self, expressions: Iterable[ast.expr]) -> set[str]:
        queue = list(expressions)
        found: set[str] = set()
        receiving = self._receiving
        while queue:
            node = queue.pop()
            names = receiving.get(node)
            if names is None:
                names = receiving[node] = frozenset(self._receiving_names(node))
            for name in names:
                if name not in found:
                    found.add(name)
                    queue += self._names.get(name, ())
                    queue += self._members.get(name, ())
        return found

    def _receiving_names(self, start: ast.AST) -> Iterator[str]:
        """Names that the expression's value is assigned or passed to."""
        node = start
        while True:
            parent = self._parents.get(node)
            if parent is None:
                return
            if parent.__class__ in _PASSING_ON:
                node = parent
                continue
            if isinstance(parent, ast.Attribute):
                if parent.attr not in _ELEMENT_METHODS:
                    return
            elif isinstance(parent, ast.Call):
                if parent.func is node:
                    if _name(node) not in self._functions and not _is_element(node):
                        return
                else:
                    yield from self._parameters(parent, node)
                    if _name(parent.func) not in _CONTAINER_FUNCTIONS:
                        return
            elif isinstance(parent, ast.keyword):
                if parent.arg is not None:
                    yield parent.arg
                call = self._parents.get(parent)
                if not isinstance(call, ast.Call) or _name(call.func) not in _CONTAINER_FUNCTIONS:
                    return
                parent = call
            elif isinstance(parent, ast.arguments):
                yield from _defaulted(parent, node)
                return
            elif isinstance(parent, ast.NamedExpr):
                yield from _targets(parent.target)
            elif isinstance(parent, ast.Assign):
                for target in parent.targets:
                    yield from _targets(target)
                return
            elif isinstance(parent, ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor | ast.comprehension):
                yield from _targets(parent.target)
                return
            elif isinstance(parent, ast.Return | ast.Yield):
                yield from self._enclosing_function(parent)
                return
            elif isinstance(parent, ast.stmt):
                return
            node = parent

    def _parameters(self, call: ast.Call, argument: ast.AST) -> frozenset[str]:
        index = next((i for i, a in enumerate(call.args) if a is argument), None)
        if index is None:
            return frozenset()
        key = _name(call.func), index
        found = self._by_position.get(key)
        if found is None:
            functions = self._functions.get(key[0], ())
            parameters = ((*a.posonlyargs, *a.args)[index : index + 2] for a in functions)  # with or without ``self``
            found = self._by_position[key] = frozenset(one.arg for some in parameters for one in some)
        return found

    def _enclosing_function(self, node: ast.AST) -> Iterator[str]:
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef):
            current = self._parents.get(current)
        if current is not None:
            yield current.name


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_element(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _ELEMENT_METHODS


def _defaulted(arguments: ast.arguments, default: ast.AST) -> Iterator[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    last = positional[len(positional) - len(arguments.defaults) :]
    for argument, value in zip(last, arguments.defaults, strict=True):
        if value is default:
            yield argument.arg
    for argument, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if keyword_default is default:
            yield argument.arg


def _targets(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        yield target.attr
    elif isinstance(target, ast.Subscript | ast.Starred):
        yield from _targets(target.value)
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from _targets(element)
