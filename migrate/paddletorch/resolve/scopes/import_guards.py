"""Guards of imports: statements that go on where an import in them fails."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from paddletorch.resolve.scopes.blocks import leaves

_Import = ast.Import | ast.ImportFrom
_Guard = ast.Try | ast.With
_CAUGHT = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def is_import_guard(node: ast.AST | None) -> TypeGuard[_Guard]:
    """Whether a failed import in its body is caught, and the program goes on: in ``try``, or ``with suppress()``."""
    if isinstance(node, ast.Try):
        return any(_catches(h.type) and not _raises(h.body) for h in node.handlers)
    if not isinstance(node, ast.With):
        return False
    managers = (item.context_expr for item in node.items)
    return any(
        isinstance(m, ast.Call)
        and _last(m.func) == "suppress"
        and any(_last(argument) in _CAUGHT for argument in m.args)
        for m in managers
    )


def guarded_imports(guard: _Guard) -> Iterator[_Import]:
    """The imports that run in the body of a guard and are caught by it, not by another one inside."""
    return _imports_in(guard.body)


def _imports_in(statements: Sequence[ast.stmt]) -> Iterator[_Import]:
    for statement in statements:
        if isinstance(statement, _Import):
            yield statement
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        else:
            for name in ("body", "orelse", "finalbody"):
                block = getattr(statement, name, None)
                if isinstance(block, list) and not (name == "body" and is_import_guard(statement)):
                    yield from _imports_in(block)


def _catches(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(map(_catches, caught.elts))
    return caught is None or _last(caught) in _CAUGHT


def _last(name: ast.expr) -> str:
    return str(getattr(name, "attr", getattr(name, "id", "")))


def _raises(body: Sequence[ast.stmt]) -> bool:
    """Whether the handler ends the program, or hands the exception on."""
    return isinstance(body[-1], ast.Raise) or (isinstance(body[-1], ast.Expr) and leaves(body[-1]))
