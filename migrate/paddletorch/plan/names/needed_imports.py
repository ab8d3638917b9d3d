"""Decides which modules must be imported for the new text, and beside which statements."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from paddletorch.plan.model.changes import Import
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.bound_names import is_bound, may_run_before, runs_before
from paddletorch.plan.syntax.statements import block_of, start_of
from paddletorch.resolve import Binding, Scope, is_import_guard


def needed_modules(view: FileView, imports: Iterable[Import]) -> dict[ast.stmt, list[str]]:
    """Modules to import, by the statement beside which they are imported."""
    statements_by_module: dict[str, set[ast.stmt]] = {}
    for one in imports:
        if not _has_module(view, _root(one.node), one.module):
            found = _imports_for(view, one.node) if one.site is None else _imports_of(view, one.site, one.module)
            if one.module.partition(".")[0] in sys.stdlib_module_names:
                found = [_out_of_guards(view, statement) for statement in found]
            statements_by_module.setdefault(one.module, set()).update(found)
    needs: dict[ast.stmt, list[str]] = {}
    for module, statements in sorted(_with_one_place(view, statements_by_module).items()):
        for statement in _without_needless(view, statements):
            needs.setdefault(statement, []).append(module)
    return needs


def _with_one_place(view: FileView, needs: dict[str, set[ast.stmt]]) -> dict[str, set[ast.stmt]]:
    """Modules of a package that is imported at the top are imported there: an import in a function hides its name."""
    tops: dict[str, ast.stmt] = {}
    by_a_part = set()
    for module, statements in needs.items():
        package = module.partition(".")[0]
        on_top = [s for s in statements if isinstance(view.parent(s), ast.Module)]
        if on_top:
            tops[package] = min([*on_top, tops.get(package, on_top[0])], key=start_of)
            by_a_part |= {package} - {module}
    found: dict[str, set[ast.stmt]] = {}
    for module, statements in needs.items():
        package = module.partition(".")[0]
        top = tops.get(package)
        inner = [s for s in statements if not isinstance(view.parent(s), ast.Module)]
        below = {s for s in inner if top is not None and start_of(s) > start_of(top)}
        is_served = module in by_a_part  # ``import torchvision.transforms`` binds ``torchvision``
        places = statements - below if is_served or top is None or not below else {*statements - below, top}
        if places:
            found[module] = places
    return found


def _imports_of(view: FileView, site: Site, module: str) -> list[ast.stmt]:
    """The imports that bind a site's name; if there is none, an import of the source framework above it."""
    known = view.provide(_import_statements).get(site.anchor.bindings)
    if known is None:
        imports = [b.node for b in site.anchor.bindings if isinstance(b.node, ast.Import | ast.ImportFrom)]
        is_guarded = any(is_import_guard(view.parent(statement)) for statement in imports)
        known = _Imports([*imports], is_guarded, is_guarded and _are_missed(view, imports))
        view.provide(_import_statements)[site.anchor.bindings] = known
    found = known.statements
    of_framework = module.partition(".")[0] == view.target
    if found and (of_framework or _serve(view, found, site.node, module)):
        unguarded = _unguarded(view, known, site.node) if known.is_guarded else None
        return found if unguarded is None else [unguarded]
    if view.tree.stars and site.anchor.kind == "free":
        return list(view.tree.stars)
    if of_framework and site.anchor.kind == "free" and getattr(site.anchor.node, "id", "") == view.settings.source:
        return []  # ``torch.zeros`` without an import is documentation, which imports the framework elsewhere
    return _imports_for(view, site.node)


def _serve(view: FileView, found: Sequence[ast.stmt], node: ast.expr, module: str) -> bool:
    """Whether a module that is imported beside these is bound where the name is used as far as that name is.

    Python's own modules need no guard, and are imported where they are bound in any case.
    """
    if module.partition(".")[0] in sys.stdlib_module_names:
        return any(runs_before(view, statement, node) for statement in found)
    return may_run_before(view, found, node)


def _unguarded(view: FileView, known: _Imports, node: ast.expr | ast.stmt) -> ast.stmt | None:
    """An import of the source on top of the module above ``node``, where one of those known may fail unseen.

    If there is no other, one in a guard on top, for imports in functions whose guards use the name without them.
    """
    first = view.provide(_first_imports)
    if first.on_top is not None and runs_before(view, first.on_top, node):
        return first.on_top
    others = first.by_guard if known.are_missed else ()
    return next((s for s in others if s.lineno < node.lineno), None)


def _are_missed(view: FileView, imports: Sequence[ast.Import | ast.ImportFrom]) -> bool:
    """Whether none of these imports runs with the module, and a handler around one reads a name that it binds."""
    of_module = view.provide(_source_imports).get(view.tree.scope, ())
    return set(imports).isdisjoint(of_module) and any(_reads_without(view, one) for one in imports)


