"""Edits import statements: converts imported names, drops unused ones, adds those that new text needs."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.naming import Group, Naming
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.decide import import_target
from paddletorch.plan.names.needed_imports import needed_modules
from paddletorch.plan.syntax.statements import ends_line, own_line, remove_statement
from paddletorch.resolve import Binding

_MODULE = re.compile(rb"from(?:[ \t\f]|\\\r?\n)*([.\w]+)")


@dataclass(frozen=True, slots=True)
class _Clause:
    """One ``name as alias`` of an import and what becomes of it: ``target``, dropped, or left as it is."""

    alias: ast.alias
    target: str | None
    drop: bool


def plan_imports(view: FileView, planned: Planned) -> Changes:
    """Plan all edits of import statements."""
    file = _Converted(view, planned)
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    needs = needed_modules(view, planned.imports)
    statements: dict[ast.stmt, list[tuple[Binding, list[Binding]]]] = {}
    for scope in view.tree.own.values():
        for bindings in scope.bindings.values():
            for binding in bindings:
                if binding.alias is not None and isinstance(binding.node, ast.stmt):
                    statements.setdefault(binding.node, []).append((binding, bindings))
    for statement in sorted(statements, key=lambda s: s.lineno):
        clauses = [_clause(file, binding, group) for binding, group in statements[statement]]
        if any(view.target in modules for modules in needs.values()):  # import it only once
            clauses = [replace(c, target=None, drop=True) if c.target == view.target else c for c in clauses]
        order = {id(alias): n for n, alias in enumerate(statement.names)}  # type: ignore[attr-defined]
        clauses.sort(key=lambda c: order[id(c.alias)])
        edits += _edit_statement(view, statement, clauses, needs.get(statement, []))
        conversions += _conversions(view, statement, clauses)
    for statement in sorted(needs.keys() - statements.keys(), key=lambda s: s.lineno):
        edits.append(_insert_before(view, statement, [f"import {module}" for module in needs[statement]]))
    return Changes((*edits, *_star_edits(file)), tuple(conversions))


@dataclass(frozen=True)
class _Converted:
    """The file and the decisions about its uses."""

    view: FileView
    planned: Planned

    @property
    def naming(self) -> Naming:
        """How the names of the file are written."""
        return self.planned.naming

    def uses(self, group: Group) -> list[Use]:
        """The uses of the sites of a group."""
        return [self.planned.uses[site] for site in group.sites]

    def replaces(self, load: ast.expr) -> bool:
        """Whether an edit removes the text of ``load``, such as an argument that is dropped."""
        span = self.view.source.span(load)
        return not any(s.holds(span) for s in self._parts) and any(s.holds(span) for s in self._spans)

    @cached_property
    def _parts(self) -> list[Span]:
        """Spans of the file that edits reuse in their new text."""
        edits = self.planned.edits
        return [p for e in edits for p in e.parts if isinstance(p, Span) and p != e.span]

    @cached_property
    def _spans(self) -> list[Span]:
        """Spans that edits replace, except those that they reuse entirely."""
        return [e.span for e in self.planned.edits if e.span not in e.parts]


def _clause(file: _Converted, binding: Binding, bindings: list[Binding]) -> _Clause:
    assert binding.alias is not None
    view = file.view
    group = file.naming.groups.get(id(bindings))
    if group is not None:
        if group.target is not None:
            is_known = view.settings.lookup(binding.qualified or "") is not None
            return _Clause(binding.alias, group.target if is_known else None, False)
        return _Clause(binding.alias, None, _unused(file, group))
    if binding.qualified is not None:
        names = frozenset(b.qualified for b in bindings if b.qualified is not None)
        if binding.qualified == binding.name == view.settings.source and isinstance(binding.node, ast.Import):
            return _Clause(binding.alias, view.target if _is_never_used(file, binding, bindings) else None, False)
        known = view.settings.lookup(binding.qualified)
        stays = known is None or view.suppressed(known[0].code, binding.alias)
        if not stays and not _is_read(file, binding.name, bindings, at_all=True):
            return _Clause(binding.alias, import_target(view, names, ()), False)
    return _Clause(binding.alias, None, False)


def _is_read(file: _Converted, name: str, bindings: list[Binding], *, at_all: bool = False) -> bool:
    """Whether the name is read in the converted file; with ``at_all``, in the file as it is."""
    view = file.view
    if name in view.source.unread_names:
        return True
    loads = [n for n in view.tree.loads if n.id == name and view.tree.scopes[n].lookup(name) is bindings]
    return any(at_all or not file.replaces(load) for load in loads)


def _is_never_used(file: _Converted, binding: Binding, bindings: list[Binding]) -> bool:
    """Whether this imports the framework at the top without any use; left, the file would still require it."""
    view = file.view
    on_top = isinstance(view.parent(binding.node), ast.Module) and len(bindings) == 1
    selected = view.settings.lookup(f"{view.settings.source}.nn") is not None  # rows of modules are selected
    return (
        on_top
        and selected
        and binding.alias is not None
        and not view.suppressed("API101", binding.alias)
        and not _is_read(file, binding.name, bindings)
        and binding.name not in _all_names(view)
    )


def _unused(file: _Converted, group: Group) -> bool:
    """Whether nothing uses the name any more after the conversion."""
    if group.deleted or group.hidden or group.anchor.kind != "import" or _exported(file.view, group):
        return False
    if not all(file.replaces(load) for load in group.other_uses):
        return False
    rewritten = file.naming.rewritten
    return all(use.site in rewritten if use.converts else file.replaces(use.site.node) for use in file.uses(group))


def _exported(view: FileView, group: Group) -> bool:
    return any(b.name in _all_names(view) for b in group.anchor.bindings)


def _all_names(view: FileView) -> set[object]:
    """The names in ``__all__``."""
    for binding in view.tree.scope.bindings.get("__all__", ()):
        if isinstance(binding.value, ast.List | ast.Tuple):
            return {e.value for e in binding.value.elts if isinstance(e, ast.Constant)}
    return set()


def _edit_statement(view: FileView, statement: ast.stmt, clauses: list[_Clause], needed: Sequence[str]) -> list[Edit]:
    if not needed and all(c.target is None and not c.drop for c in clauses):
        return []
    if isinstance(statement, ast.ImportFrom):
        return _edit_from(view, statement, clauses, needed)
    assert isinstance(statement, ast.Import)
    return _edit_plain(view, statement, clauses, needed)


def _edit_plain(view: FileView, statement: ast.Import, clauses: list[_Clause], needed: Sequence[str]) -> list[Edit]:
    edits: list[Edit] = []
    dropped: list[ast.alias] = []
    lines: list[str] = []
    for clause in clauses:
        span = view.source.span(clause.alias)
        if clause.target is not None and not _is_module(view, clause.alias):
            module, _, name = clause.target.rpartition(".")  # a function that is imported like a module
            lines.append(f"from {module} import {_imported(name, clause.alias)}")
            dropped.append(clause.alias)
        elif clause.target is not None:
            suffix = f" as {clause.alias.asname}" if clause.alias.asname else ""
            edits.append(Edit(span, clause.target + suffix))
        elif clause.drop and needed:
            edits.append(Edit(span, needed[0]))
            needed = needed[1:]
        elif clause.drop:
            dropped.append(clause.alias)
    lines = [*(f"import {module}" for module in needed), *lines]
    if len(dropped) == len(clauses) and len(clauses) == len(statement.names):
        if lines:
            return [Edit(view.source.span(statement), _joined(view, statement, lines))]
        return [remove_statement(view, statement)]
    edits += _remove_aliases(view, statement.names, dropped)
    return [*edits, _insert_before(view, statement, lines)] if lines else edits


def _is_module(view: FileView, alias: ast.alias) -> bool:
    found = view.settings.lookup(alias.name)
    return found is None or found[0].kind == "module"


def _edit_from(view: FileView, statement: ast.ImportFrom, clauses: list[_Clause], needed: Sequence[str]) -> list[Edit]:
    modules: dict[str, list[str]] = {}
    for clause in clauses:
        if clause.target is not None:
            module, _, name = clause.target.rpartition(".")
            modules.setdefault(module, []).append(_imported(name, clause.alias))
    remaining = [c for c in clauses if c.target is None and not c.drop]
    before = [f"import {module}" for module in needed]
    if (
        len(modules) == 1
        and not remaining
        and not any(c.drop for c in clauses)
        and len(clauses) == len(statement.names)
    ):
        edits = _rename_in_place(view, statement, clauses)
        return [*edits, _insert_before(view, statement, before)] if before else edits
    lines = before + [f"from {module} import {', '.join(names)}" for module, names in modules.items()]
    gone = [c.alias for c in clauses if c.target is not None or c.drop]
    if len(gone) == len(statement.names):
        if not lines:
            return [remove_statement(view, statement)]
        return [Edit(view.source.span(statement), _joined(view, statement, lines))]
    edits = _remove_aliases(view, statement.names, gone)
    return [*edits, _insert_before(view, statement, lines)] if lines else edits


def _imported(name: str, alias: ast.alias) -> str:
    local = alias.asname or alias.name
    same_name_style = alias.asname is not None and alias.asname == alias.name
    return name if name == local and not same_name_style else f"{name} as {local}"


def _rename_in_place(view: FileView, statement: ast.ImportFrom, clauses: Sequence[_Clause]) -> list[Edit]:
    span = view.source.span(statement)
    match = _MODULE.match(view.source.body, span.start)
    assert match is not None
    edits: list[Edit] = []
    for clause in clauses:
        assert clause.target is not None
        module, _, name = clause.target.rpartition(".")
        edits.append(Edit(Span(match.start(1), match.end(1)), module))
        if _imported(name, clause.alias) != _imported(clause.alias.name, clause.alias):
            edits.append(Edit(view.source.span(clause.alias), _imported(name, clause.alias)))
    return edits


def _remove_aliases(view: FileView, names: Sequence[ast.alias], gone: Sequence[ast.alias]) -> list[Edit]:
    source, edits = view.source, []
    remaining_end: int | None = None
    for index, alias in enumerate(names):
        span = source.span(alias)
        if alias not in gone:
            remaining_end = span.end
            continue
        later = [n for n in names[index + 1 :] if n not in gone]
        if later:
            following = source.span(names[index + 1]).start
            end = following
            between = source.body[span.end : following]
            if b"#" in between:
                end = span.end + between.index(b",") + 1
            edits.append(Edit(Span(span.start, end), ""))
        elif remaining_end is not None:
            edits.append(Edit(Span(remaining_end, source.span(names[-1]).end), ""))
            break
    return edits


def _joined(view: FileView, statement: ast.stmt, lines: Sequence[str]) -> str:
    if not own_line(view, statement):
        return "; ".join(lines)
    return (view.source.newline + view.source.indentation(statement.lineno)).join(lines)


def _insert_before(view: FileView, statement: ast.stmt, lines: Sequence[str]) -> Edit:
    """Insert ``lines`` above the statement; an import of the target's root goes below it if it sorts after it."""
    plain = isinstance(statement, ast.Import) and list(lines) == [f"import {view.target}"]
    if plain and view.target > view.settings.source and own_line(view, statement) and ends_line(view, statement):
        assert statement.end_lineno is not None
        line = view.source.line_span(statement.end_lineno)
        place = line.start + len(view.source.body[line.start : line.end].rstrip(b"\r\n"))
        indentation = view.source.indentation(statement.lineno)
        return Edit(Span(place, place), f"{view.source.newline}{indentation}{lines[0]}")
    start = view.source.span(statement).start
    end = view.source.newline + view.source.indentation(statement.lineno)
    return Edit(
        Span(start, start),
        _joined(view, statement, lines) + (end if own_line(view, statement) else "; "),
    )


