"""Which names the statements of a block bind in its own scope, and where the functions in it begin."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def arguments(node: ast.arguments) -> set[str]:
    every = [*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg]
    return {a.arg for a in every if a is not None}


def own_nodes(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a block, of functions, classes and lambdas in it their decorators, bases and defaults only."""
    pending = list(body)
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.ClassDef):
            pending += [*node.decorator_list, *node.bases, *node.keywords]
        elif isinstance(node, (*FUNCTIONS, ast.Lambda)):
            pending += [*getattr(node, "decorator_list", ()), *node.args.defaults]
            pending += [default for default in node.args.kw_defaults if default is not None]
        else:
            pending += ast.iter_child_nodes(node)


def own_statements(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    return (n for n in own_nodes(body) if isinstance(n, ast.stmt))


def bound_in(body: Iterable[ast.AST]) -> set[str]:
    """The names that the statements of a block bind in its own scope."""
    found: set[str] = set()
    skipped: set[int] = set()
    for node in own_nodes(body):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {a.asname or a.name.partition(".")[0] for a in node.names} - {"*"}
        elif isinstance(node, COMPREHENSIONS):
            skipped |= {id(n) for g in node.generators for n in ast.walk(g.target)}
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and id(node) not in skipped:
            found.add(node.id)
    return found


def bound_by_comprehensions(body: Iterable[ast.AST]) -> set[int]:
    """The identities of the names in comprehensions that those bind themselves."""
    found: set[int] = set()
    for node in own_nodes(body):
        if isinstance(node, COMPREHENSIONS):
            own = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            outside = {id(n) for n in ast.walk(node.generators[0].iter)}
            found |= {id(n) for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in own} - outside
    return found


def walrus_names(body: Iterable[ast.AST]) -> set[str]:
    return {n.target.id for n in own_nodes(body) if isinstance(n, ast.NamedExpr)}


def functions_once(body: Iterable[ast.stmt]) -> dict[str, ast.FunctionDef]:
    """Functions of the module that have their name alone."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in own_statements(body):
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return {name: nodes[0] for name, nodes in found.items() if len(nodes) == 1}
