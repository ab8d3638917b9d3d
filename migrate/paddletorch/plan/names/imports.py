"""Edits import statements: converts imported names, drops unused ones, adds those that new text needs."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Container, Iterator, Sequence

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.naming import Group
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.annotation_imports import is_never_evaluated, typing_edit
from paddletorch.plan.names.bound_names import star_may_bind
from paddletorch.plan.names.converted import Converted
from paddletorch.plan.names.decide import import_target
from paddletorch.plan.names.emptied_guards import emptied_guards, imports_in, left_as_question, serves_only_imports
from paddletorch.plan.names.global_statements import redirection_edits
from paddletorch.plan.names.guarded_imports import (
    guarded_apis,
    guarded_fallback,
    guarded_text,
    is_for_others,
    is_only_held,
    kept_api,
    left_for_others,
)
from paddletorch.plan.names.import_guards import can_rename, guard_of, is_presence_test, places_outside, renamed
from paddletorch.plan.names.import_statements import Clause, edit_statement, insert_lines_before, joined_lines
from paddletorch.plan.names.left_bases import guarded_imports, left_base
from paddletorch.plan.names.local_imports import (
    fallback_import,
    function_around,
    import_text,
    is_on_top,
    is_one_name,
    is_repeated,
    places_of,
)
from paddletorch.plan.names.needed_imports import needed_modules
from paddletorch.plan.syntax.statements import insert_before, own_line, remove_statement, start_of
from paddletorch.resolve import Binding


def plan_imports(view: FileView, planned: Planned) -> Changes:
    """Plan all edits of import statements."""
    file = Converted(view, planned)
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    findings: list[Finding] = []
    written = (one for one in planned.imports if one.site is None or not file.becomes_literal(one.site.node))
    needs = needed_modules(view, written)
    statements: dict[ast.stmt, list[tuple[Binding, list[Binding]]]] = {}
    local: dict[ast.stmt, list[str]] = {}
    typed: list[str] = []
    for scope in view.tree.own.values():
        for bindings in scope.bindings.values():
            for binding in bindings:
                if binding.alias is not None and isinstance(binding.node, ast.stmt):
                    statements.setdefault(binding.node, []).append((binding, bindings))
    imported: dict[ast.stmt, list[tuple[Binding, Clause]]] = {}
    decided: dict[ast.stmt, list[Clause]] = {}
    gone: set[ast.stmt] = set()
    renamed_names: set[int] = set()
    renamed_at: set[Span] = set()
    """Where the target's name stands from now on, beside imports: ``torch = None``."""
    has_target = any(view.target in modules for modules in needs.values())
    plain = {s: [_clause(file, *pair) for pair in pairs] for s, pairs in statements.items()}
    in_guards = {view.parent(s) for s, found in plain.items() if needs.get(s) or any(c.target for c in found)}
    for statement in sorted(statements, key=start_of):
        clauses = []
        for pair, clause in zip(statements[statement], plain[statement], strict=True):
            around = view.parent(statement)
            if around in in_guards and isinstance(around, ast.Try):
                has_root = any(view.target in needs.get(s, ()) for s in around.body)
                clause, guards = _out_of_guard(file, *pair, clause, has_root=has_root)
                if guards.edits:
                    renamed_names |= {id(pair[1])}
                    renamed_at |= {edit.span for edit in guards.edits}
                if guards.edits and not has_root:
                    needs.setdefault(statement, []).append(view.target)  # the name that tests have now
            else:
                clause, guards = _made_local(file, *pair, clause, in_guards)
            clauses.append(clause)
            edits += guards.edits
            findings += guards.findings
        if has_target:  # import it only once
            clauses = [c._replace(target=None, drop=True) if c.target == view.target else c for c in clauses]
        decided[statement] = clauses
    for guard in list(emptied_guards(file, decided, needs)):
        if serves_only_imports(file, guard, statements):
            edits.append(remove_statement(view, guard))
            gone.update(guard.body)
            continue
        with_own: dict[ast.stmt, list[Clause]] = {
            s: _with_own_targets(file, statements[s], decided[s]) for s in imports_in(guard)
        }
        if any(clause.target is not None for found in with_own.values() for clause in found):
            decided |= with_own  # the guard goes on guarding an import
            continue
        for statement in imports_in(guard):
            decided[statement], asked = left_as_question(statement, decided[statement])
            findings += asked
    for statement, found in decided.items():
        filled = [id(bindings) in renamed_names for _, bindings in statements[statement]]
        clauses = [
            _with_new_name(view, c, needs.get(statement, ())) if f else c for f, c in zip(filled, found, strict=True)
        ]
        for (binding, _), clause in zip(statements[statement], clauses, strict=True):
            for place in clause.local:
                local.setdefault(place, []).append(import_text(binding))
            if clause.typed:
                typed.append(import_text(binding))
            if clause.guarded:
                edits.append(insert_before(view, statement, guarded_text(view, binding), ""))
        order = {id(alias): n for n, alias in enumerate(statement.names)}  # type: ignore[attr-defined]
        clauses.sort(key=lambda c: order[id(c.alias)])
        edits += edit_statement(view, statement, clauses, needs.get(statement, [])) if statement not in gone else []
        by_alias = {id(c.alias): c for c in clauses}
        imported[statement] = [(b, by_alias[id(b.alias)]) for b, _ in statements[statement]]
        conversions += _conversions(view, statement, clauses)
    for statement in sorted(needs.keys() - statements.keys(), key=start_of):
        edits.append(insert_lines_before(view, statement, [f"import {module}" for module in needs[statement]]))
    for fallback, bindings, places in _left_fallbacks(file):
        if not places:
            guarded = guarded_fallback(view, bindings)
            if guarded is not None:
                edits.append(guarded)
                findings += [left_for_others(view, binding) for binding in bindings]
            continue
        edits.append(remove_statement(view, fallback))
        for place in places:
            local.setdefault(place, []).append(view.source.slice(view.source.span(fallback)))
    edits += [insert_before(view, place, "\n".join(lines), "") for place, lines in local.items()]
    edits += [typing_edit(view, typed)] if typed else []
    edits += [*_star_edits(file), *redirection_edits(view, imported, needs, renamed_at)]
    return Changes(tuple(edits), tuple(conversions), tuple(findings))


