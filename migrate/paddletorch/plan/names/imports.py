"""Edits import statements: converts imported names, drops unused ones, adds those that new text needs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.naming import Group, Naming
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.decide import import_target
from paddletorch.plan.names.local_imports import fallback_import, import_text, places_of, statements_that_need
from paddletorch.plan.names.needed_imports import needed_modules
from paddletorch.plan.syntax.statements import ends_line, insert_before, own_line, remove_statement
from paddletorch.resolve import Binding
from paddletorch.resolve.scopes.spans import SpanIndex
from paddletorch.text.kept_text import KeptText

_MODULE = re.compile(rb"from(?:[ \t\f]|\\\r?\n)*([.\w\x80-\xff]+)")


@dataclass(frozen=True, slots=True)
class _Clause:
    """One ``name as alias`` of an import and what becomes of it: ``target``, dropped, or left as it is."""

    alias: ast.alias
    target: str | None
    drop: bool
    local: tuple[ast.stmt, ...] = ()
    """Statements in functions before which the name is imported instead."""


def plan_imports(view: FileView, planned: Planned) -> Changes:
    """Plan all edits of import statements."""
    file = _Converted(view, planned)
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    needs = needed_modules(view, planned.imports)
    statements: dict[ast.stmt, list[tuple[Binding, list[Binding]]]] = {}
    local: dict[ast.stmt, list[str]] = {}
    for scope in view.tree.own.values():
        for bindings in scope.bindings.values():
            for binding in bindings:
                if binding.alias is not None and isinstance(binding.node, ast.stmt):
                    statements.setdefault(binding.node, []).append((binding, bindings))
    has_target = any(view.target in modules for modules in needs.values())
    for statement in sorted(statements, key=lambda s: s.lineno):
        clauses = [_made_local(file, *pair, _clause(file, *pair)) for pair in statements[statement]]
        if has_target:  # import it only once
            clauses = [replace(c, target=None, drop=True) if c.target == view.target else c for c in clauses]
        for (binding, _), clause in zip(statements[statement], clauses, strict=True):
            for place in clause.local:
                local.setdefault(place, []).append(import_text(binding))
        order = {id(alias): n for n, alias in enumerate(statement.names)}  # type: ignore[attr-defined]
        clauses.sort(key=lambda c: order[id(c.alias)])
        edits += _edit_statement(view, statement, clauses, needs.get(statement, []))
        conversions += _conversions(view, statement, clauses)
    for statement in sorted(needs.keys() - statements.keys(), key=lambda s: s.lineno):
        edits.append(_insert_before(view, statement, [f"import {module}" for module in needs[statement]]))
    for fallback, places in _fallbacks_made_local(file):
        edits.append(remove_statement(view, fallback))
        for place in places:
            local.setdefault(place, []).append(view.source.slice(view.source.span(fallback)))
    edits += [insert_before(view, place, "\n".join(lines), "") for place, lines in local.items()]
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

    @cached_property
    def is_changed(self) -> bool:
        """Whether something of the file converts."""
        return bool(self.planned.uses.converted)

    def imported(self, bindings: Sequence[Binding]) -> frozenset[str]:
        """The names that imports bind among all bindings of one name."""
        found = self._imported.get(id(bindings))
        if found is None:
            found = self._imported[id(bindings)] = frozenset(b.qualified for b in bindings if b.qualified is not None)
        return found

    @cached_property
    def _imported(self) -> dict[int, frozenset[str]]:
        return {}

    def uses(self, group: Group) -> list[Use]:
        """The uses of the sites of a group."""
        return [self.planned.uses[site] for site in group.sites]

    def replaces(self, load: ast.expr) -> bool:
        """Whether an edit removes the text of ``load``, such as an argument that is dropped."""
        span = self.view.source.span(load)
        if self._kept is not None:
            return not self._kept.touches(span)
        start, end = (span.start, 0), (span.end, 0)
        return not any(self._parts.around(start, end)) and any(self._spans.around(start, end))

    @cached_property
    def _kept(self) -> KeptText | None:
        """What the edits keep; None if they cannot be applied yet."""
        try:
            return KeptText(self.view.source.body, self.planned.edits)
        except ValueError:
            return None

    @cached_property
    def _parts(self) -> SpanIndex[bool]:
        """Spans of the file that edits reuse in their new text."""
        return _index(p for e in self.planned.edits for p in e.parts if isinstance(p, Span) and p != e.span)

    @cached_property
    def _spans(self) -> SpanIndex[bool]:
        """Spans that edits replace, except those that they reuse entirely."""
        return _index(e.span for e in self.planned.edits if e.span not in e.parts)


def _index(spans: Iterable[Span]) -> SpanIndex[bool]:
    return SpanIndex(((span.start, 0), (span.end, 0), True) for span in spans)


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
        names = file.imported(bindings)
        if binding.qualified == binding.name == view.settings.source and isinstance(binding.node, ast.Import):
            return _Clause(binding.alias, view.target if _is_never_used(file, binding, bindings) else None, False)
        known = view.settings.lookup(binding.qualified)
        stays = known is None or view.suppressed(known[0].code, binding.alias)
        if not stays and not _is_read(file, binding.name, bindings, at_all=True):
            target = import_target(view, names, ())
            return _Clause(binding.alias, target, target is None and _is_needless(file, binding, bindings))
        if known is None and _is_needless(file, binding, bindings):
            return _Clause(binding.alias, None, True)
    return _Clause(binding.alias, None, False)


def _is_needless(file: _Converted, binding: Binding, bindings: list[Binding]) -> bool:
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


def _made_local(file: _Converted, binding: Binding, bindings: list[Binding], clause: _Clause) -> _Clause:
    """The clause of a name that stays, into the functions that use it: the module then loads without the source."""
    view = file.view
    root = (binding.qualified or "").partition(".")[0]
    if clause.target is not None or clause.drop or root != view.settings.source or not file.planned.uses:
        return clause
    group = file.naming.groups.get(id(bindings))
    hidden = binding.name in view.source.unread_names or binding.name in _all_names(view)
    if hidden or (group is not None and (group.deleted or group.fallback or group.anchor.kind != "import")):
        return clause
    loads = _remaining(file, binding.name, bindings, group)
    places = statements_that_need(view, binding, bindings, loads)
    if not loads or not places or any(view.suppressed("", place) for place in places):
        return clause
    return replace(clause, drop=True, local=tuple(places))


def _fallbacks_made_local(file: _Converted) -> Iterator[tuple[ast.Try, list[ast.stmt]]]:
    """Imports of the source with a fallback in ``try``, where all stays, and where they can stand instead."""
    view = file.view
    for name, bindings in view.tree.scope.bindings.items():
        roots = {(binding.qualified or "").partition(".")[0] for binding in bindings}
        group = file.naming.groups.get(id(bindings))
        if roots != {view.settings.source} or name in view.source.unread_names or name in _all_names(view):
            continue
        whole = fallback_import(view, bindings)
        if whole is None or (group is not None and group.target is not None):
            continue
        loads = _remaining(file, name, bindings, group)
        places = places_of(view, loads)
        if loads and places and not any(view.suppressed("", place) for place in (whole, *places)):
            yield whole, places


def _remaining(file: _Converted, name: str, bindings: list[Binding], group: Group | None) -> list[ast.expr]:
    """The uses of a name that the converted file still has."""
    tree = file.view.tree
    loads = [n for n in tree.names.get(name, ()) if tree.scopes[n].lookup(name) is bindings]
    written = [] if group is None else [u for u in file.uses(group) if u.converts and u.site in file.naming.rewritten]
    gone = {use.site.anchor.node for use in written}
    return [load for load in loads if load not in gone and not file.replaces(load)]


def _is_read(file: _Converted, name: str, bindings: list[Binding], *, at_all: bool = False) -> bool:
    """Whether the name is read in the converted file; with ``at_all``, in the file as it is."""
    view = file.view
    if name in view.source.unread_names:
        return True
    return any(at_all or not file.replaces(load) for load in view.tree.reads(bindings))


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


def _remove_aliases(view: FileView, names: Sequence[ast.alias], gone: Iterable[ast.alias]) -> list[Edit]:
    source, edits = view.source, []
    gone = frozenset(gone)
    last = max((index for index, alias in enumerate(names) if alias not in gone), default=-1)
    remaining_end: int | None = None
    for index, alias in enumerate(names):
        span = source.span(alias)
        if alias not in gone:
            remaining_end = span.end
            continue
        if index < last:
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
    """Insert ``lines`` above the statement; an import of the target's root goes below it if it sorts after it.

    In ``try`` it stays above: below an import that fails it would not run.
    """
    plain = isinstance(statement, ast.Import) and list(lines) == [f"import {view.target}"]
    sorted_below = plain and view.target > view.settings.source and not isinstance(view.parent(statement), ast.Try)
    if sorted_below and own_line(view, statement) and ends_line(view, statement):
        assert statement.end_lineno is not None
        line = view.source.line_span(statement.end_lineno)
        place = line.start + len(view.source.body[line.start : line.end].rstrip(b"\r\n"))
        indentation = view.source.indentation(statement.lineno)
        return Edit(Span(place, place), f"{view.source.newline}{indentation}{lines[0]}")
    start = view.source.span(statement).start
    newline = view.source.newline
    end = newline + view.source.indentation(statement.lineno) if own_line(view, statement) else "; "
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        decorators = [d.lineno for d in statement.decorator_list]
        start = view.source.line_span(min([statement.lineno, *decorators])).start
        end = newline * 3
    return Edit(Span(start, start), _joined(view, statement, lines) + end)


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
