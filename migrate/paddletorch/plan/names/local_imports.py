"""Imports of the source that stay: into the functions and branches that need them, so that the module loads without."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.statements import block_of, start_of
from paddletorch.resolve import Binding

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Holder = _Function | ast.Module
_Rounds = ast.For | ast.AsyncFor | ast.While


def is_on_top(view: FileView, binding: Binding) -> bool:
    """Whether the import runs whenever the module is loaded."""
    return isinstance(view.parent(binding.node), ast.Module) and not view.source.is_document


def is_one_name(view: FileView, bindings: Sequence[Binding]) -> bool:
    """Whether these bind one thing: ``import torch`` and ``import torch.utils.checkpoint`` both bind ``torch``."""
    plain = all(isinstance(b.node, ast.Import) and b.alias is not None and b.alias.asname is None for b in bindings)
    repeated = all(b.alias is not None for b in bindings) and len({b.qualified for b in bindings}) == 1
    return len(bindings) == 1 or ((plain or repeated) and all(is_on_top(view, b) for b in bindings))


def is_repeated(binding: Binding, bindings: Sequence[Binding]) -> bool:
    """Whether an import above binds the very same: ``from torch import nn`` above ``import torch.nn as nn``."""
    return any(_module(b) == _module(binding) and _line(b) < _line(binding) for b in bindings)


def import_lines(bindings: Sequence[Binding]) -> list[str]:
    """The imports of one name as statements of their own, each once."""
    return [import_text(b) for b in sorted(bindings, key=_line) if not is_repeated(b, bindings)]


def _module(binding: Binding) -> str | None:
    """What an import loads: of ``import torch.optim``, which binds ``torch``, the submodule."""
    alias = binding.alias
    return alias.name if alias is not None and isinstance(binding.node, ast.Import) else binding.qualified


def _line(binding: Binding) -> int:
    return getattr(binding.node, "lineno", 0)


def fallback_import(view: FileView, bindings: list[Binding]) -> ast.Try | None:
    """The module's ``try: import a as x`` / ``except ImportError: import b as x`` that is all that binds the name."""
    whole = next((t for t in (view.parent(b.node) for b in bindings) if isinstance(t, ast.Try)), None)
    if whole is None or not isinstance(view.parent(whole), ast.Module) or view.source.is_document:
        return None
    blocks = [whole.body, *(handler.body for handler in whole.handlers)]
    statements = [block[0] for block in blocks if len(block) == 1 and isinstance(block[0], ast.Import | ast.ImportFrom)]
    if whole.orelse or whole.finalbody or len(statements) != len(blocks) or len(bindings) != len(blocks):
        return None
    names = [alias for statement in statements for alias in statement.names]
    return whole if len(names) == len(blocks) and {b.node for b in bindings} == set(statements) else None


def places_of(view: FileView, loads: Iterable[ast.expr]) -> list[ast.stmt]:
    """The statements in functions and in the module's branches that come first of those with uses.

    None if a use runs whenever the module is loaded, or in a function that has the target's name for itself: with an
    import of its own, the use could be written after all.
    """
    by_function: dict[_Holder, list[ast.expr]] = {}
    for load in loads:
        holder = function_around(view, load) or _branch_around(view, load)
        if holder is None or _has_targets_name(view, holder):
            return []
        by_function.setdefault(holder, []).append(load)
    return [place for function, loads in by_function.items() for place in _first_in_blocks(view, function, loads)]


def _has_targets_name(view: FileView, holder: _Holder) -> bool:
    return not isinstance(holder, ast.Module) and view.target in view.tree.own[holder].bindings


def function_around(view: FileView, load: ast.expr) -> _Function | None:
    """The innermost function whose body holds ``load``; None for a name that its class binds too.

    A class reads such a name from the module, not from the function around it.
    """
    scope = view.tree.scopes.get(load)
    if scope is not None and scope.kind == "class" and isinstance(load, ast.Name) and load.id in scope.bindings:
        return None
    while scope is not None:
        if isinstance(scope.node, _Function):
            return scope.node
        scope = scope.parent
    return None


def _branch_around(view: FileView, load: ast.expr) -> ast.Module | None:
    """The module, if ``load`` stands in a branch of an ``if`` there and in no class."""
    path = _statements_around(view, load, view.tree.module)
    if not isinstance(path[0], ast.If) or len(path) == 1 or any(isinstance(s, ast.ClassDef) for s in path):
        return None
    return view.tree.module


