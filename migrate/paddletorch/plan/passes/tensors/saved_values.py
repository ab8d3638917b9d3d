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
from paddletorch.plan.syntax.brackets import first_part
from paddletorch.text.call_spans import read_layout

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
        edits.append(Edit(view.source.span(read), "", _CODE, (_owner(view, read), f".{_ATTRIBUTE}")))
    conversion = view.conversion(_CODE, save, "ctx.save_for_backward(number)", f"ctx.{_ATTRIBUTE} = (number,)")
    return Changes(tuple(edits), (conversion,), handled=frozenset(call.func for call in (save, *reads)))


def _calls(function: ast.ClassDef, method: str) -> Iterator[ast.Call]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
            yield node


def _owner(view: FileView, call: ast.Call) -> Span:
    """The object whose method is called, with the brackets around it."""
    assert isinstance(call.func, ast.Attribute)
    return first_part(view.source, call.func.value, call.func)


def _assignment(view: FileView, save: ast.Call) -> Iterator[Edit]:
    """``ctx.saved_values = (a,)`` for ``ctx.save_for_backward(a)``: the brackets stay."""
    statement, whole = view.parent(save), view.source.span(save)
    assert isinstance(statement, ast.Expr)
    layout = read_layout(view.source, save)
    values = Span(layout.function.end, whole.end)
    yield Edit(view.source.span(statement), "", _CODE, (_owner(view, save), f".{_ATTRIBUTE} = ", values))
    last = layout.arguments[-1].value.end
    if len(save.args) == 1 and "," not in view.source.slice(Span(last, whole.end)):
        yield Edit(Span(last, last), ",", _CODE)
