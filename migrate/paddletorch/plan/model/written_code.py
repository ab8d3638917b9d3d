"""Code that an earlier conversion has written into the file: functions and classes of the tables."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from typing import TypeVar

from paddletorch_rules.adapters import Definition, functions

from paddletorch.plan.model.view import FileView

Node = TypeVar("Node", bound=ast.expr)


def is_written(view: FileView, node: ast.expr | ast.stmt) -> bool:
    """Whether an expression or statement stands in a function that an earlier conversion has written into the file."""
    return any(first <= node.lineno <= last for first, last in view.provide(_written_lines))


def outside_of_written(view: FileView, nodes: Iterable[Node]) -> list[Node]:
    """Those that stand in none of these functions, whose text is the target's already."""
    if not view.provide(_written_lines):
        return list(nodes)
    return [node for node in nodes if not is_written(view, node)]


def _written_lines(view: FileView) -> list[tuple[int, int]]:
    known = functions(view.target)
    found = [s for s in view.tree.module.body if isinstance(s, ast.FunctionDef | ast.ClassDef) and s.name in known]
    return [(s.lineno, s.end_lineno or s.lineno) for s in found if is_same(s, known[s.name])]


def is_same(node: ast.FunctionDef | ast.ClassDef, one: Definition) -> bool:
    """Whether the file's definition is the one of the tables, whatever its layout."""
    return ast.dump(node) == _dumped(one.text)


@cache  # there are as many as the tables have functions
def _dumped(text: str) -> str:
    return ast.dump(ast.parse(text).body[0])
