"""For each line of converted text, the lines of the source that it was made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from paddletorch.model import FileResult
from paddletorch.text.position_map import converted_tree


def line_map(result: FileResult) -> dict[int, tuple[int, int]]:
    """For each line of the output, the lines of the source that the statement or part on it was made of.

    A result that the cache kept has no edits: there the texts are compared.
    """
    if not result.edits:
        return _by_text(result)
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


def _by_text(result: FileResult) -> dict[int, tuple[int, int]]:
    """The same by the lines that are equal; of a changed line in a block of as many, the line in its place."""
    before, after = (text.decode("utf-8", "replace").splitlines() for text in (result.source, result.output))
    made: dict[int, tuple[int, int]] = {}
    for _, first, end, here, there in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        for number in range(here, there):
            if end - first == there - here:
                made[number + 1] = (first + number - here + 1,) * 2
            else:
                last = max(end, first + 1)  # lines that were inserted belong to the one behind them
                made[number + 1] = (min(first + 1, len(before)), min(last, len(before)))
    return made


def written_lines(result: FileResult) -> frozenset[int]:
    """The lines of the output in functions and classes that the conversion wrote: the source has none like them."""
    try:
        before, after = ast.parse(result.source), ast.parse(result.output)
    except (SyntaxError, ValueError):
        return frozenset()
    own = {one.name for one in _definitions(before)}
    written = [one for one in _definitions(after) if one.name not in own]
    return frozenset(line for one in written for line in range(one.lineno, (one.end_lineno or one.lineno) + 1))


def _definitions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node


def _pairs(before: ast.AST, after: ast.AST) -> Iterator[tuple[Any, Any]]:
    """Statements of both trees, inner ones before the ones around them."""
    for one, other in zip(ast.iter_child_nodes(before), ast.iter_child_nodes(after), strict=False):
        yield from _pairs(one, other)
        if isinstance(one, ast.stmt):
            yield one, other