_MOST_PLACES = 3
"""In how many branches of a function an import is repeated before it stands once above them all."""


def _first_in_blocks(view: FileView, function: _Holder, loads: list[ast.expr]) -> list[ast.stmt]:
    """The first statement with a use in each innermost block, so that only branches that reach a use need the import.

    A block below one that has imported the name needs nothing; many branches share one import.
    """
    paths = [_outside_loops(_statements_around(view, load, function)) for load in loads]
    while above := next((path for path in paths if _every_branch_begins(view, path, paths)), None):
        around = above[:-1]
        paths = [around if path[: len(around)] == around else path for path in paths]
    first: dict[int, ast.stmt] = {}
    for path in paths:
        block = id(block_of(view, path[-1]))
        first[block] = min(path[-1], first.get(block, path[-1]), key=lambda statement: statement.lineno)
    needed = {id(block_of(view, path[-1])) for path in paths if not _has_import_above(view, path, first)}
    if len(needed) > _MOST_PLACES and not isinstance(function, ast.Module):
        return [_first_in_common_block(view, paths)]
    return [statement for block, statement in first.items() if block in needed]


def _outside_loops(path: list[ast.stmt]) -> list[ast.stmt]:
    """The path to the outermost loop of which each round gets to its end: nobody imports again in every round."""
    end = len(path)
    for number in range(len(path) - 1, 0, -1):
        around = path[number - 1]
        if not isinstance(around, _Rounds | ast.With | ast.AsyncWith) or path[number] not in around.body:
            break
        if isinstance(around, _Rounds):
            end = number
    return path[:end]


def _every_branch_begins(view: FileView, path: list[ast.stmt], paths: list[list[ast.stmt]]) -> bool:
    """Whether the path ends in a branch of an ``if`` all of whose branches use the name: one import serves them."""
    if len(path) < 2 or not isinstance(path[-2], ast.If):
        return False
    branches = [path[-2].body]
    rest = path[-2].orelse
    while len(rest) == 1 and isinstance(rest[0], ast.If) and _is_elif(view, rest[0]):
        branches.append(rest[0].body)
        rest = rest[0].orelse
    ends = {id(one[-1]) for one in paths}
    return all(any(id(one) in ends for one in branch) for branch in (*branches, rest))


def _has_import_above(view: FileView, path: list[ast.stmt], first: dict[int, ast.stmt]) -> bool:
    """Whether a block around the innermost one imports the name before it gets here."""
    places = [(first.get(id(block_of(view, statement))), statement) for statement in path[:-1]]
    return any(place is not None and place.lineno <= statement.lineno for place, statement in places)


def _first_in_common_block(view: FileView, paths: list[list[ast.stmt]]) -> ast.stmt:
    """The first statement that uses the name, in the innermost block of the function that holds all uses."""
    place = 0
    while all(len(path) > place + 1 for path in paths):
        blocks = [block_of(view, path[place + 1]) for path in paths]
        if len({id(path[place]) for path in paths}) > 1 or any(block is not blocks[0] for block in blocks):
            break
        place += 1
    return min((path[place] for path in paths), key=start_of)


def _statements_around(view: FileView, load: ast.expr, function: _Holder) -> list[ast.stmt]:
    """The statements of the function that hold ``load``, the outermost first; an ``elif`` is not one.

    None is in a class: what its body binds is not seen from comprehensions and classes in it.
    """
    found: list[ast.stmt] = []
    current: ast.AST | None = load
    while current is not None and current is not function:
        if isinstance(current, ast.ClassDef):
            found.clear()
        if isinstance(current, ast.stmt) and not _is_elif(view, current):
            found.append(current)
        current = view.parent(current)
    return found[::-1]


def _is_elif(view: FileView, statement: ast.stmt) -> bool:
    around = view.parent(statement)
    if not isinstance(statement, ast.If) or not isinstance(around, ast.If) or around.orelse != [statement]:
        return False
    return view.source.body[view.source.span(statement).start :].startswith(b"elif")


def import_text(binding: Binding) -> str:
    """The import of one name as a statement of its own."""
    alias, statement = binding.alias, binding.node
    assert alias is not None
    name = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
    return f"from {statement.module} import {name}" if isinstance(statement, ast.ImportFrom) else f"import {name}"
