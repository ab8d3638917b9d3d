"""The ways through a block: what is bound on them, where they meet, and which statements may leave them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .block_names import FUNCTIONS

BOUND, UNBOUND = 1, 2
_CATCH_IMPORTS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})

State = Mapping[str, int]
"""For each local name whether it may be bound, unbound, or either; one that is missing is unbound."""


@dataclass
class Exits:
    """States that leave a block in other ways than by its end."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)
    raises: list[State] = field(default_factory=list)
    failed_imports: list[State] = field(default_factory=list)


def joined(states: Iterable[State | None]) -> State | None:
    reached = [s for s in states if s is not None]
    if not reached:
        return None
    names = {name for state in reached for name in state}
    found: dict[str, int] = {}
    for name in names:
        bits = 0
        for state in reached:
            bits |= state.get(name, UNBOUND)
        found[name] = bits
    return found


def truth(test: ast.expr) -> bool | None:
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Name) and test.id == "TYPE_CHECKING":
        return False
    if isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING":
        return False
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(test.operand)
        return None if inner is None else not inner
    return None


def cannot_raise(statement: ast.stmt) -> bool:
    """Whether a statement surely comes to its end; imports say for themselves whether they fail."""
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal)):
        return True
    if isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.Constant, ast.Name)):
        return all(isinstance(t, ast.Name) for t in statement.targets)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    if isinstance(statement, (ast.If, ast.Try, ast.With)):
        return True  # what is in it says so
    return isinstance(statement, FUNCTIONS) and not statement.decorator_list


def catches_imports(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(isinstance(n, ast.Name) and n.id in _CATCH_IMPORTS for n in names)
