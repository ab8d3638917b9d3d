"""Constructor calls of optimizers, schedulers, samplers and loaders: their arguments and assigned names."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from paddletorch_rules import Row

from paddletorch.model import DeferredText, Edit, Span
from paddletorch.plan.calls.bind import bind
from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.deferred_text import why_undecided
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.use import Draft, Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.plan.syntax.side_effects import is_pure


@dataclass(frozen=True, eq=False, slots=True)
class Constructor:
    """A constructor call of a tracked type, with its bound arguments."""

    site: Site
    row: Row
    call: ast.Call
    binding: CallBinding

    def value(self, name: str) -> ast.expr | None:
        """The argument of a parameter of the source; None if it is not given."""
        return self.binding.value(name)


def constructors_of(view: FileView, draft: Draft, type_name: str) -> list[Constructor]:
    """The constructor calls of a tracked type that convert, in source order.

    Those whose arguments cannot be bound are refused in ``draft``, unless the shim binds them at run time.
    """
    found: list[Constructor] = []
    for use in draft.making(type_name):
        site, row, call = use.site, use.row, use.site.call
        if site.role != "call" or call is None or not use.converts:
            continue
        if use.adapter or use.needed_module:
            continue
        forms = row.forms(view.settings.source)
        form = next((f for f in forms if site.name in f.names), forms[0])
        try:
            found.append(Constructor(site, row, call, bind(view, call, row, form, site.name)))
        except Refused as stop:
            draft.refuse(site, stop.refusal)
    return found


def refuse_undecided(draft: Draft, type_name: str) -> None:
    """Refuse the uses of one type in ``draft`` that still have deferred text."""
    for use in draft.making(type_name):
        deferred_texts = [part for edit in use.every_edit for part in edit.parts if isinstance(part, DeferredText)]
        if deferred_texts:
            draft.revise(use.refuse(why_undecided(deferred_texts[0])))


def fill_in(use: Use, deferred: DeferredText, text: str) -> Use:
    """The use with ``text`` in place of the deferred text in its edits."""
    edits = tuple(_filled(edit, deferred, text) for edit in use.edits)
    if use.whole is None:
        return replace(use, edits=edits)
    target = (use.target or "").partition("(")[0]
    return replace(use, edits=edits, whole=_filled(use.whole, deferred, text), target=target)


def _filled(edit: Edit, deferred: DeferredText, text: str) -> Edit:
    if deferred not in edit.parts:
        return edit
    parts: list[str | Span | DeferredText] = []
    for part in edit.parts:
        new = text if part == deferred else part
        last = parts[-1] if parts else None
        if isinstance(new, str) and isinstance(last, str):
            parts[-1] = last + new
        else:
            parts.append(new)
    if len(parts) == 1 and isinstance(parts[0], str):
        return edit._replace(text=parts[0], parts=())
    return edit._replace(parts=tuple(parts))


def has_deferred_text(use: Use, deferred: DeferredText) -> bool:
    """Whether the use's edits contain the deferred text."""
    return any(deferred in edit.parts for edit in use.every_edit)


def assigned_to(view: FileView, call: ast.expr) -> tuple[ast.stmt, ast.expr] | None:
    """The statement that assigns the value of ``call``, and its only target, a name or a dotted path.

    None where the target is an API, which the program replaces.
    """
    parent = view.parent(call)
    while isinstance(parent, ast.IfExp) and call in (parent.body, parent.orelse):
        call, parent = parent, view.parent(parent)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and parent.value is call:
        target = parent.targets[0]
    elif isinstance(parent, ast.AnnAssign) and parent.value is call:
        target = parent.target
    else:
        return None
    if isinstance(target, ast.Subscript) or (isinstance(target, ast.Attribute) and view.qualified(target)):
        return None
    return (parent, target) if path_of(target) else None


def source_text(view: FileView, node: ast.expr) -> str | None:
    """The source text of an expression, if evaluating it again elsewhere has the same result; else None."""
    return view.written(node) if _is_repeatable(node) else None


def _is_repeatable(node: ast.expr) -> bool:
    """Whether no part of the expression has a side effect, including conditions."""
    if isinstance(node, ast.Compare):
        return all(map(_is_repeatable, (node.left, *node.comparators)))
    if isinstance(node, ast.BoolOp):
        return all(map(_is_repeatable, node.values))
    if isinstance(node, ast.IfExp):
        return all(map(_is_repeatable, (node.test, node.body, node.orelse)))
    return is_pure(node)


def atom(text: str) -> str:
    """The text, in brackets unless it is one name, path or number."""
    tree = ast.parse(text, mode="eval").body
    simple = isinstance(tree, ast.Name | ast.Attribute | ast.Constant | ast.Subscript | ast.Call)
    return text if simple else f"({text})"
