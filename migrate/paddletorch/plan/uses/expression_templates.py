"""Source expressions that the tables write as a template on a receiver: ``str(x.place)[6:-1]``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules import Form, Row

from paddletorch.model import Edit
from paddletorch.plan.calls.fill_template import fill
from paddletorch.plan.calls.translate import translate_edits
from paddletorch.plan.inference.receivers import Evidence, Receivers
from paddletorch.plan.model.findings import Match
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.template import Template
from paddletorch.plan.model.view import FileView

_DEPTH = 8
"""How many levels above a member its template can begin."""


def find_matches(view: FileView, receivers: Receivers) -> dict[ast.expr, Match]:
    """The outermost match around each member that begins a template."""
    index = _index(view)
    found: dict[ast.expr, Match] = {}
    taken: set[ast.AST] = set()
    attributes = [n for n in view.tree.attributes if n.attr in index]
    attributes.sort(key=lambda n: (n.lineno, n.col_offset))
    for start in attributes:
        if start in taken:
            continue
        match = _around(view, start, index[start.attr])
        if match is None or receivers.evidence(start.value, match.row.receiver or "") is not Evidence.YES:
            continue
        found[match.node] = match
        taken |= match.attributes
    return found


def _index(view: FileView) -> dict[str, list[tuple[Row, Template]]]:
    settings = view.settings
    if not settings.templates:
        for row in sorted(settings.rows, key=lambda r: (r.file, r.id)):
            for form in row.forms(settings.source) if row.kind in ("method", "attribute") else ():
                for text in (form.template, *form.also) if not form.names else ():
                    template = Template(text or "")
                    for attribute in template.members():
                        settings.templates.setdefault(attribute, []).append((row, template))
        settings.templates.setdefault("", [])
    return settings.templates


def _around(view: FileView, start: ast.Attribute, options: list[tuple[Row, Template]]) -> Match | None:
    best: Match | None = None
    node: ast.AST | None = start
    for _ in range(_DEPTH):
        if not isinstance(node, ast.expr):
            break
        for row, template in options:
            holes = template.match(node)
            if holes is not None and holes.get("self") is start.value:
                best = Match(node, start, row, holes, frozenset(_skeleton(node, holes)))
                break
        node = view.parent(node)
    return best


def _skeleton(node: ast.AST, holes: dict[str, ast.expr]) -> Iterator[ast.Attribute]:
    """The attributes of an expression that are the template's own."""
    if any(node is hole for hole in holes.values()):
        return
    if isinstance(node, ast.Attribute):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _skeleton(child, holes)


def replace_match(view: FileView, match: Match, form: Form) -> list[Edit]:
    """Edits that write the target's form around the receiver and the other holes.

    Raises:
        Refusal: a value has no counterpart, or the target's form needs more than the template holds.
    """
    source, row = view.settings.source, match.row
    arguments: dict[str, ast.expr | tuple[ast.expr, ast.expr] | str] = {"self": match.holes["self"]}
    edits: list[Edit] = []
    for pair in row.parameters:
        name, target = pair.name(source), pair.name(view.target)
        if name is None or target is None or name not in match.holes:
            continue
        arguments[target] = match.holes[name]
        values = view.settings.table.values[pair.values] if pair.values else None
        edits += translate_edits(view, match.holes[name], values, row.code)
    if len(arguments) < len(match.holes):
        written = form.names[0] if form.names else ""
        raise Refusal("API210", problem="it cannot be written another way", signature=written)
    text = form.template
    if text is None:
        given = ", ".join(f"{name}={{{name}}}" for name in arguments if name != "self")
        text = "{self}." + form.names[0] + (f"({given})" if row.kind == "method" else "")
    parts = fill(view, text, arguments, match.node)
    return [Edit(view.source.span(match.node), "", row.code, tuple(parts)), *edits]