def _clause(file: Converted, binding: Binding, bindings: list[Binding]) -> Clause:
    assert binding.alias is not None
    view = file.view
    group = file.naming.groups.get(id(bindings))
    if group is not None:
        if group.target is not None:
            if file.asked(("replaced", id(group)), lambda: _is_replaced(file, group)):
                return Clause(binding.alias, None, True)
            is_known = view.settings.lookup(binding.qualified or "") is not None
            return Clause(binding.alias, group.target if is_known else None, False)
        return Clause(binding.alias, None, file.asked(("unused", id(group)), lambda: _unused(file, group)))
    if binding.qualified is not None:
        names = file.imported(bindings)
        if binding.qualified == binding.name == view.settings.source and isinstance(binding.node, ast.Import):
            return Clause(binding.alias, view.target if _is_never_used(file, binding, bindings) else None, False)
        known = view.settings.lookup(binding.qualified)
        stays = known is None or view.suppressed(known[0].code, binding.alias)
        if not stays and not _is_read(file, binding.name, bindings, at_all=True):
            target = import_target(view, names, ())
            return Clause(binding.alias, target, target is None and _is_needless(file, binding, bindings))
        if known is None and _is_needless(file, binding, bindings):
            return Clause(binding.alias, None, True)
        if not view.suppressed("API101", binding.alias) and _has_lost_uses(file, binding, bindings):
            return Clause(binding.alias, None, True)
    return Clause(binding.alias, None, False)


def _with_own_targets(
    file: Converted, pairs: Sequence[tuple[Binding, list[Binding]]], clauses: Sequence[Clause]
) -> list[Clause]:
    """The clauses of an import whose names go, with what it would become if nothing had read them."""
    view, found = file.view, []
    for (binding, bindings), clause in zip(pairs, clauses, strict=True):
        known = view.settings.lookup(binding.qualified or "")
        stays = known is None or view.suppressed(known[0].code, clause.alias)
        target = None if stays else import_target(view, file.imported(bindings), ())
        found.append(clause if target is None else clause._replace(target=target, drop=False))
    return found


def _is_needless(file: Converted, binding: Binding, bindings: list[Binding]) -> bool:
    """Whether an import of a name that the target lacks serves nothing: a module of imports only is for others."""
    view = file.view
    of_source = (binding.qualified or "").partition(".")[0] == view.settings.source
    return (
        of_source
        and file.is_changed
        and bool(view.tree.calls)
        and _is_never_used(file, binding, bindings)
        and not _is_read(file, binding.name, bindings, at_all=True)
    )


