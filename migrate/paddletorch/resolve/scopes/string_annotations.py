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
    """The strings of an annotation that are types: not those of ``Literal["a"]``, of a call or a comparison."""
    stack: list[ast.expr] = [annotation]
    while stack:
        match stack.pop():
            case ast.Constant(value=str()) as string:
                yield string
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                stack += parts
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                stack += left, right
            case ast.Starred(value=inner) | ast.NamedExpr(value=inner):
                stack.append(inner)
            case ast.IfExp(body=left, orelse=right):
                stack += left, right
            case ast.Subscript(value=generic, slice=inner) if (name := _last_name(generic)) != "Literal":
                described = (
                    isinstance(inner, ast.Tuple) and name == "Annotated"
                )  # behind the type is what is said of it
                stack += inner.elts[:1] if described and isinstance(inner, ast.Tuple) else [inner]


def _last_name(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))
