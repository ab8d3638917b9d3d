"""Functions and classes that converted text calls, such as ``torch_chunk``: a file gets its own, below its imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from paddletorch_rules.adapters import Definition, functions

from paddletorch.model import Edit
from paddletorch.plan.model.refusals import NameTaken, Refused
from paddletorch.plan.model.view import FileView

_CALLED = re.compile(r"(?<![\w.])(?:(?:torch|paddle)_[a-z_0-9]+|(?:Torch|Paddle)[A-Z][A-Za-z]+)(?=\()")


def functions_in(view: FileView, edits: Iterable[Edit]) -> dict[str, Definition]:
    """The functions of the tables that new text calls, by name."""
    names = {name: None for edit in edits if "(" in edit.written for name in _CALLED.findall(edit.written)}
    known = functions(view.target) if names else {}
    return {name: known[name] for name in names if name in known}


def check_functions(view: FileView, edit: Edit, api: str) -> None:
    """Check that the functions which an edit calls can be written into the file.

    Raises:
        Refused: the file has another object of that name, or no import below which a function can stand.
    """
    for one in functions_in(view, [edit]).values():
        if not has_function(view, one) and (not _is_free(view, one.name) or place_below_imports(view, edit) is None):
            raise Refused(NameTaken(one.name, api))


def has_function(view: FileView, one: Definition) -> bool:
    """Whether an earlier conversion has written the function into the file."""
    bindings = view.tree.scope.bindings.get(one.name, ())
    nodes = [binding.node for binding in bindings]
    return len(nodes) == 1 and isinstance(nodes[0], ast.FunctionDef | ast.ClassDef) and _same(nodes[0], one)


def _same(node: ast.FunctionDef | ast.ClassDef, one: Definition) -> bool:
    return ast.dump(node) == ast.dump(ast.parse(one.text).body[0])


def _is_free(view: FileView, name: str) -> bool:
    """Whether the file has no such name, in any scope, and reads none from elsewhere."""
    if view.tree.stars or name in view.evaluator.bare or name in view.source.unread_names:
        return False
    return not any(name in scope.bindings for scope in view.tree.own.values())


def place_below_imports(view: FileView, edit: Edit) -> int | None:
    """Where a function is written that an edit calls: below the module's last import above it.

    None if there is no line of its own.
    """
    above = [s for s in view.tree.module.body if view.source.span(s).end <= edit.span.start]
    last = next((n for n in range(len(above) - 1, -1, -1) if _imports(above[n])), None)
    if last is None or any(isinstance(s, ast.Global) for s in view.tree.module.body):
        return None
    body, end = view.tree.module.body, above[last].end_lineno
    if end is None or last + 1 == len(body) or body[last + 1].lineno <= end:
        return None
    start = view.source.line_span(end).end
    rest = view.source.body[start:]
    return start + len(rest) - len(rest.lstrip(b"\r\n"))


def _imports(statement: ast.stmt) -> bool:
    """Whether a statement imports, or tries to, and does nothing else."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return True
    if isinstance(statement, ast.Try):
        return all(_imports(s) for s in statement.body)
    return isinstance(statement, ast.If) and all(_imports(s) for s in (*statement.body, *statement.orelse))
