"""Forms that put statements into another one: a loop, both branches of a condition, ``with``, ``try``."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

from .source import Rewritten, does_something, functions, split, top, tree_of, written
from .taken_back import alike

Wrap = Callable[[list[ast.stmt]], ast.stmt]

_LEFT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _wrapped(text: str, wrap: Wrap, *head: str) -> Rewritten | None:
    tree = tree_of(text)
    number = 0
    for function in functions(tree):
        first = split(function)
        if does_something(function.body[first:]):
            function.body[first:] = [wrap(function.body[first:])]
            number += 1
    body: list[ast.stmt] = []
    run: list[ast.stmt] = []
    start = int(ast.get_docstring(tree, clean=False) is not None)
    for statement in [*tree.body[start:], None]:
        if statement is not None and not _stays(statement):
            run.append(statement)
            continue
        if does_something(run):
            body.append(wrap(run))
            number += 1
        else:
            body.extend(run)
        run = []
        if statement is not None:
            body.append(statement)
    tree.body[start:] = body
    if not number:
        return None
    top(tree, *head)
    return Rewritten(*written(tree))


def _stays(statement: ast.stmt) -> bool:
    """At the top of a module: imports and definitions, and what is for Python's tools."""
    if any(isinstance(node, _LEFT) for node in ast.walk(statement)):
        return True
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id.startswith("__")
        for node in ast.walk(statement)
    )


def _statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def loop(text: str) -> Rewritten | None:
    """The body of each function in ``for form_loop in range(1):``."""

    def wrap(body: list[ast.stmt]) -> ast.stmt:
        found = _statement("for form_loop in range(1): pass")
        assert isinstance(found, ast.For)
        found.body = body
        return found

    return _wrapped(text, wrap)


def with_context(text: str) -> Rewritten | None:
    """The body of each function in a ``with`` that does nothing."""

    def wrap(body: list[ast.stmt]) -> ast.stmt:
        found = _statement("with form_contextlib.nullcontext(): pass")
        assert isinstance(found, ast.With)
        found.body = body
        return found

    return _wrapped(text, wrap, "import contextlib as form_contextlib")


def tried(text: str) -> Rewritten | None:
    """The body of each function in a ``try`` whose handler raises again."""

    def wrap(body: list[ast.stmt]) -> ast.stmt:
        found = _statement("try: pass\nexcept BufferError: raise")
        assert isinstance(found, ast.Try)
        found.body = body
        return found

    return None if "BufferError" in text else _wrapped(text, wrap)


def both_branches(text: str) -> Rewritten | None:
    """The body of each function twice: if a flag is set, and if it is not."""

    def wrap(body: list[ast.stmt]) -> ast.stmt:
        found = _statement("if form_flag: pass\nelse: pass")
        assert isinstance(found, ast.If)
        found.body, found.orelse = body, copy.deepcopy(body)
        return found

    return _wrapped(text, wrap, "import sys as form_sys", "form_flag = len(form_sys.argv) > 1")


class _Unwrapped(ast.NodeTransformer):
    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        return node.body if isinstance(node.target, ast.Name) and node.target.id == "form_loop" else node

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        return node.body if ast.unparse(node.items[0]) == "form_contextlib.nullcontext()" else node

    def visit_Try(self, node: ast.Try) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        caught = node.handlers and node.handlers[0].type
        return node.body if isinstance(caught, ast.Name) and caught.id == "BufferError" else node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        flag = isinstance(node.test, ast.Name) and node.test.id == "form_flag"
        return node.body if flag and alike(node.body, node.orelse) else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return None if ast.unparse(node.targets[0]) == "form_flag" else node


def unwrapped(tree: ast.Module) -> ast.Module:
    """The tree without the statements that these forms put around others."""
    found = _Unwrapped().visit(tree)
    assert isinstance(found, ast.Module)
    return found
