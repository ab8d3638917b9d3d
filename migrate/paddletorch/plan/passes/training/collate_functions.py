"""Functions that join a batch, to torch: what they return becomes tensors, which Paddle's loader sees to itself."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.resolve import Instance, NoneValue, Qualified
from paddletorch.resolve.values import TENSOR, Container, Local, Value

_CODE = "DAT101"


def plan_collate_functions(view: FileView, planned: Planned) -> Changes:
    """Make tensors of the arrays in what each function returns that a converted loader is given.

    A function of this file does so itself, unless it gives tensors; one that is not seen, or may be another one, is
    wrapped where it is given. What it takes may be arrays too, so none is known by what it calls.
    """
    functions: dict[ast.FunctionDef, None] = {}
    wrapped: list[Changes] = []
    for use in planned.uses:
        if use.site.name == "paddle.io.DataLoader" and use.converts and use.site.call is not None:
            given = next((k.value for k in use.site.call.keywords if k.arg == "collate_fn"), None)
            found = _functions(view, given) if given is not None else []
            functions |= dict.fromkeys(found or ())
            if given is not None and found is None and not view.is_deselected(_CODE, given):
                wrapped.append(_wrapped(view, planned, given))
    returned = (_returned(view, planned, function) for function in functions)
    return joined([*wrapped, *returned])


def _functions(view: FileView, node: ast.expr) -> list[ast.FunctionDef] | None:
    """The functions of this file that an argument can be, and the ``__call__`` of its objects.

    None if it can be another one as well.
    """
    partial = isinstance(node, ast.Call) and view.qualified(node.func) == "functools.partial"
    if isinstance(node, ast.Call) and partial and node.args:
        return _functions(view, node.args[0])
    found: list[ast.FunctionDef] = []
    for value in view.evaluator.values(node):
        if isinstance(value, Local) and isinstance(value.node, ast.FunctionDef):
            found.append(value.node)
        elif isinstance(value, Instance) and value.node is not None:
            methods = [s for s in value.node.body if isinstance(s, ast.FunctionDef) and s.name == "__call__"]
            if not methods:
                return None
            found += methods
        elif not isinstance(value, NoneValue) and not (isinstance(value, Qualified) and value.name.startswith(_OWN)):
            return None
    return found


def _wrapped(view: FileView, planned: Planned, given: ast.expr) -> Changes:
    span = view.source.span(given)
    edits = (Edit(Span(span.start, span.start), "PaddleCollate(", _CODE), Edit(Span(span.end, span.end), ")", _CODE))
    try:
        changes = spelled(view, planned.naming.aliases, given, edits, "paddle.io.DataLoader")
    except Refused:
        return NOTHING
    return changes._replace(conversions=(view.conversion(_CODE, given, "collate_fn", "PaddleCollate"),))


_OWN = "paddle."


def _are_tensors(values: Iterable[Value]) -> bool:
    """Whether each can be nothing but a tensor, or a container of tensors; one that is empty here is filled later."""
    for value in values:
        if isinstance(value, Container):
            if not value.elements or not _are_tensors(value.elements):
                return False
        elif not isinstance(value, Instance) or value.type != TENSOR:
            return False
    return True


def _returned(view: FileView, planned: Planned, function: ast.FunctionDef) -> Changes:
    scope = view.tree.own.get(function)
    found: list[Changes] = []
    for value in scope.returns if scope is not None else ():
        if value is None or isinstance(value, ast.Constant) or view.is_deselected(_CODE, value):
            continue
        if _are_tensors(view.evaluator.values(value)) and not _is_filled_by_key(function, value):
            continue
        span = view.source.span(value)
        before, after = ("((", "))") if _is_bare_tuple(value, view.source.slice(span)) else ("(", ")")
        edit = Edit(span, "", _CODE, (f"torch.utils.data.default_convert{before}", span, after))
        try:
            changes = spelled(view, planned.naming.aliases, value, (edit,), "paddle.io.DataLoader")
        except Refused:
            continue
        written = view.conversion(_CODE, value, "collate_fn", "torch.utils.data.default_convert")
        found.append(changes._replace(conversions=(written,)))
    return joined(found)


def _is_filled_by_key(function: ast.FunctionDef, returned: ast.expr) -> bool:
    """Whether ``batch[key] = value`` stands in the function, for a name that it returns."""
    stores = (n for n in ast.walk(function) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
    name = returned.id if isinstance(returned, ast.Name) else None
    return any(isinstance(store.value, ast.Name) and store.value.id == name for store in stores)


def _is_bare_tuple(node: ast.expr, text: str) -> bool:
    """Whether this is a tuple without brackets around it, as ``(a), b`` is."""
    if not isinstance(node, ast.Tuple):
        return False
    return not text.startswith("(") or not isinstance(ast.parse(f"f{text}", mode="eval").body, ast.Call)
