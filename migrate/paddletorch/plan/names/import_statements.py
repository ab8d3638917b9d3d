"""Writes import statements anew: names that convert, names that go, modules that are imported beside."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from paddletorch.model import Edit, Span
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.statements import ends_line, own_line, remove_statement

_BLANKS = rb"(?:[ \t\f]|\\\r?\n|\\\r)*"
_NAME = rb"[\w\x80-\xff]+"
_MODULE = re.compile(rb"from" + _BLANKS + rb"(" + _NAME + rb"(?:" + _BLANKS + rb"\." + _BLANKS + _NAME + rb")*)")
"""The module of a ``from`` import; there may be blanks around its dots."""


class Clause(NamedTuple):
    """One ``name as alias`` of an import and what becomes of it: ``target``, dropped, or left as it is."""

    alias: ast.alias
    target: str | None
    drop: bool
    local: tuple[ast.stmt, ...] = ()
    """Statements in functions and branches before which the name is imported instead."""
    guarded: bool = False
    """It stays, and may fail: the module only keeps what it imports."""
    typed: bool = False
    """Annotations that are never evaluated use the name, too: it is imported for type checkers."""


def edit_statement(view: FileView, statement: ast.stmt, clauses: list[Clause], needed: Sequence[str]) -> list[Edit]:
    """The edits of one import statement; the modules of ``needed`` are imported beside it."""
    if not needed and all(c.target is None and not c.drop for c in clauses):
        return []
    if isinstance(statement, ast.ImportFrom):
        return _edit_from(view, statement, clauses, needed)
    assert isinstance(statement, ast.Import)
    return _edit_plain(view, statement, clauses, needed)


def _edit_plain(view: FileView, statement: ast.Import, clauses: list[Clause], needed: Sequence[str]) -> list[Edit]:
    edits: list[Edit] = []
    dropped: list[ast.alias] = []
    lines: list[str] = []
    for clause in clauses:
        span = view.source.span(clause.alias)
        if clause.target is not None and "." in clause.target and not _is_module(view, clause.alias):
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
            return [Edit(view.source.span(statement), joined_lines(view, statement, lines))]
        return [remove_statement(view, statement)]
    edits += _remove_aliases(view, statement.names, dropped)
    return [*edits, insert_lines_before(view, statement, lines)] if lines else edits


def _is_module(view: FileView, alias: ast.alias) -> bool:
    found = view.settings.lookup(alias.name)
    return found is None or found[0].kind == "module"


def _edit_from(view: FileView, statement: ast.ImportFrom, clauses: list[Clause], needed: Sequence[str]) -> list[Edit]:
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
        return [*edits, insert_lines_before(view, statement, before)] if before else edits
    lines = before + [f"from {module} import {', '.join(names)}" for module, names in modules.items()]
    gone = [c.alias for c in clauses if c.target is not None or c.drop]
    if len(gone) == len(statement.names):
        if not lines:
            return [remove_statement(view, statement)]
        return [Edit(view.source.span(statement), joined_lines(view, statement, lines))]
    edits = _remove_aliases(view, statement.names, gone)
    return [*edits, insert_lines_before(view, statement, lines)] if lines else edits


def module_span(view: FileView, statement: ast.ImportFrom) -> Span:
    """Where a ``from`` import names its module."""
    match = _MODULE.match(view.source.body, view.source.span(statement).start)
    assert match is not None, "a relative import without a module"
    return Span(match.start(1), match.end(1))


def _imported(name: str, alias: ast.alias) -> str:
    local = alias.asname or alias.name
    same_name_style = alias.asname is not None and alias.asname == alias.name
    return name if name == local and not same_name_style else f"{name} as {local}"


def _rename_in_place(view: FileView, statement: ast.ImportFrom, clauses: Sequence[Clause]) -> list[Edit]:
    edits: list[Edit] = []
    for clause in clauses:
        assert clause.target is not None
        module, _, name = clause.target.rpartition(".")
        edits.append(Edit(module_span(view, statement), module))
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


def joined_lines(view: FileView, statement: ast.stmt, lines: Sequence[str]) -> str:
    """Statements in place of ``statement``: on lines of their own, or on its line if it shares that."""
    if not own_line(view, statement):
        return "; ".join(lines)
    return (view.source.newline + view.source.indentation(statement.lineno)).join(lines)


def insert_lines_before(view: FileView, statement: ast.stmt, lines: Sequence[str]) -> Edit:
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
        start = view.source.line_span(view.source.first_line(statement)).start
        end = newline * 3
    return Edit(Span(start, start), joined_lines(view, statement, lines) + end)
