"""Whether decorators leave a function as it is called, and what it gives."""

from __future__ import annotations

import ast
from collections.abc import Callable

from paddletorch_rules.facts import facts

from paddletorch.resolve.values import Qualified, Values


def is_kept(function: ast.AST, evaluate: Callable[[ast.expr], Values]) -> bool:
    """Whether the function has no decorators but those such as ``no_grad``."""
    decorators: list[ast.expr] = getattr(function, "decorator_list", [])
    return not decorators or all(_keeps(decorator, evaluate) for decorator in decorators)


def _keeps(decorator: ast.expr, evaluate: Callable[[ast.expr], Values]) -> bool:
    values = evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return bool(values) and all(
        isinstance(v, Qualified) and v.name in facts().keeping_decorators.get(v.name.partition(".")[0], ())
        for v in values
    )