def _reads_without(view: FileView, statement: ast.Import | ast.ImportFrom) -> bool:
    """Whether a handler of the guard around an import reads a name that the import binds."""
    guard = view.parent(statement)
    handlers = guard.handlers if isinstance(guard, ast.Try) else ()
    bound = {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    return any(isinstance(n, ast.Name) and n.id in bound for handler in handlers for n in ast.walk(handler))


def _out_of_guards(view: FileView, statement: ast.stmt) -> ast.stmt:
    """The statement, or the ``try`` that guards it: Python's own modules are there where a framework is missing."""
    around = view.parent(statement)
    while isinstance(around, ast.Try) and statement in around.body:
        statement, around = around, view.parent(around)
    return statement


class _Imports(NamedTuple):
    """The imports that bind a name."""

    statements: list[ast.stmt]
    is_guarded: bool
    """One of them may fail unseen."""
    are_missed: bool
    """None of them runs with the module, and where one fails its name is read in spite of that."""


def _import_statements(_view: FileView) -> dict[tuple[Binding, ...], _Imports]:
    """The imports among all bindings of a name: the same for all its sites."""
    return {}


def _without_needless(view: FileView, needs: set[ast.stmt]) -> Collection[ast.stmt]:
    """Remove needless statements: an import at the top serves the code below it, one in a block the rest of the block.

    In a document each cell that needs an import has its own, since it may be run alone.
    """
    top = [s for s in needs if isinstance(view.parent(s), ast.Module)]
    if top:
        first = min(s.lineno for s in top)
        needs = {*top, *(s for s in needs if s.lineno < first)}
    blocks: dict[tuple[int, int], ast.stmt] = {}
    for statement in sorted(needs, key=start_of):
        blocks.setdefault((id(block_of(view, statement)), view.source.cell(statement.lineno)), statement)
    return blocks.values()


def _root(node: ast.expr | ast.stmt) -> ast.AST:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _has_module(view: FileView, node: ast.AST, module: str) -> bool:
    """Whether a name for the module is bound at ``node``."""
    scope = view.tree.scopes.get(node, view.tree.scope)
    if any(b.qualified == module for b in scope.lookup(module)) and is_bound(view, module, node):
        return True
    names = view.module_imports.get(module, ())
    return any(scope.lookup(n) is view.tree.scope.bindings[n] and is_bound(view, n, node) for n in names)


def _imports_for(view: FileView, node: ast.expr | ast.stmt) -> list[ast.stmt]:
    """The import of the source beside which a module is imported for ``node``; if none runs before it, the top."""
    imports = view.provide(_source_imports)
    here = scope = view.tree.scopes.get(node, view.tree.scope)
    function: ast.AST | None = None
    while scope is not view.tree.scope and scope.parent is not None:
        is_seen = scope.kind != "class" or scope is here  # functions in a class do not see its names
        for statement in imports.get(scope, ()) if is_seen else ():
            if runs_before(view, statement, node):
                return [statement]
        function = scope.node if isinstance(scope.node, ast.FunctionDef | ast.AsyncFunctionDef) else function
        scope = scope.parent
    known = view.provide(_imports_above)
    first = known.get(function) if function is not None else None
    if first is None:
        found = (s for s in imports.get(view.tree.scope, ()) if runs_before(view, s, node))
        first = next(found, None) or view.provide(_top)
    if function is not None:
        known[function] = first
    return [first] if first is not None else []


def _imports_above(_view: FileView) -> dict[ast.AST, ast.stmt | None]:
    """The import of the module that runs before the body of an outermost function: the same for all that is in it."""
    return {}


def _source_imports(view: FileView) -> dict[Scope, list[ast.stmt]]:
    """The imports of the source framework in each scope, the last first; behind them those that may fail unseen."""

    def order(statement: ast.stmt) -> tuple[bool, tuple[int, int]]:
        return not is_import_guard(view.parent(statement)), start_of(statement)

    found: dict[Scope, set[ast.stmt]] = {}
    for scope in view.tree.own.values():
        for binding in (b for bindings in scope.bindings.values() for b in bindings):
            of_source = (binding.qualified or "").partition(".")[0] == view.settings.source
            if of_source and isinstance(binding.node, ast.Import | ast.ImportFrom) and binding.scope is scope:
                found.setdefault(scope, set()).add(binding.node)
    return {scope: sorted(imports, key=order, reverse=True) for scope, imports in found.items()}


class _First(NamedTuple):
    """The first imports of the source in the module's own scope: where a later one runs before a use, these do too."""

    on_top: ast.stmt | None
    """The first that stands on top of the module."""
    by_guard: list[ast.stmt]
    """The first of those that may fail unseen, before the first of the others."""


def _first_imports(view: FileView) -> _First:
    imports = view.provide(_source_imports).get(view.tree.scope, ())
    on_top = [s for s in imports if isinstance(view.parent(s), ast.Module)]
    first = {is_import_guard(view.parent(s)): s for s in imports}  # of each kind the last stand first
    return _First(on_top[-1] if on_top else None, [first[is_guarded] for is_guarded in sorted(first, reverse=True)])


def _top(view: FileView) -> ast.stmt | None:
    """The statement before which an import is inserted in a file where no import of the source runs first.

    The first import of another package, or else the first statement below the docstring and ``__future__``.
    """
    first: ast.stmt | None = None
    for number, statement in enumerate(view.tree.module.body):
        docstring = number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if docstring or (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
            continue
        first = first or statement
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            break
        name = statement.names[0].name if isinstance(statement, ast.Import) else statement.module or ""
        if name.partition(".")[0] not in sys.stdlib_module_names:
            return statement
    return first
