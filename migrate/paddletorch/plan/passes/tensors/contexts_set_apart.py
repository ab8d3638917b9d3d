"""Autograd functions whose ``forward`` takes no context: torch calls ``setup_context``, which Paddle does not know.

``forward`` gets the context as its first parameter, and calls ``setup_context`` with what it returns.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from paddletorch.model import Edit, Span
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.statements import ends_line, own_line


class SetApart(NamedTuple):
    """What makes ``forward`` fill the context; no context where its first parameter is one already."""

    context: str | None
    edits: tuple[Edit, ...]


_PLAIN = SetApart(None, ())


def plan_set_apart(view: FileView, function: ast.ClassDef, code: str) -> SetApart | None:
    """The edits for an autograd function; None where its ``setup_context`` cannot be called from ``forward``."""
    methods = methods_of(function)
    setup, forward = methods.get("setup_context"), methods.get("forward")
    if setup is None:
        return _PLAIN
    if forward is None or len(setup.args.args) != 3 or not forward.args.args or forward.args.posonlyargs:
        return None
    context, given = setup.args.args[0].arg, forward.args
    first, returns = first_statement(forward), [s for s in ast.walk(forward) if isinstance(s, ast.Return)]
    names = {n.id for n in ast.walk(forward) if isinstance(n, ast.Name)} | {a.arg for a in given.args}
    if first is None or given.kwonlyargs or given.kwarg or {context, "output"} & names or not returns:
        return None
    if not all(_stands_alone(view, statement) for statement in returns):
        return None
    passed = [a.arg for a in given.args] + ([f"*{given.vararg.arg}"] if given.vararg else [])
    inputs = f"({passed[0]},)" if len(passed) == 1 else f"({', '.join(passed)})"
    call = f"{function.name}.setup_context({context}, {inputs}, output)"
    start = view.source.span(given.args[0]).start
    edits = [Edit(Span(start, start), f"{context}, ", code)]
    for statement in returns:
        assert statement.value is not None
        span = view.source.span(statement)
        word = Span(span.start, span.start + len("return"))
        gap = "" if view.source.body[word.end : word.end + 1].isspace() else " "
        line_end = view.source.newline + view.source.indentation(statement.lineno)
        edits.append(Edit(word, f"output ={gap}", code))
        edits.append(Edit(Span(span.end, span.end), f"{line_end}{call}{line_end}return output", code))
    return SetApart(context, tuple(edits))


def _stands_alone(view: FileView, statement: ast.Return) -> bool:
    """Whether the statement has its lines for itself, belongs to ``forward``, and returns something."""
    around = view.parent(statement)
    while around is not None and not isinstance(around, ast.FunctionDef | ast.Lambda):
        around = view.parent(around)
    own = isinstance(around, ast.FunctionDef) and around.name == "forward"
    return own and statement.value is not None and own_line(view, statement) and ends_line(view, statement)


def methods_of(function: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    """The methods of a class by name."""
    return {s.name: s for s in function.body if isinstance(s, ast.FunctionDef)}


def first_statement(function: ast.FunctionDef) -> ast.stmt | None:
    """The first statement after the docstring, if it starts a line."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    before = function.body[0] if body is not function.body else None
    if not body or body[0].lineno == function.lineno or (before and before.end_lineno == body[0].lineno):
        return None
    return body[0]
