"""Imports of the source that only annotations need which are never evaluated: for type checkers."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from paddletorch.model import Edit, Span
from paddletorch.plan.model.view import FileView

_Function = ast.FunctionDef | ast.AsyncFunctionDef

_READS_NO_ANNOTATIONS = frozenset({
    "staticmethod", "classmethod", "property", "typing.overload", "abc.abstractmethod", "functools.wraps",
    "functools.lru_cache", "functools.cache", "functools.cached_property",
})  # fmt: skip
"""Decorators that leave annotations unread; others of other modules may resolve them as they run."""

_READERS = re.compile(r"get_type_hints|__annotations__|inspect\b|signature")


def is_never_evaluated(view: FileView, load: ast.expr) -> bool:
    """Whether the name stands in an annotation that is never run: of a function's own variable, or one kept as text."""
    current: ast.AST | None = load
    while current is not None and current not in view.annotations:
        if isinstance(current, ast.stmt):
            return False
        current = view.parent(current)
    if current is not None and _is_of_local(view, current):
        return True
    quoted = isinstance(current and view.parent(current), ast.Constant)
    function = view.statement(current) if current is not None else None
    if not (quoted or view.provide(_keeps_annotations)) or not isinstance(function, _Function):
        return False
    return all(_reads_no_annotations(view, one) for one in function.decorator_list)


def _is_of_local(view: FileView, annotation: ast.AST) -> bool:
    """Whether it is the annotation of a variable of a function, which Python does not evaluate."""
    statement = view.parent(annotation)
    if not isinstance(statement, ast.AnnAssign) or statement.annotation is not annotation:
        return False
    return isinstance(statement.target, ast.Name) and isinstance(view.tree.scopes[statement.target].node, _Function)


def _reads_no_annotations(view: FileView, node: ast.expr) -> bool:
    """Whether the decorator is known to leave annotations alone, or the file makes it and reads none itself."""
    node = node.func if isinstance(node, ast.Call) else node
    while isinstance(node, ast.Attribute) and view.qualified(node) is None:
        node = node.value
    name = view.qualified(node) or (node.id if isinstance(node, ast.Name) else "")
    if name in _READS_NO_ANNOTATIONS:
        return True
    own = view.tree.scope.bindings.get(name, ()) if isinstance(node, ast.Name) else ()
    return bool(own) and all(b.alias is None for b in own) and not view.provide(_reads_annotations)


def _reads_annotations(view: FileView) -> bool:
    return _READERS.search(view.source.body.decode()) is not None


def _keeps_annotations(view: FileView) -> bool:
    """Whether ``from __future__ import annotations`` holds."""
    futures = (s for s in view.tree.module.body if isinstance(s, ast.ImportFrom) and s.module == "__future__")
    return any(alias.name == "annotations" for statement in futures for alias in statement.names)


def typing_edit(view: FileView, lines: Sequence[str]) -> Edit:
    """Insert imports that only annotations need, for type checkers, below the imports at the top."""
    newline = view.source.newline
    body, number = view.tree.module.body, 0
    while number + 1 < len(body) and not _is_code(body[number + 1], number + 1):
        number += 1
    bindings = view.tree.scope.bindings.get("TYPE_CHECKING", ())
    known = any(b.qualified == "typing.TYPE_CHECKING" and b.node in body[: number + 1] for b in bindings)
    block = [] if known else ["from typing import TYPE_CHECKING", ""]
    block += ["if TYPE_CHECKING:", *(f"    {line}" for line in lines)]
    start = view.source.line_span(body[number].end_lineno or 0).end
    rest = view.source.body[start:]
    blank = len(rest) - len(rest.lstrip())
    return Edit(Span(start, start + blank), newline.join(["", *block, "", "", ""]))


def _is_code(statement: ast.stmt, number: int) -> bool:
    docstring = number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return not docstring and not isinstance(statement, ast.Import | ast.ImportFrom)
