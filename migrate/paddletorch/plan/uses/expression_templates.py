"""Expressions that match a template of the source side: ``str(x.place)[6:-1]``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules import Form, Row

from paddletorch.model import Edit
from paddletorch.plan.calls.fill_template import fill
from paddletorch.plan.calls.translate import translate_edits
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.match import Match
from paddletorch.plan.model.refusals import NeedsWholeCall, Refused
from paddletorch.plan.model.template import Template
from paddletorch.plan.model.view import FileView

_DEPTH = 8
"""How many ancestors of a member are compared with a template."""


def find_matches(view: FileView, receivers: Receivers) -> dict[ast.expr, Match]:
    """The outermost matching expression around each member that a template contains."""
    index = _index(view)
    found: dict[ast.expr, Match] = {}
    taken: set[ast.AST] = set()
    attributes = [n for n in view.tree.attributes if n.attr in index]
    attributes.sort(key=lambda n: (n.lineno, n.col_offset))
    for start in attributes:
        if start in taken:
            continue
        match = _around(view, start, index[start.attr])
        if match is None or receivers.certainty_for_expression(start.value, match.row) is not Certainty.YES:
            continue
        found[match.node] = match
        taken |= match.attributes
    return found


def _index(view: FileView) -> dict[str, list[tuple[Row, Template]]]:
    """Templates of the source side, by the members that they use."""
    settings = view.settings

    def collect() -> dict[str, list[tuple[Row, Template]]]:
        found: dict[str, list[tuple[Row, Template]]] = {}
        for row in sorted(settings.rows, key=lambda r: (r.file, r.id)):
            for form in row.forms(settings.source) if row.kind in ("method", "attribute") else ():
                for text in (form.template, *form.also) if not form.names else ():
                    template = Template(text or "")
                    for attribute in template.members():
                        found.setdefault(attribute, []).append((row, template))
        return found

    return settings.cached("templates", None, collect)


def _around(view: FileView, start: ast.Attribute, options: list[tuple[Row, Template]]) -> Match | None:
    best: Match | None = None
    node: ast.AST | None = start
    for _ in range(_DEPTH):
        if not isinstance(node, ast.expr):
            break
        for row, template in options:
            arguments = template.match(node, view.tree.scopes)
            is_read = isinstance(getattr(node, "ctx", None), ast.Load | None)  # else statements are written anew
            if is_read and arguments is not None and arguments.get("self") is start.value:
                best = Match(node, start, row, arguments, frozenset(_skeleton(node, arguments)))
                break
        node = view.parent(node)
    return best


def _skeleton(node: ast.AST, arguments: dict[str, ast.expr]) -> Iterator[ast.Attribute]:
    """The attribute nodes of an expression that belong to the template, not to its arguments."""
    if any(node is argument for argument in arguments.values()):
        return
    if isinstance(node, ast.Attribute):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _skeleton(child, arguments)


def replace_match(view: FileView, match: Match, form: Form) -> list[Edit]:
    """Edits that write the target's form around the receiver and the template's other arguments.

    Raises:
        Refused: a value has no counterpart, or the target's form has no parameter for an argument.
    """
    source, row = view.settings.source, match.row
    arguments: dict[str, ast.expr | tuple[ast.expr, ast.expr] | str] = {"self": match.arguments["self"]}
    edits: list[Edit] = []
    for pair in row.parameters:
        name, target = pair.name(source), pair.name(view.target)
        if name is None or target is None or name not in match.arguments:
            continue
        arguments[target] = match.arguments[name]
        values = view.settings.table.values[pair.values] if pair.values else None
        edits += translate_edits(view, match.arguments[name], values, row.code)
    if len(arguments) < len(match.arguments):
        written = form.template or (form.names[0] if form.names else "")
        raise Refused(NeedsWholeCall("an expression of several parts", written))
    text = form.template
    if text is None:
        given = ", ".join(f"{name}={{{name}}}" for name in arguments if name != "self")
        text = "{self}." + form.names[0] + (f"({given})" if row.kind == "method" else "")
    parts = fill(view, text, arguments, match.node)
    return [Edit(view.source.span(match.node), "", row.code, tuple(parts)), *edits]
