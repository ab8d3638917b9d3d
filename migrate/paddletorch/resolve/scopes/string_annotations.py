"""Annotations written as strings, parsed as if they were written without quotes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from paddletorch.resolve.scopes.scopes import ScopeTree


def expand_string_annotations(tree: ScopeTree, text_of: Callable[[ast.Constant], str]) -> None:
    """Add the names in string annotations to ``tree``.

    ``text_of`` returns a constant's source text. Only strings on one line without escapes and prefixes are parsed:
    the positions of the new nodes are then right.
    """
    lines = {s.lineno for s in tree.strings}
    annotations = [a for a in tree.annotations if not lines.isdisjoint(range(a.lineno, (a.end_lineno or 0) + 1))]
    quoted = {s for annotation in annotations for s in _strings_in(annotation)}
    pending = [s for s in tree.strings if s in quoted] if quoted else []
    parsed: dict[ast.Constant, ast.expr] = {}
    for string in pending:
        text = text_of(string)
        assert isinstance(string.value, str)
        if text[1:-1] != string.value or text[:1] not in ("'", '"') or string.value != string.value.strip():
            continue
        try:
            expression = ast.parse(string.value, mode="eval").body
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(expression):
            if isinstance(node, ast.expr | ast.keyword):
                node.lineno = node.end_lineno = string.lineno
                node.col_offset += string.col_offset + 1
                node.end_col_offset = (node.end_col_offset or 0) + string.col_offset + 1
        parsed[string] = expression
    tree.add_annotations(parsed)


def _strings_in(annotation: ast.expr) -> Iterator[ast.Constant]:
    """The strings of an annotation that are expressions: not those of ``Literal["a"]`` or a call's arguments."""
    if isinstance(annotation, ast.Name):
        return
    stack: list[ast.AST] = [annotation]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node
        elif not isinstance(node, ast.Call) and (
            not isinstance(node, ast.Subscript) or _last_name(node.value) != "Literal"
        ):
            stack += ast.iter_child_nodes(node)


def _last_name(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))
