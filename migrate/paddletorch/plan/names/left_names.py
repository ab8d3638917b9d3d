"""Names of the source that stay: imported in the functions that use them, so that the module loads without it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Container, Sequence

from paddletorch.plan.model.changes import NOTHING, Changes
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.annotation_imports import is_never_evaluated
from paddletorch.plan.names.bound_names import star_may_bind
from paddletorch.plan.names.converted import Converted
from paddletorch.plan.names.decide import import_target
from paddletorch.plan.names.guarded_imports import (
    guarded_apis,
    is_for_others,
    is_only_held,
    kept_api,
    left_for_others,
)
from paddletorch.plan.names.import_guards import can_rename, guard_of, is_presence_test, places_outside, renamed
from paddletorch.plan.names.import_statements import Clause
from paddletorch.plan.names.left_bases import guarded_imports, left_base
from paddletorch.plan.names.local_imports import (
    function_around,
    is_on_top,
    is_one_name,
    is_repeated,
    places_of,
)
from paddletorch.plan.names.name_reads import exported_names, selects_modules
from paddletorch.resolve import Binding


def made_local(
    file: Converted, binding: Binding, bindings: list[Binding], clause: Clause, guards_left: Container[ast.AST | None]
) -> tuple[Clause, Changes]:
    """The clause of a name that stays, into the functions that use it: the module then loads without the source.

    With it the changes of the classes whose base it is. ``guards_left`` are the guards that source imports leave.
    """
    view = file.view
    if clause.target is not None or clause.drop or not _are_of_source(view, binding, bindings):
        return clause, NOTHING
    hidden = binding.name in view.source.unread_names or binding.name in exported_names(view)
    if len(bindings) == 1 and not hidden and _is_for_others(view, binding):
        said = Changes(findings=(left_for_others(view, binding),))
        return clause._replace(drop=True, guarded=True), said
    if not selects_modules(view) or not (file.planned.uses or view.provide(_loads_without_source)):
        return clause, NOTHING  # with mixed precision alone the file still needs the source
    group = file.naming.groups.get(id(bindings))
    if (
        hidden
        or len(bindings) > _MOST_IMPORTS
        or not (is_one_name(view, bindings) or _leave_guards(view, bindings, guards_left))
        or (group is not None and (group.deleted or group.fallback or group.anchor.kind != "import"))
    ):
        return clause, NOTHING
    loads = file.remaining(bindings, group)
    on_top = is_on_top(view, binding)
    read = [load for load in loads if not (on_top and is_never_evaluated(view, load))]
    serves = on_top and file.is_changed and selects_modules(view)  # else nothing would run
    bases = {load: base for load in read if serves and (base := left_base(view, load)) is not None}
    kept = {load: api for load in read if serves and (api := kept_api(view, load)) is not None}
    others = [load for load in read if load not in bases and load not in kept]
    places = places_of(view, others) if on_top else []
    is_held = not bases and not kept and not places and on_top and isinstance(binding.node, ast.ImportFrom)
    if any(star_may_bind(view, binding.name, load, {binding.qualified or ""}) for load in others):
        return clause, NOTHING  # where it is used, the name may be another one, and the import would decide it
    if binding.alias is not None and view.suppressed("", binding.alias):
        return clause, NOTHING
    if others and is_held and is_only_held(view, others):
        return clause._replace(drop=True, guarded=True), NOTHING
    touched: list[ast.stmt | ast.expr] = [*places, *bases, *kept]
    if not loads or (others and not places) or any(view.suppressed("", one) for one in touched):
        return clause, NOTHING
    guards = guarded_imports(view, bindings, bases.values() if binding is bindings[0] else ())
    values = guarded_apis(view, bindings, kept.values() if binding is bindings[0] else ())
    if guards is None or values is None:
        return clause, NOTHING
    guards = guards._replace(edits=(*guards.edits, *values))
    if is_repeated(binding, bindings):
        return clause._replace(drop=True), guards
    return clause._replace(drop=True, local=tuple(places), typed=len(read) < len(loads)), guards


def _is_for_others(view: FileView, binding: Binding) -> bool:
    """Whether the module imports what only other files can need, which the target lacks."""
    suppressed = binding.alias is None or view.suppressed("", binding.alias)
    return is_on_top(view, binding) and not suppressed and selects_modules(view) and is_for_others(view, binding)


def _are_of_source(view: FileView, binding: Binding, bindings: Sequence[Binding]) -> bool:
    """Whether the import, and whatever else is imported by its name, is the source's: ``import torch as paddle``."""
    known = view.provide(_all_of_source)
    if id(bindings) not in known:
        others = (one.qualified for one in bindings if one.qualified is not None)
        known[id(bindings)] = all(view.settings.is_of_source(name) for name in others)
    return binding.qualified is not None and known[id(bindings)]


