"""Functions that join a batch, to torch: what they return becomes tensors, which Paddle's loader sees to itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.resolve import Instance, Qualified
from paddletorch.resolve.values import Local

_CODE = "DAT101"


def plan_collate_functions(view: FileView, planned: Planned) -> Changes:
    """Make tensors of the arrays in what each function returns that a converted loader is given."""
    if view.target != "torch":
        return NOTHING
    functions: dict[ast.FunctionDef, None] = {}
    for use in planned.uses:
        if use.site.name == "paddle.io.DataLoader" and use.converts and use.site.call is not None:
            given = next((k.value for k in use.site.call.keywords if k.arg == "collate_fn"), None)
            functions |= dict.fromkeys(_functions(view, given) if given is not None else ())
    return joined(_returned(view, planned, function) for function in functions if _uses_arrays(view, function))


def _functions(view: FileView, node: ast.expr) -> Iterator[ast.FunctionDef]:
    """The functions of this file that an argument can be, and the ``__call__`` of its objects."""
    for value in view.evaluator.values(node):
        if isinstance(value, Local) and isinstance(value.node, ast.FunctionDef):
            yield value.node
        elif isinstance(value, Instance) and value.node is not None:
            methods = (s for s in value.node.body if isinstance(s, ast.FunctionDef) and s.name == "__call__")
            yield from methods


def _uses_arrays(view: FileView, function: ast.FunctionDef) -> bool:
    """Whether the function names NumPy."""
    names = (n for n in ast.walk(function) if isinstance(n, ast.Name) and n in view.tree.scopes)
    values = (value for name in names for value in view.evaluator.values(name))
    return any(isinstance(value, Qualified) and value.name.partition(".")[0] == "numpy" for value in values)


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
