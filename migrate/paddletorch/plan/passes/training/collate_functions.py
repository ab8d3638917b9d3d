"""Functions that join a batch, to torch: what they return becomes tensors, which Paddle's loader sees to itself."""

from __future__ import annotations

import ast
import sys

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.resolve import Instance, NoneValue, Qualified
from paddletorch.resolve.values import Local

_CODE = "DAT101"


def plan_collate_functions(view: FileView, planned: Planned) -> Changes:
    """Make tensors of the arrays in what each function returns that a converted loader is given.

    A function of this file does so itself; one that is not seen, or may be another one, is wrapped where it is given.
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
    returned = (_returned(view, planned, function) for function in functions if _uses_arrays(view, function))
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
_LEVELS = 3


def _uses_arrays(view: FileView, function: ast.FunctionDef, levels: int = _LEVELS) -> bool:
    """Whether the function, or one of this file that it names, names NumPy or what other files define."""
    names = (n for n in ast.walk(function) if isinstance(n, ast.Name) and n in view.tree.scopes)
    for value in (value for name in names for value in view.evaluator.values(name)):
        if isinstance(value, Qualified) and not _is_known(value.name.partition(".")[0]):
            return True
        other = value.node if isinstance(value, Local) else None
        if not isinstance(other, ast.FunctionDef) or other is function:
            continue
        if levels and _uses_arrays(view, other, levels - 1):
            return True
    return False


def _is_known(package: str) -> bool:
    """Whether what a package defines makes no arrays."""
    return package in sys.stdlib_module_names or package in ("builtins", "paddle")


def _returned(view: FileView, planned: Planned, function: ast.FunctionDef) -> Changes:
    scope = view.tree.own.get(function)
    found: list[Changes] = []
    for value in scope.returns if scope is not None else ():
        if value is None or isinstance(value, ast.Constant) or view.is_deselected(_CODE, value):
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


def _is_bare_tuple(node: ast.expr, text: str) -> bool:
    """Whether this is a tuple without brackets around it, as ``(a), b`` is."""
    if not isinstance(node, ast.Tuple):
        return False
    return not text.startswith("(") or not isinstance(ast.parse(f"f{text}", mode="eval").body, ast.Call)
