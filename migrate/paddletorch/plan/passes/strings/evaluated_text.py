"""Text that ``eval`` reads: ``eval("nn.layer.activation.{}()".format(name))``, ``eval(norm_layer)(width)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paddletorch.model import Edit
from paddletorch.plan.model.changes import Changes, Planned, joined
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.target_forms import target_name
from paddletorch.plan.model.view import FileView

_PATH = re.compile(r"([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)+)")
"""A dotted name at the beginning of the text."""


def plan_evaluated_text(view: FileView, planned: Planned) -> Changes:
    """Write the target's module where the text names one, and report text that names an API of the source."""
    if b"eval" not in view.source.body or not planned.uses.converted:
        return Changes()
    return joined(_planned(view, planned, call, text) for call in _evaluations(view) for text in _texts(view, call))


def _evaluations(view: FileView) -> Iterator[ast.Call]:
    """The calls of the builtin ``eval``."""
    for call in view.tree.calls:
        named = isinstance(call.func, ast.Name) and call.func.id == "eval" and bool(call.args)
        if named and not view.tree.scopes[call.func].lookup("eval"):
            yield call


def _texts(view: FileView, call: ast.Call) -> Iterator[ast.Constant]:
    """The strings that the call may evaluate, as far as the file shows them: also a parameter's default."""
    node = call.args[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        node = node.func.value
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        node = node.left
    values = [node]
    if isinstance(node, ast.Name) and node in view.tree.scopes:
        values = [b.value for b in view.tree.scopes[node].lookup(node.id) if b.value is not None]
    yield from (v for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str))


def _planned(view: FileView, planned: Planned, call: ast.Call, text: ast.Constant) -> Changes:
    """The edit of one text, or the finding that it names an API of the source."""
    found = _PATH.match(str(text.value))
    bindings = view.tree.scopes[call.func].lookup(found[1]) if found is not None else ()
    qualified = bindings[0].qualified if len(bindings) == 1 else None
    if found is None or qualified is None or not view.settings.is_of_source(qualified):
        return Changes()
    path = qualified + found[2]
    known = view.settings.lookup(f"{path}.__dict__")
    group = planned.naming.groups.get(id(bindings))
    if known is None or group is None or group.target is None:
        named = view.settings.lookup(path)
        replacement = "the target's name" if named is None else target_name(named[0], view)
        return Changes(findings=(finding("API206", text, path, named and named[0], replacement=replacement),))
    row = known[0]
    written = target_name(row, view).removesuffix(".__dict__").removeprefix(group.target + ".")
    span = view.source.span(text)
    before = view.source.slice(span)
    if view.is_deselected(row.code, text) or found[0] not in before:
        return Changes()
    edit = Edit(span, before.replace(found[0], f"{found[1]}.{written}", 1), row.code)
    return Changes((edit,), (view.conversion(row.code, text, path, f"{group.target}.{written}", row.id),))
