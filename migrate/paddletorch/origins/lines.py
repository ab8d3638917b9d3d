"""For each line of converted text, the lines of the source that it was made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from paddletorch.model import FileResult
from paddletorch.text.position_map import converted_tree


def line_map(result: FileResult) -> dict[int, tuple[int, int]]:
    """For each line of the output, the lines of the source that the statement or part on it was made of."""
    try:
        before, after = ast.parse(result.output), converted_tree(result, "file")
    except (SyntaxError, ValueError):
        return {}
    made: dict[int, tuple[int, int]] = {}
    for one, other in _pairs(before, after):
        first, last = one.lineno, one.end_lineno or one.lineno
        if isinstance(one, ast.stmt) and hasattr(one, "body"):
            last = first  # its body has lines of its own
        source = (other.lineno, other.end_lineno or other.lineno)
        for line in range(first, last + 1):
            if line not in made:
                made[line] = source if not hasattr(one, "body") else (other.lineno, other.lineno)
    return made


def _pairs(before: ast.AST, after: ast.AST) -> Iterator[tuple[Any, Any]]:
    """Statements of both trees, inner ones before the ones around them."""
    for one, other in zip(ast.iter_child_nodes(before), ast.iter_child_nodes(after), strict=False):
        yield from _pairs(one, other)
        if isinstance(one, ast.stmt):
            yield one, other
