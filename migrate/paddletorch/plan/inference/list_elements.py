"""The elements of a list that are written in the file: in its display, or appended to its variable."""

from __future__ import annotations

import ast

from paddletorch.plan.model.view import FileView


def list_elements(view: FileView, node: ast.expr | None) -> list[ast.expr]:
    """The expressions that the list holds, as far as they are seen; one for all elements of a comprehension."""
    if isinstance(node, ast.List | ast.Tuple):
        return list(node.elts)
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return [node.elt]
    if not isinstance(node, ast.Name) or node not in view.tree.scopes:
        return []
    bindings = view.tree.scopes[node].lookup(node.id)
    found = [e for b in bindings if isinstance(b.value, ast.List | ast.ListComp) for e in list_elements(view, b.value)]
    for load in view.tree.reads(bindings):
        member = view.parent(load)
        call = view.parent(member) if isinstance(member, ast.Attribute) and member.attr == "append" else None
        if isinstance(call, ast.Call) and call.args and view.tree.scopes[load].lookup(load.id) is bindings:
            found.append(call.args[0])
    return found
