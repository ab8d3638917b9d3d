"""Uses of APIs that another file of the project imports and re-exports: ``from .compat import GradScaler``.

The import is converted in that file. Here a use may remain only if its text is the same on both sides.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from paddletorch.model import Span
from paddletorch.plan.model.site import Anchor, Site
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.decide import target_of
from paddletorch.plan.sites.sites import climb
from paddletorch.resolve import Binding, Qualified

_PLAIN = frozenset({"call", "partial", "base", "annotation", "check"})
"""Roles that do not let the API escape."""
_BUILTIN = frozenset(dir(builtins))


def reexported_sites(view: FileView) -> list[Site]:
    """Sites through names that lead to another file's import of the framework, in source order."""
    found: list[Site] = []
    known: dict[int, frozenset[str]] = {}
    for load in _candidates(view):
        bindings = view.tree.scopes[load].lookup(load.id)
        names = known.get(id(bindings)) if bindings else None
        if names is None:
            names = known[id(bindings)] = _apis(view, load, bindings)
        if not names:
            continue
        other = bindings[0].node if bindings else view.tree.stars[0]
        anchor = Anchor("outside", id(bindings) if bindings else load.id, load, tuple(bindings), names)
        site = climb(view, anchor, load, names, other)
        if site is not None and all(c.row.kind not in ("module", "constant") for c in site.candidates):
            found.append(site)
    return sorted(found, key=lambda s: (s.node.lineno, s.node.col_offset))


def _candidates(view: FileView) -> Iterator[ast.Name]:
    """Names whose spelling an import in another file may bind."""
    tree = view.tree
    segments, _ = view.settings.spellings
    for name, loads in tree.names.items():
        if name in tree.imported or (tree.stars and name in segments and name not in _BUILTIN):
            yield from loads


def _apis(view: FileView, load: ast.Name, bindings: list[Binding]) -> frozenset[str]:
    """The APIs that the name means through another file; empty if it may be anything else."""
    segments, _ = view.settings.spellings
    if bindings:
        names = [b.qualified or "" for b in bindings]
    else:
        names = [v.name for v in view.evaluator.values(load) if isinstance(v, Qualified)]
    roots = (view.settings.source, view.settings.target)
    if any(n.rpartition(".")[2] not in segments or n.partition(".")[0] in roots for n in names):
        return frozenset()
    given = view.evaluator.reexported(names)
    return frozenset(n for n in given if n.partition(".")[0] == view.settings.source)


def reads_alike(view: FileView, use: Use) -> bool:
    """Whether the use has the same text on both sides, provided that the import of its name is converted."""
    site = use.site
    if site.anchor.kind != "outside" and (site.role not in _PLAIN or site.node is not site.anchor.node):
        return False
    if use.edits or use.whole is not None or use.writes_name or not use.converts:
        return False
    targets = {target_of(view, name) for name in site.anchor.names}
    if len(targets) != 1 or (target := targets.pop()) is None:
        return False
    span, start = view.source.span(site.node), view.source.span(site.anchor.node)
    return use.target == target + "".join(view.source.slice(Span(start.end, span.end)).split())
