"""Edits import statements: converts imported names, drops unused ones, adds those that new text needs."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.annotation_imports import typing_edit
from paddletorch.plan.names.converted import Converted
from paddletorch.plan.names.decide import import_target
from paddletorch.plan.names.emptied_guards import (
    Imports,
    emptied_guards,
    imports_in,
    left_as_question,
    serves_only_imports,
)
from paddletorch.plan.names.global_statements import redirection_edits
from paddletorch.plan.names.guarded_imports import guarded_fallback, guarded_text, left_for_others
from paddletorch.plan.names.import_statements import Clause, edit_statement, insert_lines_before
from paddletorch.plan.names.left_fallbacks import left_fallbacks
from paddletorch.plan.names.left_names import made_local, out_of_guard, with_new_name
from paddletorch.plan.names.local_imports import import_text
from paddletorch.plan.names.name_reads import has_lost_uses, is_needless, is_never_used, is_read, is_replaced, is_unused
from paddletorch.plan.names.needed_imports import needed_modules
from paddletorch.plan.names.star_imports import star_edits
from paddletorch.plan.syntax.statements import insert_before, remove_statement, start_of
from paddletorch.resolve import Binding


class _Decided(NamedTuple):
    """What becomes of the imports of a file."""

    clauses: dict[ast.stmt, list[Clause]]
    """By statement, in the order of what it binds."""
    needs: dict[ast.stmt, list[str]]
    """Modules to import beside a statement."""
    renamed: frozenset[int]
    """Names that tests have the target's name for, by the identity of their bindings' list."""
    renamed_at: frozenset[Span]
    """Where the target's name stands from now on, beside imports: ``torch = None``."""
    edits: tuple[Edit, ...]
    findings: tuple[Finding, ...]
    gone: frozenset[ast.stmt] = frozenset()
    """Imports that go with the guard around them."""


def plan_imports(view: FileView, planned: Planned) -> Changes:
    """Plan all edits of import statements."""
    file = Converted(view, planned)
    written = (one for one in planned.imports if one.site is None or not file.loses_name(one.site.node, one.module))
    statements = _import_statements(view)
    decided = _with_emptied_guards(file, statements, _decided(file, statements, needed_modules(view, written)))
    edits, findings = list(decided.edits), list(decided.findings)
    conversions: list[Conversion] = []
    imported: dict[ast.stmt, list[tuple[Binding, Clause]]] = {}
    for statement, pairs in statements.items():
        clauses = _in_order(statement, _with_new_names(file, decided, statement, pairs))
        by_alias = {id(clause.alias): clause for clause in clauses}
        imported[statement] = [(binding, by_alias[id(binding.alias)]) for binding, _ in pairs]
        guarded = (binding for binding, clause in imported[statement] if clause.guarded)
        edits += [insert_before(view, statement, guarded_text(view, binding), "") for binding in guarded]
        if statement not in decided.gone:
            edits += edit_statement(view, statement, clauses, decided.needs.get(statement, []))
        conversions += _conversions(view, statement, clauses)
    for statement in sorted(decided.needs.keys() - statements.keys(), key=start_of):
        imports = [f"import {module}" for module in decided.needs[statement]]
        edits.append(insert_lines_before(view, statement, imports))
    local = _local_lines(imported)
    becomes_target = {id(b) for pairs in imported.values() for b, clause in pairs if clause.target is not None}
    for fallback, bindings, places in left_fallbacks(file):
        if any(id(binding) in becomes_target for binding in bindings):
            continue
        if places:
            edits.append(remove_statement(view, fallback))
            for place in places:
                local.setdefault(place, []).append(view.source.slice(view.source.span(fallback)))
        elif (stand_in := guarded_fallback(view, bindings)) is not None:
            edits.append(stand_in)
            findings += [left_for_others(view, binding) for binding in bindings]
    edits += [insert_before(view, place, "\n".join(found), "") for place, found in local.items()]
    typed = [import_text(binding) for pairs in imported.values() for binding, clause in pairs if clause.typed]
    edits += [typing_edit(view, typed)] if typed else []
    edits += [*star_edits(file), *redirection_edits(view, imported, decided.needs, decided.renamed_at)]
    return Changes(tuple(edits), tuple(conversions), tuple(findings))


def _import_statements(view: FileView) -> dict[ast.stmt, list[tuple[Binding, list[Binding]]]]:
    """The import statements, with what each binds and all bindings of that name."""
    found: dict[ast.stmt, list[tuple[Binding, list[Binding]]]] = {}
    for scope in view.tree.own.values():
        for bindings in scope.bindings.values():
            for binding in bindings:
                if binding.alias is not None and isinstance(binding.node, ast.stmt):
                    found.setdefault(binding.node, []).append((binding, bindings))
    return dict(sorted(found.items(), key=lambda item: start_of(item[0])))