def _all_of_source(_view: FileView) -> dict[int, bool]:
    """Whether all that is imported by a name is the source's, by the identity of the list of its bindings."""
    return {}


def _leave_guards(view: FileView, bindings: Sequence[Binding], guards: Container[ast.AST | None]) -> bool:
    """Whether one name is imported at the top and, by way of a module in it, in guards that these imports leave."""
    if any(b.alias is None or view.suppressed("", b.alias) for b in bindings):
        return False
    guarded = [b for b in bindings if not is_on_top(view, b)]
    return all(view.parent(b.node) in guards and guard_of(view, b, list(bindings)) is not None for b in guarded)


def out_of_guard(
    file: Converted, binding: Binding, bindings: list[Binding], clause: Clause, *, has_root: bool
) -> tuple[Clause, Changes]:
    """The clause of a name that stays in a guard which imports the target: into the functions that use it.

    Beside it, the guard would not import the target where the source is missing. What the guard says of the source,
    ``torch = None`` and tests of that, it then says of the target.
    """
    view = file.view
    guard = guard_of(view, binding, bindings)
    group = file.naming.groups.get(id(bindings))
    if guard is None or clause.target is not None or not _are_of_source(view, binding, bindings):
        return clause, NOTHING
    if group is not None and (group.deleted or group.fallback or group.anchor.kind != "import"):
        return clause, NOTHING
    if binding.name in view.source.unread_names or binding.name in exported_names(view):
        return clause, NOTHING
    left = file.remaining(bindings, group)
    tests = [load for load in left if guard.stand_ins and is_presence_test(view, load)]
    used = [load for load in left if load not in tests]
    places = places_outside(view, guard, used)
    may_rename = can_rename(view, binding)
    if (used and (guard.is_filled or not places)) or (tests and not may_rename):
        return clause, NOTHING
    edited: list[ast.stmt | ast.expr | ast.alias] = [*places, *tests, *guard.stand_ins, clause.alias]
    edited += [b.alias for b in bindings if b.alias is not None and guard.is_filled]
    if any(view.suppressed("", node) for node in edited):
        return clause, NOTHING
    first = next(b for b in bindings if view.parent(b.node) is guard.statement)
    names = (*tests, *guard.stand_ins) if may_rename and binding is first and (tests or has_root) else ()
    return clause._replace(drop=True, local=tuple(places)), Changes(renamed(view, names))


def with_new_name(view: FileView, clause: Clause, needed: Collection[str]) -> Clause:
    """An import of a name of which tests have the target's name now: ``if torch is None: import torch``."""
    if clause.target is not None or clause.drop:
        return clause
    return clause._replace(drop=True) if view.target in needed else clause._replace(target=view.target)


def _loads_without_source(view: FileView) -> bool:
    """Whether only functions use the source, so that its imports in them are all that the module needs changed."""
    on_top = [found for found in view.tree.scope.bindings.values() if any(is_on_top(view, b) for b in found)]
    of_source = [found for found in on_top if any(view.settings.is_of_source(b.qualified or "") for b in found)]
    roots = [found for found in of_source if all(b.qualified == view.settings.source for b in found)]
    reads = [
        loads for found in of_source if (loads := view.tree.reads(found)) or not (found in roots or _moves(view, found))
    ]
    only_functions = all(function_around(view, load) is not None for loads in reads for load in loads)
    return selects_modules(view) and only_functions and all(places_of(view, loads) for loads in reads)


def _moves(view: FileView, bindings: Sequence[Binding]) -> bool:
    """Whether imports of a name that nothing reads become imports of the target."""
    return import_target(view, frozenset(b.qualified for b in bindings if b.qualified is not None), ()) is not None


_MOST_IMPORTS = 8
"""A name that more imports than these bind stays where it is imported."""
