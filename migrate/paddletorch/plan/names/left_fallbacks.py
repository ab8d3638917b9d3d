"""Imports of the source with a fallback in ``try``, of which all stays."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.names.converted import Converted
from paddletorch.plan.names.guarded_imports import (
    is_for_others,
)
from paddletorch.plan.names.local_imports import (
    fallback_import,
    places_of,
)
from paddletorch.plan.names.name_reads import exported_names, selects_modules
from paddletorch.resolve import Binding

_MOST_FALLBACKS = 8
"""More imports of one name than these are no import with its fallbacks."""


def left_fallbacks(file: Converted) -> Iterator[tuple[ast.Try, list[Binding], list[ast.stmt]]]:
    """Imports of the source with a fallback in ``try``, where all stays, and where they can stand instead.

    Without places, nothing here reads the name, and other files take it.
    """
    view = file.view
    guarded = [t for t in view.tree.module.body if isinstance(t, ast.Try)]
    first = [s for t in guarded for s in t.body[:1] if isinstance(s, ast.Import | ast.ImportFrom)]
    named = {a.asname or a.name.partition(".")[0] for s in first for a in s.names}
    for name, bindings in view.tree.scope.bindings.items():
        if name not in named or len(bindings) > _MOST_FALLBACKS:
            continue
        roots = {(binding.qualified or "").partition(".")[0] for binding in bindings}
        group = file.naming.groups.get(id(bindings))
        if roots != {view.settings.source} or name in view.source.unread_names or name in exported_names(view):
            continue
        whole = fallback_import(view, bindings)
        if whole is None or (group is not None and group.target is not None):
            continue
        loads = file.remaining(bindings, group)
        places = places_of(view, loads)
        for_others = not loads and selects_modules(view) and all(is_for_others(view, b) for b in bindings)
        if bool(loads) != bool(places) or not (loads or for_others):
            continue
        if not any(view.suppressed("", place) for place in (whole, *places)):
            yield whole, bindings, places