def _decided(file: Converted, statements: Imports, needs: dict[ast.stmt, list[str]]) -> _Decided:
    """What becomes of each import, guards with the target's imports and functions that use a left name considered."""
    view = file.view
    needs = {statement: list(modules) for statement, modules in needs.items()}
    decided: dict[ast.stmt, list[Clause]] = {}
    changes: list[Changes] = []
    renamed: set[int] = set()
    renamed_at: set[Span] = set()
    has_target = any(view.target in modules for modules in needs.values())
    plain = {s: [_clause(file, *pair) for pair in pairs] for s, pairs in statements.items()}
    in_guards = {view.parent(s) for s, found in plain.items() if needs.get(s) or any(c.target for c in found)}
    for statement, pairs in statements.items():
        clauses = []
        for pair, clause in zip(pairs, plain[statement], strict=True):
            around = view.parent(statement)
            if around in in_guards and isinstance(around, ast.Try):
                has_root = any(view.target in needs.get(s, ()) for s in around.body)
                clause, guards = out_of_guard(file, *pair, clause, has_root=has_root)
                if guards.edits:
                    renamed.add(id(pair[1]))
                    renamed_at |= {edit.span for edit in guards.edits}
                if guards.edits and not has_root:
                    needs.setdefault(statement, []).append(view.target)  # the name that tests have now
            else:
                clause, guards = made_local(file, *pair, clause, in_guards)
            clauses.append(clause)
            changes.append(guards)
        if has_target:  # import it only once
            clauses = [c._replace(target=None, drop=True) if c.target == view.target else c for c in clauses]
        decided[statement] = clauses
    edits = tuple(edit for one in changes for edit in one.edits)
    findings = tuple(said for one in changes for said in one.findings)
    return _Decided(decided, needs, frozenset(renamed), frozenset(renamed_at), edits, findings)


def _with_emptied_guards(file: Converted, statements: Imports, decided: _Decided) -> _Decided:
    """The same with guards whose imports would all go: they go too, or keep an import to guard."""
    view, clauses = file.view, dict(decided.clauses)
    edits, findings, gone = list(decided.edits), list(decided.findings), set(decided.gone)
    for guard in list(emptied_guards(file, clauses, decided.needs)):
        own = {statement: found for statement, found in clauses.items() if statement not in decided.needs}
        if serves_only_imports(file, guard, statements, own):
            edits.append(remove_statement(view, guard))
            gone.update(guard.body, (s for handler in guard.handlers for s in handler.body))
            continue
        with_own: dict[ast.stmt, list[Clause]] = {
            s: _with_own_targets(file, statements[s], clauses[s]) for s in imports_in(guard)
        }
        if any(clause.target is not None for found in with_own.values() for clause in found):
            clauses |= with_own  # the guard goes on guarding an import
            continue
        for statement in imports_in(guard):
            clauses[statement], asked = left_as_question(statement, clauses[statement])
            findings += asked
    return decided._replace(clauses=clauses, edits=tuple(edits), findings=tuple(findings), gone=frozenset(gone))


def _with_new_names(
    file: Converted, decided: _Decided, statement: ast.stmt, pairs: Sequence[tuple[Binding, list[Binding]]]
) -> list[Clause]:
    """The clauses of a statement, with the target's name where tests ask for that from now on."""
    needed = decided.needs.get(statement, ())
    return [
        with_new_name(file.view, clause, needed) if id(bindings) in decided.renamed else clause
        for (_, bindings), clause in zip(pairs, decided.clauses[statement], strict=True)
    ]


def _in_order(statement: ast.stmt, clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses as the statement has them."""
    order = {id(alias): n for n, alias in enumerate(statement.names)}  # type: ignore[attr-defined]
    return sorted(clauses, key=lambda clause: order[id(clause.alias)])


def _local_lines(imported: Mapping[ast.stmt, Sequence[tuple[Binding, Clause]]]) -> dict[ast.stmt, list[str]]:
    """The imports that go into functions, by the statement before which they stand there."""
    found: dict[ast.stmt, list[str]] = {}
    for pairs in imported.values():
        for binding, clause in pairs:
            for place in clause.local:
                found.setdefault(place, []).append(import_text(binding))
    return found


def _clause(file: Converted, binding: Binding, bindings: list[Binding]) -> Clause:
    assert binding.alias is not None
    view = file.view
    group = file.naming.groups.get(id(bindings))
    if group is not None:
        if group.target is not None:
            if file.asked(("replaced", id(group)), lambda: is_replaced(file, group)):
                return Clause(binding.alias, None, True)
            is_known = view.settings.lookup(binding.qualified or "") is not None
            return Clause(binding.alias, group.target if is_known else None, False)
        return Clause(binding.alias, None, file.asked(("unused", id(group)), lambda: is_unused(file, group)))
    if binding.qualified is not None:
        names = file.imported(bindings)
        if binding.qualified == binding.name == view.settings.source and isinstance(binding.node, ast.Import):
            return Clause(binding.alias, view.target if is_never_used(file, binding, bindings) else None, False)
        known = view.settings.lookup(binding.qualified)
        stays = known is None or view.suppressed(known[0].code, binding.alias)
        if not stays and not is_read(file, binding.name, bindings, at_all=True):
            target = import_target(view, names, ())
            return Clause(binding.alias, target, target is None and is_needless(file, binding, bindings))
        if known is None and is_needless(file, binding, bindings):
            return Clause(binding.alias, None, True)
        if not view.suppressed("API101", binding.alias) and has_lost_uses(file, binding, bindings):
            return Clause(binding.alias, None, True)
    return Clause(binding.alias, None, False)


def _with_own_targets(
    file: Converted, pairs: Sequence[tuple[Binding, list[Binding]]], clauses: Sequence[Clause]
) -> list[Clause]:
    """The clauses of an import whose names go, with what it would become if nothing had read them."""
    view, found = file.view, []
    for (binding, _), clause in zip(pairs, clauses, strict=True):
        known = view.settings.lookup(binding.qualified or "")
        stays = known is None or view.suppressed(known[0].code, clause.alias)
        target = None if stays else import_target(view, frozenset({binding.qualified or ""}), ())
        found.append(clause if target is None else clause._replace(target=target, drop=False))
    return found


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
