"""What hooks of several areas ask of an argument, and the two ways to use or refuse it."""

from __future__ import annotations

import ast
from typing import NoReturn

from paddletorch_rules.hooks.protocol import BoundCall

PURE = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Slice, ast.UnaryOp, ast.unaryop, ast.expr_context)
"""Nodes of expressions that have no effect and cost next to nothing."""

PLAIN = (*PURE, ast.BinOp, ast.operator, ast.List, ast.Tuple)
"""Nodes of expressions that have no effect, but may be worth computing once only."""


def is_pure(node: ast.expr | None) -> bool:
    """Whether the expression may be evaluated twice."""
    return node is not None and all(isinstance(n, PURE) for n in ast.walk(node))


def is_plain(node: ast.expr) -> bool:
    """Whether the expression's text holds nothing that converts: no call of anything."""
    return all(isinstance(n, PLAIN) for n in ast.walk(node))


def bind_names(call: BoundCall, template: str, **names: str) -> str:
    """``template`` with its holes evaluated once: as it is if the arguments are pure, else inside a lambda.

    ``names`` are the holes that stand in the template more than once, target name to source name.
    """
    if all(is_pure(call.value(source)) for source in names.values()):
        return template
    body = template
    for hole in names:
        body = body.replace("{" + hole + "}", f"_{hole}")
    return f"(lambda {', '.join(f'_{n}' for n in names)}: {body})({', '.join('{' + n + '}' for n in names)})"


def no_counterpart(call: BoundCall, parameter: str, value: str | None = None) -> NoReturn:
    """Leave the call as it is: the target has nothing like the argument.

    Raises:
        Exception: the engine's refusal, always.
    """
    node = call.value(parameter)
    call.stop("API221", parameter=parameter, value=value or ("..." if node is None else ast.unparse(node)))


def only(call: BoundCall, parameter: str, value: str) -> None:
    """Take a variable for ``value``, which is checked as the code runs."""
    node = call.value(parameter)
    if not isinstance(node, ast.Name | ast.Attribute) or not is_pure(node):
        no_counterpart(call, parameter)
    call.drop(parameter)
    call.surround("(", f", {{{{'{value}': None}}}}[{{{parameter}}}])[0]")
    call.report("API228", parameter=parameter, neutral=repr(value), value=ast.unparse(node))


def is_call_of(node: ast.expr | None, name: str) -> bool:
    """Whether it calls something of this name, in whatever module."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name