def _made_local(
    file: Converted, binding: Binding, bindings: list[Binding], clause: Clause, guards_left: Container[ast.AST | None]
) -> tuple[Clause, Changes]:
    """The clause of a name that stays, into the functions that use it: the module then loads without the source.

    With it the changes of the classes whose base it is. ``guards_left`` are the guards that source imports leave.
    """
    view = file.view
    if clause.target is not None or clause.drop or not _are_of_source(view, binding, bindings):
        return clause, NOTHING
    hidden = binding.name in view.source.unread_names or binding.name in _all_names(view)
    if len(bindings) == 1 and not hidden and _is_for_others(view, binding):
        said = Changes(findings=(left_for_others(view, binding),))
        return clause._replace(drop=True, guarded=True), said
    if not _selects_modules(view) or not (file.planned.uses or view.provide(_loads_without_source)):
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
    serves = on_top and file.is_changed and _selects_modules(view)  # else nothing would run
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
    return is_on_top(view, binding) and not suppressed and _selects_modules(view) and is_for_others(view, binding)


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


def _out_of_guard(
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
    if binding.name in view.source.unread_names or binding.name in _all_names(view):
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


def _with_new_name(view: FileView, clause: Clause, needed: Collection[str]) -> Clause:
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
    return _selects_modules(view) and only_functions and all(places_of(view, loads) for loads in reads)


def _moves(view: FileView, bindings: Sequence[Binding]) -> bool:
    """Whether imports of a name that nothing reads become imports of the target."""
    return import_target(view, frozenset(b.qualified for b in bindings if b.qualified is not None), ()) is not None


_MOST_IMPORTS = 8
"""A name that more imports than these bind stays where it is imported."""

_MOST_FALLBACKS = 8
"""More imports of one name than these are no import with its fallbacks."""


def _left_fallbacks(file: Converted) -> Iterator[tuple[ast.Try, list[Binding], list[ast.stmt]]]:
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
        if roots != {view.settings.source} or name in view.source.unread_names or name in _all_names(view):
            continue
        whole = fallback_import(view, bindings)
        if whole is None or (group is not None and group.target is not None):
            continue
        loads = file.remaining(bindings, group)
        places = places_of(view, loads)
        for_others = not loads and _selects_modules(view) and all(is_for_others(view, b) for b in bindings)
        if bool(loads) != bool(places) or not (loads or for_others):
            continue
        if not any(view.suppressed("", place) for place in (whole, *places)):
            yield whole, bindings, places


def _is_read(file: Converted, name: str, bindings: list[Binding], *, at_all: bool = False) -> bool:
    """Whether the name is read in the converted file; with ``at_all``, in the file as it is."""
    if name in file.view.source.unread_names:
        return True
    loads = file.view.tree.reads(bindings)
    if at_all or not loads:
        return bool(loads)
    return file.asked(("read", id(bindings)), lambda: any(not file.replaces(load) for load in loads))


def _is_never_used(file: Converted, binding: Binding, bindings: list[Binding]) -> bool:
    """Whether this imports the framework at the top without any use; left, the file would still require it."""
    view = file.view
    on_top = isinstance(view.parent(binding.node), ast.Module) and (
        len(bindings) == 1 or file.asked(("repeated", id(bindings)), lambda: _are_repeated(bindings))
    )
    return (
        on_top
        and _selects_modules(view)
        and binding.alias is not None
        and not view.suppressed("API101", binding.alias)
        and not _is_read(file, binding.name, bindings)
        and binding.name not in _all_names(view)
    )


def _are_repeated(bindings: list[Binding]) -> bool:
    """Whether all of them are ``import`` of one module."""
    return len({b.qualified for b in bindings}) == 1 and all(isinstance(b.node, ast.Import) for b in bindings)


def _selects_modules(view: FileView) -> bool:
    """Whether the rows of modules are selected, not only those of mixed precision."""
    return view.settings.lookup(f"{view.settings.source}.nn") is not None


def _unused(file: Converted, group: Group) -> bool:
    """Whether nothing uses the name any more after the conversion."""
    if group.deleted or group.hidden or group.anchor.kind != "import" or _exported(file.view, group):
        return False
    if not all(file.replaces(load) for load in group.other_uses):
        return False
    rewritten = file.naming.rewritten
    return all(use.site in rewritten if use.converts else file.replaces(use.site.node) for use in file.uses(group))


def _is_replaced(file: Converted, group: Group) -> bool:
    """Whether edits remove every use of a name that converts, such as an argument that is dropped."""
    if group.deleted or group.anchor.kind != "import" or _exported(file.view, group):
        return False
    return _are_gone(file, group.anchor.bindings[0].name, [site.anchor.node for site in group.sites])


def _has_lost_uses(file: Converted, binding: Binding, bindings: list[Binding]) -> bool:
    """Whether edits remove every use of a name of the source that is in no table: a module above an API."""
    view = file.view
    if not view.settings.is_of_source(binding.qualified or "") or binding.name in view.source.unread_names:
        return False
    if any(b.kind == "delete" for b in bindings) or binding.name in _all_names(view):
        return False
    return _are_gone(file, binding.name, view.tree.reads(bindings))


def _are_gone(file: Converted, name: str, uses: Sequence[ast.expr]) -> bool:
    """Whether edits remove these uses of a name, which has some, and new text does not have it."""
    if not uses or not all(file.replaces(use) for use in uses):
        return False
    written = re.compile(rf"(?<![\w.]){re.escape(name)}\b")
    return not any(written.search(edit.written) for edit in file.planned.edits)


def _exported(view: FileView, group: Group) -> bool:
    return any(b.name in _all_names(view) for b in group.anchor.bindings)


def _all_names(view: FileView) -> frozenset[object]:
    """The names in ``__all__``."""
    return view.provide(_find_all_names)


def _find_all_names(view: FileView) -> frozenset[object]:
    for binding in view.tree.scope.bindings.get("__all__", ()):
        if isinstance(binding.value, ast.List | ast.Tuple):
            return frozenset(e.value for e in binding.value.elts if isinstance(e, ast.Constant))
    return frozenset()


def _star_edits(file: Converted) -> list[Edit]:
    """``from torch.cuda.amp import *`` becomes an import of the names that the file uses."""
    view = file.view
    stars = sorted(view.tree.stars, key=start_of)
    groups = [g for g in file.naming.groups.values() if g.anchor.kind == "free"]
    modules: dict[str, set[str]] = {}
    for use in [use for group in groups for use in file.uses(group)]:
        is_bare = use.site.node is use.site.anchor.node  # not paddle.zeros, which is written with its module
        is_bare = is_bare and not use.writes_name
        if is_bare and use.target is not None and use.whole is None and "." in use.target:
            home, _, name = use.target.rpartition(".")
            modules.setdefault(home, set()).add(name)
    if not stars:
        return []
    lines = [f"from {home} import {', '.join(sorted(names))}" for home, names in sorted(modules.items())]
    of_source = [star for star in stars if not star.level and view.settings.is_of_source(star.module or "")]
    parts = all(star.module != view.settings.source for star in of_source)  # of the whole framework much is unknown
    if of_source and parts and _all_converted(file, groups, {star.module or "" for star in of_source}):
        last = of_source[-1]
        gone = of_source[:-1] if lines else of_source
        written = [Edit(view.source.span(last), joined_lines(view, last, lines))] if lines else []
        return [*(remove_statement(view, star) for star in gone), *written]
    last = stars[-1]
    if not lines:
        return []
    end = view.source.span(last).end
    separator = view.source.newline + view.source.indentation(last.lineno) if own_line(view, last) else "; "
    return [Edit(Span(end, end), separator + joined_lines(view, last, lines))]


def _all_converted(file: Converted, groups: Sequence[Group], modules: set[str]) -> bool:
    """Whether each of the modules gives names to the file, and all uses of these convert."""
    homes = [(group, {name.rpartition(".")[0] for name in group.anchor.names} & modules) for group in groups]
    used = [group for group, found in homes if found]
    return modules == set().union(*(found for _, found in homes)) and all(
        use.converts for group in used for use in file.uses(group)
    )


def _conversions(view: FileView, statement: ast.stmt, clauses: Sequence[Clause]) -> list[Conversion]:
    found: list[Conversion] = []
    for clause in clauses:
        if clause.target is None:
            continue
        module = getattr(statement, "module", None)
        name = f"{module}.{clause.alias.name}" if module else clause.alias.name
        hit = view.settings.lookup(name)
        if hit is not None:
            found.append(view.conversion(hit[0].code, clause.alias, name, clause.target, hit[0].id))
    return found
