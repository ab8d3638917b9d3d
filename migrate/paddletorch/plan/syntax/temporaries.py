"""Assigns arguments to variables before the statement, where a template would evaluate them twice."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch_rules import Row

from paddletorch.model import Edit, Span
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.free_names import free_name
from paddletorch.plan.syntax.precedence import is_closed
from paddletorch.plan.syntax.statements import own_line


def hoist(
    view: FileView, call: ast.Call, values: Iterable[tuple[str, ast.expr]], code: str
) -> tuple[dict[str, str], Edit] | None:
    """Names for the arguments, and the edit that assigns them before the statement; None if that changes the result.

    The call must be the first thing its statement evaluates, so that the order of evaluation is unchanged.
    """
    statement = _statement_that_begins_with(view, call)
    if statement is None or view.in_fstring(call):
        return None
    if view.tree.scopes[call].kind == "class":
        return None  # the name would be an attribute of the class, and functions in the template would not see it
    wanted = sorted(values, key=lambda pair: view.source.span(pair[1]).start)
    evaluated = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    evaluated += [*call.args, *(k.value for k in call.keywords)]
    last = max(view.source.span(value).end for _, value in wanted)
    moved = {id(value) for _, value in wanted}
    if any(id(e) not in moved and view.source.span(e).start < last and not _is_fixed(e) for e in evaluated):
        return None
    if _rebinds(statement, call, [value for _, value in wanted]):
        return None
    names: dict[str, str] = {}
    lines: list[str | Span] = []
    is_first = own_line(view, statement)
    end = view.source.newline + view.source.indentation(statement.lineno) if is_first else "; "
    for placeholder, value in wanted:
        name = free_name(view, call, "values" if placeholder in ("x", "self", "input") else placeholder, names.values())
        names[placeholder] = name
        lines += [f"{name} = ", *_in_brackets(view, value), end]
    span = view.source.span(statement)
    return names, Edit(span, "", code, (*lines, span))


def _statement_that_begins_with(view: FileView, call: ast.Call) -> ast.stmt | None:
    """The statement whose value is the call, or an expression around it that evaluates only constants before it."""
    outer: ast.expr = call
    while True:
        outer = _begun_with(view, outer)
        around = _call_around(view, outer)
        if not isinstance(around, ast.Call):
            break
        start = view.source.span(outer).start
        given = (*around.args, *(k.value for k in around.keywords))
        if not all(isinstance(e, ast.Constant) or view.source.span(e).start >= start for e in given):
            return None
        outer = around
    statement = view.parent(outer)
    if isinstance(statement, ast.AugAssign) and not isinstance(statement.target, ast.Name):
        return None
    kinds = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr
    return statement if isinstance(statement, kinds) and statement.value is outer else None


def _rebinds(statement: ast.stmt, call: ast.Call, values: Iterable[ast.expr]) -> bool:
    """Whether a value binds a name that the statement reads beside the call: ``n + f((n := x))``."""
    bound = {n.target.id for value in values for n in ast.walk(value) if isinstance(n, ast.NamedExpr)}
    if not bound:
        return False
    inside = set(ast.walk(call))
    return any(n.id in bound for n in ast.walk(statement) if isinstance(n, ast.Name) and n not in inside)


def _begun_with(view: FileView, node: ast.expr) -> ast.expr:
    """The largest expression that evaluates ``node`` before all but names: ``x.split(2)[0] + y`` for ``x``."""
    while True:
        parent = view.parent(node)
        is_first = isinstance(parent, ast.Attribute | ast.Subscript) and parent.value is node
        is_first = is_first or (isinstance(parent, ast.Call) and parent.func is node)
        if isinstance(parent, ast.BinOp):
            is_first = parent.left is node or isinstance(parent.left, ast.Name | ast.Constant)
        if not is_first:
            return node
        assert isinstance(parent, ast.expr)
        node = parent


def _call_around(view: FileView, node: ast.expr) -> ast.AST | None:
    """The call of a plain name, such as that of a function in a module, that ``node`` is an argument of."""
    parent = view.parent(node)
    call = view.parent(parent) if isinstance(parent, ast.keyword) else parent
    return call if isinstance(call, ast.Call) and call.func is not node and _is_fixed(call.func) else None


def rows_of(view: FileView, call: ast.Call) -> list[Row]:
    """The rows of all APIs that the call may be one of, by its name or as a method."""
    name = view.qualified(call.func)
    pairs = view.settings.overloads(name) if name is not None else []
    if isinstance(call.func, ast.Attribute):
        pairs = [*pairs, *view.settings.members(call.func.attr)]
    return [row for row, _ in pairs]


def _in_brackets(view: FileView, value: ast.expr) -> list[str | Span]:
    """The expression, in brackets unless it can be a statement's value as it is."""
    span = view.source.span(value)
    bare = not isinstance(value, ast.NamedExpr) and is_closed(view.source.slice(span))
    return [span] if bare else ["(", span, ")"]


def _is_fixed(node: ast.expr) -> bool:
    """Whether evaluating the expression earlier or later makes no difference."""
    return all(isinstance(n, _FIXED) for n in ast.walk(node))


_FIXED = (ast.Name, ast.Attribute, ast.Constant, ast.UnaryOp, ast.unaryop, ast.Load)
