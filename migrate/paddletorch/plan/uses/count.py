"""Counts the uses of the source framework's APIs and their outcomes, including APIs that no table has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Uses
from paddletorch.plan.model.changes import NOTHING, Changes, Fate, Planned
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView

UNKNOWN_API = "API225"


def count_uses(planned: Planned) -> dict[str, Uses]:
    """The counts of uses, by name."""
    fates = list(planned.counted)
    for use in planned.uses:
        if use.row.kind != "module":
            fates.append((use.site.name, Fate.CONVERTED if use.converts else Fate.REPORTED))
    fates.sort(key=lambda entry: entry[1] is Fate.UNKNOWN)  # unknown names come last
    counts: dict[str, dict[str, int]] = {}
    for name, fate in fates:
        count = counts.setdefault(name, {})
        count[fate.value] = count.get(fate.value, 0) + 1
    return {name: Uses(**count) for name, count in counts.items()}


def plan_unknown_names(view: FileView, planned: Planned) -> Changes:
    """Report the names that no table has, unless only some rules are selected."""
    if view.settings.options.select:
        return NOTHING
    unknown = list(_unknown_names(view, {use.site.node for use in planned.uses}))
    return Changes(
        findings=tuple(finding(UNKNOWN_API, node, name) for node, name in unknown),
        counted=tuple((name, Fate.UNKNOWN) for _, name in unknown),
    )


def _unknown_names(view: FileView, known: set[ast.expr]) -> Iterator[tuple[ast.expr, str]]:
    """Each use of the source framework's names that is no site, with its name; ``known`` are the sites' nodes."""
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
        yield node, name
