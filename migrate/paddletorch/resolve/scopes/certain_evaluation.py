"""What every path through statements evaluates: what a program reads anyway, what it makes in any case.

The body of a loop counts as run: a program whose loop over the data does nothing is not what it was written for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

Holds = Callable[[ast.AST], bool]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_TRY = (ast.Try, getattr(ast, "TryStar", ast.Try))  # ``except*`` came with Python 3.11
_EXITS = frozenset({"exit", "_exit", "abort", "quit"})
_NOT_OF_ERRORS = frozenset({"KeyboardInterrupt", "SystemExit"})


def evaluated_always(statements: Iterable[ast.stmt], holds: Holds, *, or_left: bool = False) -> bool:
    """Whether every path through the statements evaluates a node of which ``holds`` is true.

    ``or_left``: so does a path that leaves the statements before.
    """
    for statement in statements:
        if isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue):
            return or_left or _evaluates(statement, holds)
        if _in_statement(statement, holds, or_left):
            return True
        if not or_left and _may_leave(statement, in_loop=False):
            return False
    return False


def evaluated_below(parents: dict[ast.AST, ast.AST], statement: ast.stmt, holds: Holds) -> bool:
    """Whether every path from the end of ``statement`` evaluates a node of which ``holds`` is true."""
    current: ast.AST = statement
    while isinstance(current, ast.stmt) and not isinstance(current, _FUNCTIONS):
        parent = parents.get(current)
        for _, block in ast.iter_fields(parent) if parent is not None else ():
            if isinstance(block, list) and current in block:
                below = block[block.index(current) + 1 :]
                if evaluated_always(below, holds):
                    return True
                if any(_may_leave(s, in_loop=False) for s in below):
                    return False
        if not isinstance(parent, ast.If | ast.With | ast.AsyncWith):
            return False
        current = parent
    return False


def _in_statement(statement: ast.stmt, holds: Holds, or_left: bool) -> bool:
    def block(statements: list[ast.stmt]) -> bool:
        return evaluated_always(statements, holds, or_left=or_left)

    match statement:
        case ast.If():
            return _evaluates(statement.test, holds) or (block(statement.body) and block(statement.orelse))
        case ast.For() | ast.AsyncFor():
            return _evaluates(statement.iter, holds) or block(statement.body)
        case ast.While():
            return _evaluates(statement.test, holds) or block(statement.body)
        case ast.With() | ast.AsyncWith():
            return any(_evaluates(item, holds) for item in statement.items) or block(statement.body)
        case _ if isinstance(statement, _TRY):
            caught = (h for h in statement.handlers if not _catches_no_error(h))
            tried = block([*statement.body, *statement.orelse]) and all(block(h.body) for h in caught)
            return tried or block(statement.finalbody)
        case ast.Match():
            last = statement.cases[-1]
            whole = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
            return _evaluates(statement.subject, holds) or (whole and all(block(c.body) for c in statement.cases))
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return any(_evaluates(d, holds) for d in statement.decorator_list)
    return _evaluates(statement, holds)


def _evaluates(node: ast.AST, holds: Holds) -> bool:
    return any(map(holds, _evaluated(node)))


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are evaluated whenever ``node`` is."""
    yield node
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    match node:
        case ast.Lambda():
            children = ()
        case ast.BoolOp():
            children = node.values[:1]
        case ast.IfExp():
            children = (node.test,)
        case ast.Compare():
            children = (node.left, node.comparators[0])
        case _ if isinstance(node, _COMPREHENSIONS):
            children = (node.generators[0].iter,)
    for child in children:
        yield from _evaluated(child)


def _may_leave(node: ast.AST, *, in_loop: bool) -> bool:
    """Whether a path through a statement does not reach what stands below it, other than by an error in a call."""
    if isinstance(node, _FUNCTIONS):
        return False
    if isinstance(node, ast.Return | ast.Raise | ast.Assert):
        return True
    if isinstance(node, ast.Break | ast.Continue):
        return not in_loop
    if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in _EXITS:
        return True
    inside = in_loop or isinstance(node, _LOOPS)
    return any(_may_leave(child, in_loop=inside) for child in ast.iter_child_nodes(node))


def _catches_no_error(handler: ast.ExceptHandler) -> bool:
    """Whether the handler is for a user's interruption only."""
    caught = handler.type
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return all(isinstance(name, ast.Name) and name.id in _NOT_OF_ERRORS for name in names)
