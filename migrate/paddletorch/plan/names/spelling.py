"""Spells names of the target as a scope of the file knows them: the root, aliases of modules, helper modules."""

from __future__ import annotations

import ast
import builtins
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import lru_cache

from paddletorch_rules.adapters import Definition

from paddletorch.model import Edit
from paddletorch.plan.model.changes import Changes, Import
from paddletorch.plan.model.refusals import NameTaken, Refused
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.bound_names import is_bound
from paddletorch.plan.names.written_functions import missing_functions
from paddletorch.resolve import NoneValue, Qualified, Scope


def spelled(
    view: FileView, aliases: Mapping[str, str], node: ast.expr | ast.stmt, edits: Iterable[Edit], api: str
) -> Changes:
    """The edits with the target's names as they are spelled at ``node``, and the imports that they need.

    Raises:
        Refused: a name is bound to something else.
    """
    scope = view.tree.scopes.get(node, view.tree.scope)
    found = [with_aliases(view, aliases, edit, node) for edit in edits]
    imports = [Import(node, module) for edit in found for module in helper_modules(view, edit, scope, api)]
    if not any(names_root(view, edit) for edit in found):
        return Changes(tuple(found), imports=tuple(imports))
    root = _root_at(view, scope, node, api)
    imports.append(Import(node, view.target))
    if root != view.target:
        found = [with_root(view, edit, root) for edit in found]
    return Changes(tuple(found), imports=tuple(imports))


def names_root(view: FileView, edit: Edit) -> bool:
    """Whether an edit's text contains the target's root name."""
    return _root_pattern(view.target).search(edit.written) is not None


def helper_modules(view: FileView, edit: Edit, scope: Scope, api: str) -> list[str]:
    """Modules beside the frameworks that an edit's text uses: of the standard library, and torchvision.

    Raises:
        Refused: the name of such a module, of a builtin or of a function in the text is bound to something else.
    """
    for one, place in missing_functions(view, edit, api):
        if (taken := view.provide(_TakenNames).of(one, place)) is not None:
            raise Refused(NameTaken(taken, api))
    return _helper_modules(view, edit.written, scope, api)


def _helper_modules(view: FileView, written: str, scope: Scope, api: str) -> list[str]:
    """The modules that new text in a scope uses.

    Raises:
        Refused: the name of such a module or of a builtin is bound to something else.
    """
    builtin_names, modules = _names_in(written)
    for name in builtin_names:
        if scope.lookup(name) or name in view.evaluator.bare or _is_of_target_star(view, name):
            raise Refused(NameTaken(name, api))
    found: list[str] = []
    for module in modules:
        if any(b.qualified != module for b in scope.lookup(module)):
            raise Refused(NameTaken(module, api))
        found.append(module)
    return found


