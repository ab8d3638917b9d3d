"""What an autograd function saves for its backward: Paddle takes any value, torch tensors only.

Where a number or a list may be among them, the context keeps all of them in an attribute, as torch's documentation
asks for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.plain_arguments import may_be_plain
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.view import FileView

_CODE = "AGD110"
_ATTRIBUTE = "saved_values"


def plan_saved_values(view: FileView, planned: Planned) -> Changes:
    """Keep what is saved in an attribute of the context, in each function that may save anything but tensors."""
    return joined(
        _kept_in_attribute(view, use.site.node)
        for use in planned.uses.converted
        if use.site.role == "base" and use.row.id == "autograd.Function"
    )


def _kept_in_attribute(view: FileView, base: ast.AST) -> Changes:
    function = view.parent(base)
    if not isinstance(function, ast.ClassDef) or view.is_deselected(_CODE, function):
        return NOTHING
    saves = [call for call in _calls(function, "save_for_backward") if isinstance(view.parent(call), ast.Expr)]
    if len(saves) != 1 or not any(may_be_plain(view, function, argument) for argument in saves[0].args):
        return NOTHING
    save, reads = saves[0], list(_calls(function, "saved_tensor"))
    if not reads or any(isinstance(a, ast.Starred) for a in save.args) or save.keywords:
        return NOTHING
    edits = list(_assignment(view, save))
    for read in reads:
        assert isinstance(read.func, ast.Attribute)
        start = view.source.span(read.func.value).end
        edits.append(Edit(Span(start, view.source.span(read).end), f".{_ATTRIBUTE}", _CODE))
    conversion = view.conversion(_CODE, save, "ctx.save_for_backward(number)", f"ctx.{_ATTRIBUTE} = (number,)")
    return Changes(tuple(edits), (conversion,), handled=frozenset(call.func for call in (save, *reads)))


def _calls(function: ast.ClassDef, method: str) -> Iterator[ast.Call]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
            yield node


def _assignment(view: FileView, save: ast.Call) -> Iterator[Edit]:
    """``ctx.saved_values = (a,)`` for ``ctx.save_for_backward(a)``: the brackets stay."""
    assert isinstance(save.func, ast.Attribute)
    function, owner = view.source.span(save.func), view.source.span(save.func.value)
    yield Edit(Span(owner.end, function.end), f".{_ATTRIBUTE} = ", _CODE)
    last = view.source.span(save.args[-1]).end
    if len(save.args) == 1 and "," not in view.source.slice(Span(last, view.source.span(save).end)):
        yield Edit(Span(last, last), ",", _CODE)