def _star_edits(file: _Converted) -> list[Edit]:
    """``from torch.cuda.amp import *`` becomes an import of the names that the file uses."""
    view = file.view
    stars = sorted(view.tree.stars, key=lambda s: s.lineno)
    groups = [g for g in file.naming.groups.values() if g.anchor.kind == "free"]
    modules: dict[str, set[str]] = {}
    for use in [use for group in groups for use in file.uses(group)]:
        if use.target is not None and use.whole is None and "." in use.target:
            home, _, name = use.target.rpartition(".")
            modules.setdefault(home, set()).add(name)
    if not stars or not modules:
        return []
    lines = [f"from {home} import {', '.join(sorted(names))}" for home, names in sorted(modules.items())]
    last = stars[-1]
    if len(stars) == 1 and last.module != view.settings.source and _all_converted(file, groups, last.module or ""):
        return [Edit(view.source.span(last), _joined(view, last, lines))]
    end = view.source.span(last).end
    separator = view.source.newline + view.source.indentation(last.lineno) if own_line(view, last) else "; "
    return [Edit(Span(end, end), separator + _joined(view, last, lines))]


def _all_converted(file: _Converted, groups: Sequence[Group], module: str) -> bool:
    used = [g for g in groups if any(name.rpartition(".")[0] == module for name in g.anchor.names)]
    return bool(used) and all(use.converts for group in used for use in file.uses(group))


def _conversions(view: FileView, statement: ast.stmt, clauses: Sequence[_Clause]) -> list[Conversion]:
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