@lru_cache(maxsize=1024)
def _names_in(written: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The builtins and the modules of the standard library that new text reads; much of it is the same."""
    modules = _HELPERS.findall(_DOCSTRINGS.sub("", written))
    return tuple(dict.fromkeys(_BUILTINS.findall(written))), tuple(dict.fromkeys(modules))


class _TakenNames:
    """Names that the functions of new text read, and that the module binds to something else where they stand."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._found: dict[tuple[str, int], str | None] = {}

    def of(self, one: Definition, place: int) -> str | None:
        """The name that the function cannot read at ``place``; None if it can be written there."""
        key = one.name, place
        if key not in self._found:
            self._found[key] = self._first(one, place)
        return self._found[key]

    def _first(self, one: Definition, place: int) -> str | None:
        view, scope = self._view, self._view.tree.scope
        try:
            _helper_modules(view, one.text, scope, one.name)
            for name in _names_in(one.text)[0]:
                if view.evaluator.star_may_bind(name):
                    return name
            if _root_pattern(view.target).search(one.text):
                _root_at(view, scope, statement_below(view, place), one.name)
        except Refused as stop:
            if isinstance(stop.refusal, NameTaken):
                return stop.refusal.name
            raise
        return None


def statement_below(view: FileView, place: int) -> ast.stmt:
    """The first statement of the module that begins at ``place`` or below it."""
    body = view.tree.module.body
    return body[bisect_left(body, place, key=lambda statement: view.source.span(statement).start)]


def _is_of_target_star(view: FileView, name: str) -> bool:
    """Whether an ``import *`` of the target, which the file has already, may bind the name."""
    table = view.settings.table
    return any(name in table.exported(view.target, star.module or "") for star in view.tree.stars)


_BUILTIN = "|".join(name for name in dir(builtins) if name.islower() and name.isalpha())
_BUILTINS = re.compile(rf"(?<![\w.'\"])(?:{_BUILTIN})(?=[(,)\]])|\A(?:{_BUILTIN})\Z")
_DOCSTRINGS = re.compile(r'"""(?:.|\n)*?"""')
_HELPERS = re.compile(
    r"(?<![\w.])(math|numbers|functools|types|collections|itertools|operator|contextlib|copy|importlib|os|torchvision"
    r"|typing)(?=\.\w)"
)


def with_aliases(view: FileView, aliases: Mapping[str, str], edit: Edit, node: ast.expr | ast.stmt) -> Edit:
    """The edit with the names that the file has for modules of the target: ``F.relu_`` for the dotted path."""
    written, scope = edit.written, scope_of(view, node)
    for module in sorted((module for module in aliases if module + "." in written), key=len, reverse=True):
        name = aliases[module]
        known = module + "." in edit.written and scope.lookup(name) is view.tree.scope.bindings.get(name)
        if known and is_bound(view, name, node):
            pattern = re.compile(rf"(?<![\w.]){re.escape(module)}(?=\.)")
            parts = tuple(pattern.sub(name, p) if isinstance(p, str) else p for p in edit.parts)
            edit = edit._replace(text=pattern.sub(name, edit.text), parts=parts)
    return edit


def with_root(view: FileView, edit: Edit, root: str) -> Edit:
    """The edit with ``root`` in place of the target's root name."""
    pattern = _root_pattern(view.target)
    parts = tuple(pattern.sub(root, p) if isinstance(p, str) else p for p in edit.parts)
    return edit._replace(text=pattern.sub(root, edit.text), parts=parts)


@lru_cache(maxsize=2)
def _root_pattern(target: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?<!\.){target}\b(?=[.,])")


def root_name(view: FileView, site: Site) -> str:
    """The name that the target's root has, or will have, at a site.

    Raises:
        Refused: the name is bound to something else.
    """
    return _root_at(view, scope_of(view, site.node), site.node, site.name)


def scope_of(view: FileView, node: ast.expr | ast.stmt) -> Scope:
    """The scope of a dotted name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return view.tree.scopes.get(node, view.tree.scope)


def _root_at(view: FileView, scope: Scope, node: ast.expr | ast.stmt, api: str) -> str:
    """As ``root_name``, for code at ``node`` in ``scope``.

    Raises:
        Refused: the name is bound to something else, or the function binds it later.
    """
    target = view.target
    if _is_declared_later(view, scope, node):
        raise Refused(NameTaken(target, api))
    bindings = scope.lookup(target)
    while bindings:
        is_global = bindings is view.tree.scope.bindings.get(target)  # functions may bind it too, by ``global``
        home, bound = view.tree.scope if is_global else bindings[0].scope, is_bound(view, target, node)
        others = {v for v in view.evaluator.bound(bindings) if not isinstance(v, NoneValue)}
        of_target = others == {Qualified(target)}
        if of_target and bound:
            return target
        if of_target and home is view.tree.scope:
            break  # an import may bind it in time, unless another name is bound already
        if not of_target or home.kind != "class" or home.parent is None:
            raise Refused(NameTaken(target, api))
        bindings = home.parent.lookup(target)  # where a class has not bound it yet, Python looks for it outside
    for name in view.module_imports.get(target, ()):
        if scope.lookup(name) is view.tree.scope.bindings[name] and is_bound(view, name, node):
            return name
    return target


def _is_declared_later(view: FileView, scope: Scope, node: ast.expr | ast.stmt) -> bool:
    """Whether ``global paddle`` follows in the same scope: Python forbids to read the name before that."""
    declared = view.provide(_declarations)
    last = declared.get(scope.function()) if declared else None
    return last is not None and (node.lineno, node.col_offset) < last


def _declarations(view: FileView) -> dict[Scope, tuple[int, int]]:
    """Where ``global paddle`` or ``nonlocal paddle`` stands last in each scope that has it."""
    found: dict[Scope, tuple[int, int]] = {}
    for statement, home in view.tree.redirections:
        if view.target in statement.names:
            found[home] = max((statement.lineno, statement.col_offset), found.get(home, (0, 0)))
    return found
