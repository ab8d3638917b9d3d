"""Defaults of parameters that the body writes out: ``norm_layer = norm_layer or nn.LayerNorm``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.scopes.scopes import ScopeTree


def defaults(tree: ScopeTree, parameter: Binding) -> Iterator[ast.expr]:
    """The parameter's default and what the function assigns to it where no argument is given."""
    if parameter.value is not None:
        yield parameter.value
    for other in parameter.scope.bindings.get(parameter.name, ()):
        if other.kind == "assign" and other.value is not None:
            yield from _written(tree, parameter.name, other)


def _written(tree: ScopeTree, name: str, assigned: Binding) -> Iterator[ast.expr]:
    value = assigned.value
    if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or) and _is_name(value.values[0], name):
        yield from value.values[1:]
    elif isinstance(value, ast.IfExp) and _is_name(value.orelse, name) and _is_absent(value.test, name):
        yield value.body
    elif isinstance(value, ast.IfExp) and _is_name(value.body, name) and _is_given(value.test, name):
        yield value.orelse
    elif value is not None and _is_where_absent(tree, name, assigned.node):
        yield value


def _is_where_absent(tree: ScopeTree, name: str, target: ast.AST) -> bool:
    """Whether the assignment is directly in the body of ``if name is None:``."""
    statement: ast.AST | None = target
    while statement is not None and not isinstance(statement, ast.stmt):
        statement = tree.parents.get(statement)
    test = tree.parents.get(statement) if statement is not None else None
    return isinstance(test, ast.If) and statement in test.body and _is_absent(test.test, name)


def _is_absent(test: ast.expr, name: str) -> bool:
    """Whether the test is ``name is None`` or ``not name``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_name(test.operand, name)
    return _compares_with_none(test, name, ast.Is | ast.Eq)


def _is_given(test: ast.expr, name: str) -> bool:
    """Whether the test is ``name is not None`` or ``name``."""
    return _is_name(test, name) or _compares_with_none(test, name, ast.IsNot | ast.NotEq)


def _compares_with_none(test: ast.expr, name: str, operators: object) -> bool:
    if not isinstance(test, ast.Compare) or not _is_name(test.left, name) or len(test.ops) != 1:
        return False
    other = test.comparators[0]
    return isinstance(test.ops[0], operators) and isinstance(other, ast.Constant) and other.value is None  # type: ignore[arg-type]


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
