"""What the plans of optimizers and schedulers share: their constructors' arguments and the names they get."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from paddletorch.model import Edit
from paddletorch.plan.calls.binding import CallBinding, bind
from paddletorch.plan.inference.receivers import path_of
from paddletorch.plan.model.outcome import Outcome, finding
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView
from paddletorch.plan.sites.sites import Site
from paddletorch.plan.syntax.side_effects import is_pure


@dataclass(eq=False, slots=True)
class Made:
    """One constructor call of an optimizer or scheduler that converts."""

    site: Site
    outcome: Outcome
    call: ast.Call
    binding: CallBinding

    @property
    def row(self) -> str:
        """The name of the row that converts it."""
        return self.outcome.row.id

    def value(self, name: str) -> ast.expr | None:
        """The expression that the call gives for a source parameter."""
        return self.binding.value(name)


def made(view: FileView, planned: list[tuple[Site, Outcome]], instance: str) -> list[Made]:
    """The calls that make an instance of the tracked type ``instance`` and convert, in source order."""
    found: list[Made] = []
    for site, outcome in planned:
        call = site.call
        if outcome.row.instance != instance or site.role != "call" or call is None or outcome.target is None:
            continue
        forms = outcome.row.forms(view.settings.source)
        form = next((f for f in forms if site.name in f.names), forms[0])
        try:
            found.append(Made(site, outcome, call, bind(view, call, outcome.row, form, site.name)))
        except Refusal as refusal:
            refuse(refusal, site, outcome)
    return found


def refuse(refusal: Refusal, site: Site, outcome: Outcome) -> None:
    """Leave the call as it is, with a finding."""
    outcome.target, outcome.whole, outcome.full, outcome.edits = None, None, False, []
    outcome.findings = [finding(refusal, site.node, site.name, outcome.row)]


def fill_in(outcome: Outcome, placeholder: str, text: str) -> None:
    """Write ``text`` where the outcome's edits hold a placeholder."""
    outcome.edits = [_filled(edit, placeholder, text) for edit in outcome.edits]
    if outcome.whole is not None:
        outcome.whole = _filled(outcome.whole, placeholder, text)
        outcome.target = (outcome.target or "").partition("(")[0]


def _filled(edit: Edit, placeholder: str, text: str) -> Edit:
    parts = tuple(p.replace(placeholder, text) if isinstance(p, str) else p for p in edit.parts)
    return replace(edit, text=edit.text.replace(placeholder, text), parts=parts)


def holds(outcome: Outcome, placeholder: str) -> bool:
    """Whether the outcome's edits hold a placeholder."""
    edits = [*outcome.edits, *([outcome.whole] if outcome.whole is not None else [])]
    return any(placeholder in edit.written for edit in edits)


def assigned_to(view: FileView, call: ast.expr) -> tuple[ast.stmt, ast.expr] | None:
    """The statement and the one target (a name or a dotted path) that the value of ``call`` is given to."""
    parent = view.parent(call)
    while isinstance(parent, ast.IfExp) and call in (parent.body, parent.orelse):
        call, parent = parent, view.parent(parent)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and parent.value is call:
        target = parent.targets[0]
    elif isinstance(parent, ast.AnnAssign) and parent.value is call:
        target = parent.target
    else:
        return None
    return (parent, target) if path_of(target) and not isinstance(target, ast.Subscript) else None


def source_text(view: FileView, node: ast.expr) -> str | None:
    """An expression as it is written, if it can be read again elsewhere with the same result."""
    if not _is_readable(node):
        return None
    text = view.source.slice(view.source.span(node))
    return text if "\n" not in text else ast.unparse(node)


def _is_readable(node: ast.expr) -> bool:
    """Whether nothing in the expression has an effect: conditions of pure parts count too."""
    if isinstance(node, ast.Compare):
        return all(map(_is_readable, (node.left, *node.comparators)))
    if isinstance(node, ast.BoolOp):
        return all(map(_is_readable, node.values))
    if isinstance(node, ast.IfExp):
        return all(map(_is_readable, (node.test, node.body, node.orelse)))
    return is_pure(node)


def atom(text: str) -> str:
    """The text, in brackets unless it is one name, path or number."""
    tree = ast.parse(text, mode="eval").body
    simple = isinstance(tree, ast.Name | ast.Attribute | ast.Constant | ast.Subscript | ast.Call)
    return text if simple else f"({text})"
