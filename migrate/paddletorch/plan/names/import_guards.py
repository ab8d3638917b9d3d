"""Imports of the source under ``try``: the handler then stands in for a target that is missing, not for the source."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from paddletorch.model import Edit
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.local_imports import function_around, is_on_top, places_of
from paddletorch.plan.syntax.constants import constant
from paddletorch.resolve import Binding, is_import_guard


class Guard(NamedTuple):
    """The ``try`` whose import is all that binds a name, beside ``name = None`` in its handlers.

    And beside imports in functions that declare the name ``global``.
    """

    statement: ast.Try
    stand_ins: tuple[ast.Name, ...]
    """The name in ``name = None``."""
    is_filled: bool
    """Functions import the module by its name, too."""


def guard_of(view: FileView, binding: Binding, bindings: list[Binding]) -> Guard | None:
    """The guard of an import; None if there is none, or if other things than imports at the top bind the name."""
    statement = view.parent(binding.node)
    if not is_import_guard(statement) or not isinstance(statement, ast.Try) or view.source.is_document:
        return None
    on_top = isinstance(view.parent(statement), ast.Module)
    if binding.node not in statement.body or not (on_top or binding.scope.kind == "function"):
        return None
    if not all(_is_plain(b) for b in bindings if b.alias is not None) and any(
        b.alias is not None and b is not binding for b in bindings
    ):
        return None
    imports = [b for b in bindings if b.alias is not None]
    own = view.tree.scope
    filling = [b for b in imports if binding.scope is own and b.scope is not own and b.scope.kind == "function"]
    here = [b for b in imports if b not in filling]
    if any(not _is_on_top_or_in(view, statement, b) for b in here):
        return None
    others = [b for b in bindings if b.alias is None]
    if others and any(view.parent(b.node) is not statement for b in here):
        return None
    names = tuple(b.node for b in others if isinstance(b.node, ast.Name) and b.value is not None)
    blocks = {id(inner) for handler in statement.handlers for inner in handler.body}
    if len(names) < len(others) or any(constant(b.value) is not None for b in others if b.value is not None):
        return None
    return Guard(statement, names, bool(filling)) if all(id(view.statement(n)) in blocks for n in names) else None


def _is_plain(binding: Binding) -> bool:
    return isinstance(binding.node, ast.Import) and binding.alias is not None and not binding.alias.asname


def places_outside(view: FileView, guard: Guard, loads: Iterable[ast.expr]) -> list[ast.stmt]:
    """The statements before which the import can stand instead; none if the guard itself needs it."""
    loads = list(loads)
    if any(_is_within(view, load, guard) for load in loads):
        return []
    return places_of(view, loads)


def _is_within(view: FileView, load: ast.expr, guard: Guard) -> bool:
    """Whether the name is used in the guard's statement, and not in a function that is defined there."""
    current: ast.AST | None = load
    while current is not None and current is not guard.statement:
        current = view.parent(current)
    return current is not None and function_around(view, load) is function_around_statement(view, guard.statement)


def function_around_statement(view: FileView, statement: ast.stmt) -> ast.AST | None:
    """The innermost function whose body holds the statement."""
    current = view.parent(statement)
    while current is not None and not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef):
        current = view.parent(current)
    return current


def is_presence_test(view: FileView, load: ast.expr) -> bool:
    """Whether an expression only asks if the import has worked: ``torch is not None``, ``if torch:``."""
    around = view.parent(load)
    if isinstance(around, ast.Compare) and len(around.ops) == 1:
        other = around.comparators[0] if around.left is load else around.left
        is_none = isinstance(other, ast.Constant) and other.value is None
        return is_none and isinstance(around.ops[0], ast.Is | ast.IsNot)
    if isinstance(around, ast.BoolOp):
        in_front = isinstance(around.op, ast.And) and around.values[-1] is not load
        return in_front or is_presence_test(view, around)
    if isinstance(around, ast.If | ast.IfExp | ast.While | ast.Assert):
        return around.test is load
    return isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not)


def stand_in(view: FileView, value: ast.expr) -> ast.stmt | None:
    """What a run has written in place of an API that a guard keeps: a class or function that says what it needs."""
    statement = view.statement(value)
    guard = view.parent(statement) if isinstance(statement, ast.Assign) else None
    if not is_import_guard(guard) or not isinstance(guard, ast.Try) or not isinstance(statement, ast.Assign):
        return None
    names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
    inner = (one for handler in guard.handlers for one in handler.body)
    defined = (one for one in inner if isinstance(one, ast.ClassDef | ast.FunctionDef) and one.name in names)
    needed = needs(view.qualified(value) or view.written(value))
    return next(
        (
            one
            for one in defined
            if any(isinstance(node, ast.Constant) and node.value == needed for node in ast.walk(one))
        ),
        None,
    )


def needs(api: str) -> str:
    """What a stand-in for an API says when it is called."""
    return f"needs {api}"


def can_rename(view: FileView, binding: Binding) -> bool:
    """Whether the name means the framework itself, and the target's name is free in the file."""
    is_root = binding.qualified == view.settings.source and isinstance(binding.node, ast.Import)
    return is_root and view.target not in view.tree.bound


def renamed(view: FileView, names: Iterable[ast.expr]) -> tuple[Edit, ...]:
    """The target's name in place of these."""
    return tuple(Edit(view.source.span(name), view.target) for name in names)


def _is_on_top_or_in(view: FileView, guard: ast.Try, binding: Binding) -> bool:
    return view.parent(binding.node) is guard or is_on_top(view, binding)
