"""A program as a tree whose nodes know the lines that they come from, and the text that is written of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Rewritten:
    """A program in another form."""

    text: str
    lines: dict[int, int]
    """The line of the plain program behind a line of this one."""
    joined: dict[int, int] = field(default_factory=dict)
    """Lines of the plain program whose statement is part of that of another line here."""
    part: Rewritten | None = None
    """The module ``form_part``, which this one imports."""


def plain(source: str | bytes) -> str:
    """The program as Python itself writes it, so that nothing but the form differs; one statement on a line.

    Raises:
        SyntaxError, ValueError: it is no Python, or none that comes back as it was.
    """
    tree = ast.parse(source)
    text = ast.unparse(tree) + "\n"
    if ast.dump(ast.parse(text)) != ast.dump(tree):
        tree = ast.parse(text)
        text = ast.unparse(tree) + "\n"
        if ast.dump(ast.parse(text)) != ast.dump(tree):
            raise ValueError("it is written otherwise each time")
    return text


def tree_of(text: str) -> ast.Module:
    """The tree of a plain program: each node has its line as ``origin``."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.origin = node.lineno  # type: ignore[attr-defined]
    return tree


def written(tree: ast.Module) -> tuple[str, dict[int, int]]:
    """The text of a tree, and the origins of its lines; what has no line there is new."""
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    lines: dict[int, int] = {}
    for node, again in zip(ast.walk(tree), ast.walk(ast.parse(text)), strict=True):
        origin = getattr(node, "origin", None)
        if origin is not None and hasattr(again, "lineno"):
            lines.setdefault(again.lineno, origin)
    return text, lines


def functions(tree: ast.AST) -> list[Function]:
    """All functions in a tree."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements directly in a node."""
    for name in ("body", "orelse", "finalbody"):
        found = getattr(node, name, None)
        if isinstance(found, list) and found and isinstance(found[0], ast.stmt):
            yield found
    for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield from blocks(inner)


def split(function: Function) -> int:
    """How many statements of the body must stay first: the docstring, and what names other scopes."""
    number = int(ast.get_docstring(function, clean=False) is not None)
    while number < len(function.body) and isinstance(function.body[number], ast.Global | ast.Nonlocal):
        number += 1
    return number


def does_something(body: list[ast.stmt]) -> bool:
    """Whether there is more than a placeholder."""
    idle = (ast.Pass, ast.Global, ast.Nonlocal)
    return any(
        not isinstance(one, idle) and not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        for one in body
    )


def top(tree: ast.Module, *statements: str) -> None:
    """Put new statements after the docstring and what must stand first."""
    number = int(ast.get_docstring(tree, clean=False) is not None)
    while number < len(tree.body) and getattr(tree.body[number], "module", "") == "__future__":
        number += 1
    tree.body[number:number] = [one for text in statements for one in ast.parse(text).body]


def stored(node: ast.AST) -> set[str]:
    """All names that are bound in a tree, imports and definitions among them."""
    found = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
            found.add(one.id)
        elif isinstance(one, ast.arg):
            found.add(one.arg)
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(one.name)
        elif isinstance(one, ast.alias):
            found.add(one.asname or one.name.partition(".")[0])
        elif isinstance(one, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and one.name:
            found.add(one.name)
        elif isinstance(one, ast.MatchMapping) and one.rest:
            found.add(one.rest)
        elif isinstance(one, ast.Global | ast.Nonlocal):
            found.update(one.names)
    return found


def reads_its_names(node: ast.AST) -> bool:
    """Whether code in it may look at names as text: ``locals()``, ``eval``."""
    asked = {"locals", "globals", "vars", "eval", "exec", "dir"}
    return any(isinstance(one, ast.Name) and one.id in asked for one in ast.walk(node))


def own_names(function: Function) -> dict[str, list[ast.Name]]:
    """The names that only assignments in this very function bind, with all their places, also in nested functions."""
    places: dict[str, list[ast.Name]] = {}
    refused = {arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)}

    def walk(node: ast.AST, inner: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Name):
                places.setdefault(child.id, []).append(child)
                if inner and not isinstance(child.ctx, ast.Load):
                    refused.add(child.id)
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                refused.add(child.name)
            elif isinstance(child, _BINDING):
                refused.update(stored(child))
            elif isinstance(child, ast.ExceptHandler) and child.name:
                refused.add(child.name)
            walk(child, inner or isinstance(child, _SCOPES))

    for statement in function.body:
        walk(ast.Module([statement], []), False)
    own = {name for name, found in places.items() if any(isinstance(one.ctx, ast.Store) for one in found)}
    return {name: places[name] for name in places if name in own - refused and not name.startswith("__")}


_SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
_BINDING = (ast.alias, ast.arg, ast.Global, ast.Nonlocal, ast.MatchAs, ast.MatchStar, ast.MatchMapping)
