"""Packages that are built on the source framework, such as timm: each is reported once a file, with its uses."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from paddletorch_rules.packages import CODES, Package

from paddletorch.model import Fate
from paddletorch.plan.inference.built_on import BuiltOn, PackageImport
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView

NEEDED, OPTIONAL = CODES

_LINES = 5
"""How many lines a finding names."""


def plan_packages(view: FileView, planned: Planned) -> Changes:
    """Report what the file imports of such packages; uses of them that a table knows are another pass's matter."""
    built_on = view.provide(BuiltOn)
    if not built_on.imports:
        return NOTHING
    known = {use.site.node: use.converts for use in planned.uses}
    direct: list[tuple[Package, ast.expr]] = []
    kept: set[PackageImport] = set(built_on.imports)
    loads = _loads(view, built_on)
    for one in built_on.imports:
        whole = [_whole(view, load, known) for load in loads.get(one.node, ())]
        direct += [(one.package, node) for node in whole if not known.get(node, False)]
        if whole and all(node in known for node in whole):
            kept.discard(one)  # each use is converted, or reported by its row
    depending: dict[str, list[int]] = {}
    for package, node in (*direct, *_values(view, built_on)):
        depending.setdefault(package.name, []).append(node.lineno)
    return Changes(
        findings=tuple(_findings([one for one in built_on.imports if one in kept], depending)),
        unlisted=tuple((_name(view, node), Fate.NEEDS_YOU) for _, node in direct if node not in known),
    )


def _findings(imports: Iterable[PackageImport], depending: dict[str, list[int]]) -> Iterator[Finding]:
    by_package: dict[str, list[PackageImport]] = {}
    for one in imports:
        by_package.setdefault(one.package.name, []).append(one)
    for name, several in by_package.items():
        first = next((one for one in several if not one.optional), several[0])
        details = {"of": first.package.of, "instead": first.package.instead, "uses": _said(depending.get(name, []))}
        yield finding(OPTIONAL if first.optional else NEEDED, first.node, name, **details)


def _said(lines: list[int]) -> str:
    """How many uses depend on a package, and on which lines the first of them stand."""
    if not lines:
        return "nothing else in this file uses it"
    shown = sorted(set(lines))
    named = ", ".join(map(str, shown[:_LINES])) + (" and more" if len(shown) > _LINES else "")
    uses = "1 use depends" if len(lines) == 1 else f"{len(lines)} uses depend"
    return f"{uses} on it (line{'s' if len(shown) > 1 else ''} {named})"


def _loads(view: FileView, built_on: BuiltOn) -> dict[ast.AST, list[ast.Name]]:
    """Where the names are read that the imports bind, by the node of the import."""
    aliases = (one.node for one in built_on.imports if isinstance(one.node, ast.alias))
    found: dict[ast.AST, list[ast.Name]] = {}
    for name in dict.fromkeys(alias.asname or alias.name.partition(".")[0] for alias in aliases):
        for load in view.tree.names.get(name, ()):
            if (one := built_on.alias_of(load)) is not None:
                found.setdefault(one.node, []).append(load)
    return found


def _whole(view: FileView, load: ast.Name, known: dict[ast.expr, bool]) -> ast.expr:
    """The dotted expression that begins with the name, as far as a table knows it, else as far as it goes."""
    node: ast.expr = load
    while node not in known and isinstance(parent := view.parent(node), ast.Attribute):
        node = parent
    return node


def _name(view: FileView, node: ast.expr) -> str:
    names = view.evaluator.imported_names(node)
    return min(names) if names else view.text(node)


def _values(view: FileView, built_on: BuiltOn) -> Iterator[tuple[Package, ast.expr]]:
    """The variables and attributes of ``self`` that are read and hold what came from such a package."""
    for load in [load for name in built_on.holding_names() for load in view.tree.names.get(name, ())]:
        package = built_on.held_by(load)
        if package is not None:
            yield package, load
    for node in view.tree.attributes:
        if isinstance(node.value, ast.Name) and node.value.id == "self" and isinstance(node.ctx, ast.Load):
            package = built_on.source_of(node)
            if package is not None:
                yield package, node
