"""Reports imports of the source framework that stay though nothing here uses them, so that none is left unsaid."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.converted import Converted
from paddletorch.plan.names.guarded_imports import LEFT_IMPORT
from paddletorch.plan.names.import_statements import module_span
from paddletorch.resolve import Binding
from paddletorch.text.kept_text import KeptText


class _Imported(NamedTuple):
    """A part of an import statement, and the name or module that it imports."""

    statement: ast.Import | ast.ImportFrom
    alias: ast.alias
    name: str


def plan_left_imports(view: FileView, planned: Planned) -> Changes:
    """Report each import that stays, of which nothing is said and which nothing that stays uses."""
    imports = [*_names(Converted(view, planned)), *_stars(view, planned)]
    said = {found.node for found in planned.findings}
    imports = [one for one in imports if one.alias not in said and one.statement not in said]
    kept = view.kept(planned.edits) if imports else None
    if kept is None:
        return NOTHING
    return Changes(
        findings=tuple(finding(LEFT_IMPORT, one.alias, one.name) for one in imports if _stays(view, kept, one))
    )


def _names(file: Converted) -> Iterator[_Imported]:
    """The imports of names that nothing reads in the converted file."""
    view = file.view
    for scope in view.tree.own.values():
        for name, bindings in scope.bindings.items():
            imports = list(_of_source(view, bindings)) if name not in view.source.unread_names else []
            if imports and not file.remaining(bindings, file.naming.groups.get(id(bindings))):
                yield from imports


def _of_source(view: FileView, bindings: list[Binding]) -> Iterator[_Imported]:
    for one in bindings:
        if one.alias is None or not isinstance(one.node, ast.Import | ast.ImportFrom):
            continue
        # of `import torch.utils.data` the binding means `torch`
        module = one.alias.name if isinstance(one.node, ast.Import) else one.qualified or ""
        if _is_asked(view, module):
            yield _Imported(one.node, one.alias, module)


def _stars(view: FileView, planned: Planned) -> Iterator[_Imported]:
    """The imports of all names of a module, where no use that stays takes its name from there."""
    free = [use.site.anchor for use in planned.uses if not use.converts and use.site.anchor.kind == "free"]
    needed = {name.rpartition(".")[0] for anchor in free for name in anchor.names}
    for statement in view.tree.stars:
        module = statement.module or ""
        if not statement.level and _is_asked(view, module) and module not in needed:
            yield _Imported(statement, statement.names[0], module)


def _is_asked(view: FileView, name: str) -> bool:
    return view.settings.is_of_source(name) and not view.settings.deselects(name)


def _stays(view: FileView, kept: KeptText, one: _Imported) -> bool:
    module = module_span(view, one.statement) if isinstance(one.statement, ast.ImportFrom) else None
    return kept.holds(view.source.span(one.alias)) and (module is None or kept.holds(module))
