"""Loaders that are asked again after their end, to Paddle: ``self.loader = iter(loader)`` of a prefetcher.

An iterator of Paddle's loader raises StopIteration once and RuntimeError from then on (3.3.1), torch's StopIteration
each time. A generator over the loader does as torch's iterator.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paddletorch_rules.guesses import suggests

from paddletorch.model import Edit
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.view import FileView

_CODE = "DAT101"


def plan_exhausted_loaders(view: FileView, planned: Planned) -> Changes:
    """Write a generator in place of each iterator that an attribute holds and that may be asked after its end."""
    asked = {name for call in view.tree.calls_of("next") if (name := _outlives_its_end(view, call))}
    edits, conversions = [], []
    for call in view.tree.calls_of("iter") if asked else ():
        if _is_held(view, call, asked) and view.is_sources(call.args[0]) and not view.is_deselected(_CODE, call):
            loader = view.source.span(call.args[0])
            edits.append(Edit(view.source.span(call), "", _CODE, ("(batch for batch in ", loader, ")")))
            conversions.append(view.conversion(_CODE, call, "iter", "a generator"))
    return Changes(tuple(edits), tuple(conversions)) if edits else NOTHING


def _is_held(view: FileView, call: ast.Call, asked: set[str]) -> bool:
    """Whether this is ``iter(loader)``, and one of the attributes ``asked`` is what it is assigned to."""
    statement = view.parent(call)
    if not _calls(view, call, "iter") or len(call.args) != 1 or not isinstance(statement, ast.Assign):
        return False
    held = any(isinstance(target, ast.Attribute) and target.attr in asked for target in statement.targets)
    return held and suggests("loader", view.text(call.args[0]))


def _outlives_its_end(view: FileView, call: ast.Call) -> str:
    """The attribute of ``next(self.loader)`` that may be called when it has raised, and that is not set anew then."""
    iterator = call.args[0] if _calls(view, call, "next") and call.args else None
    if not isinstance(iterator, ast.Attribute):
        return ""
    caught = list(_handlers(view, call))
    stays = bool(caught) and not any(_assigns(handler, iterator.attr) for handler in caught)
    return iterator.attr if stays or len(call.args) == 2 else ""


def _calls(view: FileView, call: ast.Call, name: str) -> bool:
    """Whether this is a call of the builtin, without keywords."""
    named = isinstance(call.func, ast.Name) and call.func.id == name and not call.keywords
    return named and not view.tree.scopes[call.func].lookup(name)


def _handlers(view: FileView, call: ast.Call) -> Iterator[ast.ExceptHandler]:
    """What catches StopIteration around the call, in the same function."""
    node: ast.AST = call
    while (parent := view.parent(node)) is not None and not isinstance(parent, ast.FunctionDef | ast.Lambda):
        if isinstance(parent, ast.Try) and node in parent.body:
            yield from (
                one for one in parent.handlers if one.type is not None and "StopIteration" in view.text(one.type)
            )
        node = parent


def _assigns(handler: ast.ExceptHandler, name: str) -> bool:
    """Whether the handler sets the attribute, or calls a method that may."""
    stored = (node for node in ast.walk(handler) if isinstance(node, ast.Attribute))
    return any(
        (node.attr == name and isinstance(node.ctx, ast.Store)) or re.search("reset|init|iter", node.attr)
        for node in stored
    )
