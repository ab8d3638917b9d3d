"""Counts what became of every use of the source framework's API, known to the tables or not."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch.model import Uses
from paddletorch.plan.model.member_plan import MemberPlan
from paddletorch.plan.model.outcome import Outcome
from paddletorch.plan.model.view import FileView
from paddletorch.plan.sites.sites import Site

UNKNOWN_API = "API225"


def count_uses(view: FileView, planned: Iterable[tuple[Site, Outcome]], members: MemberPlan) -> dict[str, Uses]:
    """Uses by name; what no table has is reported too, unless only some rules are selected."""
    uses = dict(members.uses)
    known: set[ast.AST] = set()
    for site, outcome in planned:
        known.add(site.node)
        if outcome.row.kind == "module":
            continue
        entry = uses.setdefault(site.name, Uses())
        if outcome.target is None:
            entry.reported += 1
        else:
            entry.converted += 1
    if not view.settings.options.select:
        _count_unknown(view, known, uses)
    return uses


def _count_unknown(view: FileView, known: set[ast.AST], uses: dict[str, Uses]) -> None:
    source = view.settings.source
    tree = view.tree
    for load in [load for name, loads in tree.names.items() if name in tree.imported for load in loads]:
        names = view.evaluator.imported_names(load)
        if not names or not any(n == source or n.startswith(source + ".") for n in names):
            continue
        node: ast.expr = load
        name = min(names)
        covered = node in known
        while isinstance(parent := view.parent(node), ast.Attribute):
            node, name = parent, f"{name}.{parent.attr}"
            covered = covered or node in known
        if covered or name == source or name in view.settings.modules or view.settings.deselects(name):
            continue
        uses.setdefault(name, Uses()).unknown += 1
        view.report(UNKNOWN_API, node, name)
