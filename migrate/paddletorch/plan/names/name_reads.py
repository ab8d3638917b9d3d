"""Whether anything reads an imported name, in the file as it is and once it is converted."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from paddletorch.plan.model.naming import Group
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.converted import Converted
from paddletorch.resolve import Binding


def is_read(file: Converted, name: str, bindings: list[Binding], *, at_all: bool = False) -> bool:
    """Whether the name is read in the converted file; with ``at_all``, in the file as it is."""
    if name in file.view.source.unread_names:
        return True
    loads = file.view.tree.reads(bindings)
    if at_all or not loads:
        return bool(loads)
    return file.asked(("read", id(bindings)), lambda: any(not file.replaces(load) for load in loads))


def is_never_used(file: Converted, binding: Binding, bindings: list[Binding]) -> bool:
    """Whether this imports the framework at the top without any use; left, the file would still require it."""
    view = file.view
    on_top = isinstance(view.parent(binding.node), ast.Module) and (
        len(bindings) == 1 or file.asked(("repeated", id(bindings)), lambda: _are_repeated(bindings))
    )
    return (
        on_top
        and selects_modules(view)
        and binding.alias is not None
        and not view.suppressed("API101", binding.alias)
        and not is_read(file, binding.name, bindings)
        and binding.name not in exported_names(view)
    )


def _are_repeated(bindings: list[Binding]) -> bool:
    """Whether all of them are ``import`` of one module."""
    return len({b.qualified for b in bindings}) == 1 and all(isinstance(b.node, ast.Import) for b in bindings)


def selects_modules(view: FileView) -> bool:
    """Whether the rows of modules are selected, not only those of mixed precision."""
    return view.settings.lookup(f"{view.settings.source}.nn") is not None


def is_unused(file: Converted, group: Group) -> bool:
    """Whether nothing uses the name any more after the conversion."""
    if group.deleted or group.hidden or group.anchor.kind != "import" or _exported(file.view, group):
        return False
    if not all(file.replaces(load) for load in group.other_uses):
        return False
    rewritten = file.naming.rewritten
    return all(use.site in rewritten if use.converts else file.replaces(use.site.node) for use in file.uses(group))


def is_replaced(file: Converted, group: Group) -> bool:
    """Whether edits remove every use of a name that converts, such as an argument that is dropped."""
    if group.deleted or group.anchor.kind != "import" or _exported(file.view, group):
        return False
    return _are_gone(file, group.anchor.bindings[0].name, [site.anchor.node for site in group.sites])


def has_lost_uses(file: Converted, binding: Binding, bindings: list[Binding]) -> bool:
    """Whether edits remove every use of a name of the source that is in no table: a module above an API."""
    view = file.view
    if not view.settings.is_of_source(binding.qualified or "") or binding.name in view.source.unread_names:
        return False
    if any(b.kind == "delete" for b in bindings) or binding.name in exported_names(view):
        return False
    return _are_gone(file, binding.name, view.tree.reads(bindings))


def _are_gone(file: Converted, name: str, uses: Sequence[ast.expr]) -> bool:
    """Whether edits remove these uses of a name, which has some, and new text does not have it."""
    if not uses or not all(file.replaces(use) for use in uses):
        return False
    written = re.compile(rf"(?<![\w.]){re.escape(name)}\b")
    return not any(written.search(edit.written) for edit in file.planned.edits)


def is_needless(file: Converted, binding: Binding, bindings: list[Binding]) -> bool:
    """Whether an import of a name that the target lacks serves nothing: a module of imports only is for others."""
    view = file.view
    of_source = (binding.qualified or "").partition(".")[0] == view.settings.source
    return (
        of_source
        and file.is_changed
        and bool(view.tree.calls)
        and is_never_used(file, binding, bindings)
        and not is_read(file, binding.name, bindings, at_all=True)
    )


def _exported(view: FileView, group: Group) -> bool:
    return any(b.name in exported_names(view) for b in group.anchor.bindings)


def exported_names(view: FileView) -> frozenset[object]:
    """The names in ``__all__``."""
    return view.provide(_find_all_names)


def _find_all_names(view: FileView) -> frozenset[object]:
    for binding in view.tree.scope.bindings.get("__all__", ()):
        if isinstance(binding.value, ast.List | ast.Tuple):
            return frozenset(e.value for e in binding.value.elts if isinstance(e, ast.Constant))
    return frozenset()
