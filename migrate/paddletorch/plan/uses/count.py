"""Counts the uses of the source framework's APIs and their outcomes, including APIs that no table has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules import Row

from paddletorch.model import Uses
from paddletorch.plan.model.changes import NOTHING, Changes, Fate, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView
from paddletorch.text.kept_text import KeptText

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
    unknown: list[tuple[ast.expr | ast.alias, str]] = [
        *_unknown_names(view, {use.site.node for use in planned.uses}),
        *_unused_imports(view),
    ]
    try:
        kept = KeptText(view.source.body, planned.edits) if unknown else None
    except ValueError:
        kept = None
    unknown = [(node, name) for node, name in unknown if kept is None or kept.touches(view.source.span(node))]
    return Changes(
        findings=tuple(_unknown(view, node, name) for node, name in unknown),
        counted=tuple((name, Fate.UNKNOWN) for _, name in unknown),
    )


def _unknown(view: FileView, node: ast.expr | ast.alias, name: str) -> Finding:
    """The finding about the name; a module is reported as all names in it are, if a table says one thing of them."""
    stated = _stated_module(view, name)
    if stated is not None and stated.report is not None:
        return finding(stated.report, node, name, stated)
    return finding(UNKNOWN_API, node, name)


def _stated_module(view: FileView, name: str) -> Row | None:
    """The row that says of all names in the module ``name`` that they have no counterpart, if there is one."""
    found = view.settings.lookup(f"{name}.*")
    if found is None or found[0].kind != "unsupported" or view.settings.table.exported(view.settings.source, name):
        return None
    return found[0]


def _unused_imports(view: FileView) -> Iterator[tuple[ast.alias, str]]:
    """Each name that is imported from the source framework, that no table has and that nothing in the file uses."""
    for statement in view.tree.module.body:
        if (
            not isinstance(statement, ast.ImportFrom)
            or statement.level
            or not view.settings.is_of_source(statement.module or "")
        ):
            continue
        for alias in statement.names:
            name, local = f"{statement.module}.{alias.name}", alias.asname or alias.name
            known = name in view.settings.modules or view.settings.lookup(name) or view.settings.deselects(name)
            if alias.name != "*" and not known and not view.tree.names.get(local) and not _is_module(view, name):
                yield alias, name


def _is_module(view: FileView, name: str) -> bool:
    """Whether the tables have names below this one."""
    return any(module.startswith(name + ".") for module in view.settings.modules)


def _unknown_names(view: FileView, known: set[ast.expr]) -> Iterator[tuple[ast.expr, str]]:
    """Each use of the source framework's names that is no site, with its name; ``known`` are the sites' nodes."""
    tree = view.tree
    for load in [load for name, loads in tree.names.items() if name in tree.imported for load in loads]:
        names = view.evaluator.imported_names(load)
        if not names or not any(view.settings.is_of_source(n) for n in names):
            continue
        node: ast.expr = load
        name = min(names)
        covered = node in known
        while isinstance(parent := view.parent(node), ast.Attribute):
            node, name = parent, f"{name}.{parent.attr}"
            covered = covered or node in known
        called = isinstance(parent, ast.Call) and parent.func is node
        module = name in view.settings.modules and not called and _stated_module(view, name) is None
        if covered or "." not in name or module or view.settings.deselects(name):
            continue
        yield node, name
