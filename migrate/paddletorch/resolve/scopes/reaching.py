"""Which bindings of a local variable can reach a use: a light form of reaching definitions.

A binding that always runs before the use replaces those before it: ``x`` after ``x = torch.from_numpy(x)`` is a
tensor, whatever it was above.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.scopes.scopes import ScopeTree

_KINDS = frozenset({"assign", "unpack", "iterate", "enter", "parameter", "augment"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)

_Position = tuple[int, int]


class ReachingDefinitions:
    """The reaching definitions of one module, each found once."""

    def __init__(self, tree: ScopeTree) -> None:
        self._tree = tree
        self._found: dict[ast.Name, Sequence[Binding]] = {}

    def of(self, load: ast.Name, bindings: Sequence[Binding]) -> Sequence[Binding]:
        """See :func:`reaching`; ``bindings`` are those that ``load`` can refer to."""
        found = self._found.get(load)
        if found is None:
            found = self._found[load] = reaching(self._tree, load, bindings)
        return found


def reaching(tree: ScopeTree, load: ast.Name, bindings: Sequence[Binding]) -> Sequence[Binding]:
    """Those of ``bindings`` that can reach ``load``; all of them where that cannot be told."""
    scope = tree.scopes[load].function()
    if len(bindings) < 2 or any(b.scope is not scope or b.kind not in _KINDS for b in bindings):
        return bindings
    around = _statements(tree, load)
    if not around:
        return bindings
    use = _position(around[0])
    inside = {id(s) for s in around}
    best: Binding | None = None
    for binding in bindings:
        if binding.kind == "augment" or not _dominates(tree, binding, around, inside):
            continue
        if best is None or _start(tree, binding) > _start(tree, best):
            best = binding
    if best is None:
        return bindings
    since = _start(tree, best)
    loops = [s for s in around if isinstance(s, _LOOPS) and _position(s) > since]
    found = [best]
    for binding in bindings:
        if binding is best:
            continue
        start = _start(tree, binding)
        between = since < start < use
        in_earlier_iteration = any(_position(loop) <= start <= _end(loop) for loop in loops)
        if between or in_earlier_iteration:
            found.append(binding)
    return found


def _dominates(tree: ScopeTree, binding: Binding, around: Sequence[ast.stmt], inside: set[int]) -> bool:
    """Whether the binding always runs before the use: it is in a block around the use, and above it."""
    if binding.kind == "parameter":
        return True
    statement = _statement(tree, binding.node)
    if statement is None:
        return False
    if id(statement) in inside:  # a loop variable or ``with`` target, seen from the body
        below = around[[id(s) for s in around].index(id(statement)) - 1] if around[0] is not statement else None
        return below is not None and below in getattr(statement, "body", ())
    parent = tree.parents.get(statement)
    for outer in around:
        if tree.parents.get(outer) is parent and _position(statement) < _position(outer):
            return _same_block(parent, statement, outer)
    return False


def _same_block(parent: ast.AST | None, first: ast.stmt, second: ast.stmt) -> bool:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, ())
        if isinstance(block, list) and first in block:
            return second in block
    return False


def _statements(tree: ScopeTree, node: ast.AST) -> list[ast.stmt]:
    """The statements around ``node``, the innermost first, up to the function."""
    found: list[ast.stmt] = []
    current: ast.AST | None = node
    while current is not None and not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        if isinstance(current, ast.stmt):
            found.append(current)
        current = tree.parents.get(current)
    return found


def _statement(tree: ScopeTree, node: ast.AST) -> ast.stmt | None:
    current: ast.AST | None = node
    while current is not None and not isinstance(current, ast.stmt):
        current = tree.parents.get(current)
    return current


def _start(tree: ScopeTree, binding: Binding) -> _Position:
    if binding.kind == "parameter":
        return (0, 0)
    statement = _statement(tree, binding.node)
    return _position(statement) if statement is not None else (0, 0)


def _position(node: ast.stmt) -> _Position:
    return node.lineno, node.col_offset


def _end(node: ast.stmt) -> _Position:
    return node.end_lineno or node.lineno, node.end_col_offset or 0
