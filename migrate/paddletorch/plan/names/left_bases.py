"""Base classes that stay: the module loads without the source, and only their subclasses cannot be made there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from paddletorch_rules.adapters import adapters, functions

from paddletorch.model import Edit
from paddletorch.plan.model.changes import Changes
from paddletorch.plan.model.findings import Finding, refused
from paddletorch.plan.model.refusals import LeftWithAnother
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.import_statements import insert_lines_before
from paddletorch.plan.names.local_imports import import_lines
from paddletorch.plan.syntax.statements import own_line, start_of
from paddletorch.resolve import Binding

_WITHOUT = "without {source} this module loads, and what derives from {name} cannot be made"


class LeftBase(NamedTuple):
    """A class statement of the module whose last base class stays the source's."""

    statement: ast.ClassDef
    base: ast.expr


def left_base(view: FileView, load: ast.expr) -> LeftBase | None:
    """The class statement whose base begins with ``load``; None if it is not on top, or has others after it.

    ``object`` can stand in its place: it may only be the last base.
    """
    base, around = load, view.parent(load)
    while isinstance(around, ast.Attribute):
        base, around = around, view.parent(around)
    if not isinstance(around, ast.ClassDef) or around.bases[-1:] != [base] or around.keywords:
        return None
    return LeftBase(around, base) if isinstance(view.parent(around), ast.Module) and own_line(view, around) else None


def guarded_imports(view: FileView, bindings: Sequence[Binding], bases: Iterable[LeftBase]) -> Changes | None:
    """An import of each base that may fail, before its first class; None if a name for it is not free.

    ``bindings`` are all imports of the name with which the bases begin.
    """
    first: dict[str, LeftBase] = {}
    edits: list[Edit] = []
    findings: list[Finding] = []
    for one in sorted(bases, key=lambda base: start_of(base.statement)):
        name = _name_of(view, bindings[0], one.base)
        if name is None:
            return None
        if view.written(first.setdefault(name, one).base) != view.written(one.base):
            return None
        if isinstance(one.base, ast.Attribute):
            edits.append(Edit(view.source.span(one.base), name))
        refusal = LeftWithAnother("super().__init__", one.statement.lineno)
        findings += (refused(refusal, call, view.text(one.base)) for call in _calls_of_constructor(one.statement))
    for name, one in first.items():
        lines = [f"    {line}" for line in import_lines(bindings)]
        if isinstance(one.base, ast.Attribute):
            lines.append(f"    {name} = {view.written(one.base)}")
        note = _WITHOUT.format(source=view.settings.source, name=name)
        guard = ["try:", *lines, f"except ImportError:  # {note}", f"    {name} = object"]
        edits.append(insert_lines_before(view, one.statement, guard))
    return Changes(tuple(edits), findings=tuple(findings))


def _calls_of_constructor(statement: ast.ClassDef) -> Iterator[ast.Call]:
    """The calls by which the class makes what its base is: ``super().__init__(...)``."""
    for node in ast.walk(statement):
        function = node.func if isinstance(node, ast.Call) else None
        is_constructor = isinstance(function, ast.Attribute) and function.attr == "__init__"
        if isinstance(node, ast.Call) and is_constructor and ast.unparse(node.func).startswith("super("):
            yield node


def _name_of(view: FileView, binding: Binding, base: ast.expr) -> str | None:
    """What the base is called in the module: ``Conv1D``, or ``PaddleConv1D`` where that is something else."""
    if not isinstance(base, ast.Attribute):
        return binding.name
    other = f"{view.settings.source.capitalize()}{base.attr}"
    written = {*functions(view.target), *(one.name for one in adapters(view.target).values())}  # which would be hidden
    names = (base.attr, other, f"{other}Class")
    return next((name for name in names if name not in written and not view.tree.scope.lookup(name)), None)
