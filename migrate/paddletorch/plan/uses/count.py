"""Counts the uses of the source framework's APIs of which nothing is said, and reports the APIs that no table has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence, Set

from paddletorch_rules import Row

from paddletorch.model import Fate, Fates
from paddletorch.model.fates import counted
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, Located, finding, refused
from paddletorch.plan.model.refusals import Refusal, UncertainBinding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.emptied_guards import IMPORT_AS_QUESTION
from paddletorch.plan.names.import_guards import is_presence_test
from paddletorch.resolve.scopes.spans import SpanIndex

UNKNOWN_API = "API225"
MODULE_AS_VALUE = "API242"

# What reads the module itself: ``torchvision.models.__dict__[name]`` may be any of its names.
_OF_EVERY_MODULE = frozenset(
    ["__all__", "__dict__", "__doc__", "__file__", "__loader__", "__name__", "__path__", "__spec__"]
)


def unlisted_uses(
    view: FileView, planned: Planned, findings: Iterable[Finding], ignored: Iterable[Finding]
) -> dict[str, Fates]:
    """The uses that the file's conversions and shown findings do not list, by name.

    ``findings`` are all that there are; ``ignored`` those of them that the user does not want to see.
    """
    specs = view.settings.table.diagnostics
    fates = list(planned.unlisted)
    for found in ignored:
        if specs[found.code].severity != "info":
            fates.append((found.name, Fate.NEEDS_YOU if specs[found.code].examined else Fate.NOT_EXAMINED))
    said: dict[ast.AST, bool] = {}
    for found in findings:
        said[found.node] = said.get(found.node, False) or specs[found.code].severity != "info"
    left = [use for use in planned.uses if not use.converts and use.row.kind != "module"]
    silent = [use.site for use in left if not said.get(use.site.node, False)]
    kept = view.kept(planned.edits) if silent else None
    for site in silent:
        if kept is not None and not kept.touches(view.source.span(site.node)):  # an argument that was dropped
            fates.append((site.name, Fate.CONVERTED))
        else:
            fates.append((site.name, Fate.SAME if site.node in said else Fate.NEEDS_YOU))
    return counted(fates)


def plan_unknown_names(view: FileView, planned: Planned) -> Changes:
    """Report the names that no table has and the modules that stay as values."""
    unknown: list[tuple[ast.expr, str]] = []
    modules: list[tuple[ast.expr, str]] = []
    for node, name in _unplanned(view, planned):
        (modules if _is_module_value(view, node, name) else unknown).append((node, name))
    left = {_root(node) for node, _ in unknown} | {_root(u.site.node) for u in planned.uses if not u.converts}
    modules = [(node, name) for node, name in modules if _root(node) not in left or not is_presence_test(view, node)]
    found = [
        *(_unknown(view, node, name) for node, name in unknown),
        *(_unknown(view, alias, name) for alias, name in _unused_imports(view)),
        *(_unknown(view, node, name, MODULE_AS_VALUE) for node, name in modules),
        *(finding(IMPORT_AS_QUESTION, alias, name) for alias, name in _asking_imports(view, planned)),
        *(refused(why, node, name) for node, name, why in _read_before_class_binds(view)),
    ]
    return Changes(findings=tuple(_staying(view, planned, found)))


def _staying(view: FileView, planned: Planned, found: Sequence[Finding]) -> Iterator[Finding]:
    """What is found of names that stand there still, as they were or by their last part: ``class A(Base)``."""
    kept = view.kept(planned.edits) if found else None
    changed = [one for one in found if kept is not None and not kept.touches(view.source.span(one.node))]
    edits = planned.edits if changed else ()
    around = SpanIndex(((edit.span.start, 0), (edit.span.end, 0), edit) for edit in edits)
    gone: set[int] = set()
    for one in changed:
        span = view.source.span(one.node)
        name = re.compile(rf"\b{re.escape(one.name.rpartition('.')[2])}\b")
        is_import = one.code == IMPORT_AS_QUESTION  # ``import paddle.nn as nn`` is another one
        if is_import or not any(name.search(e.written) for e in around.around((span.start, 0), (span.end, 0))):
            gone.add(id(one))
    yield from (one for one in found if id(one) not in gone)


def _read_before_class_binds(view: FileView) -> Iterator[tuple[ast.expr, str, Refusal]]:
    """Each name of the source framework that a class reads and binds as well, so that it may be either."""
    tree = view.tree
    for load in [n for name in tree.imported & tree.class_members for n in tree.names.get(name, ())]:
        own, *outside = tree.meanings(load)
        names = {b.qualified for bindings in outside for b in bindings if b.qualified is not None}
        if any(view.settings.is_of_source(name) for name in names) and not view.settings.deselects(min(names)):
            yield load, min(names), UncertainBinding(load.id, getattr(own[0].node, "lineno", 0))


def _unknown(view: FileView, node: ast.expr | ast.alias, name: str, code: str = UNKNOWN_API) -> Finding:
    """The finding about the name: what a table says of it, or of all names in the module that it is, if one does."""
    stated = _stated_name(view, name) or _stated_module(view, name)
    if stated is not None and stated.report is not None:
        return finding(stated.report, node, name, stated)
    return finding(code, node, name)


def _stated_name(view: FileView, name: str) -> Row | None:
    """The row that says that the name has no counterpart, if there is one."""
    found = view.settings.lookup(name)
    return found[0] if found is not None and found[0].kind == "unsupported" else None


def _stated_module(view: FileView, name: str) -> Row | None:
    """The row that says of all names in the module ``name`` that they have no counterpart, if there is one."""
    found = view.settings.lookup(f"{name}.*")
    if found is None or found[0].kind != "unsupported" or view.settings.table.exported(view.settings.source, name):
        return None
    return found[0]


def _unused_imports(view: FileView) -> Iterator[tuple[ast.alias, str]]:
    """Each import of the source framework that has no counterpart and that nothing in the file uses by its name."""
    for statement in view.tree.module.body:
        if isinstance(statement, ast.ImportFrom) and not statement.level:
            start = f"{statement.module}."
        elif isinstance(statement, ast.Import):
            start = ""
        else:
            continue
        for alias in statement.names:
            name = start[:-1] if alias.name == "*" else start + alias.name
            if not view.settings.is_of_source(name) or (not start and not alias.asname):
                continue
            if not view.tree.names.get(alias.asname or alias.name) and not _has_counterpart(view, name):
                yield alias, name


def _has_counterpart(view: FileView, name: str) -> bool:
    """Whether a module or a name becomes something, or nobody asks what."""
    found = view.settings.lookup(name)
    if view.settings.deselects(name) or (found is not None and found[0].kind != "unsupported"):
        return True
    return _stated_module(view, name) is None and (name in view.settings.modules or _is_module(view, name))


def _asking_imports(view: FileView, planned: Planned) -> Iterator[tuple[ast.alias, str]]:
    """Imports of the source framework that nothing uses, where code goes on if they fail: they ask if it is there.

    Not those that became the target's: ``from paddle.amp import GradScaler``.
    """
    tries = [node for node in view.tree.of_kind(ast.Try) if any(isinstance(s, _IMPORTS) for s in node.body)]
    read = _read_imports(view) if tries else frozenset()
    converted = {(one.line, one.column) for one in planned.conversions} if tries else set()
    for guard, statement in [(node, s) for node in tries for s in node.body if isinstance(s, _IMPORTS)]:
        module = f"{statement.module}." if isinstance(statement, ast.ImportFrom) else ""
        for alias in statement.names if statement not in read else ():
            name = module + alias.name
            of_source = name.partition(".")[0] == view.settings.source
            if view.source.position(view.source.span(alias).start) in converted:
                continue
            if of_source and alias.name != "*" and not view.settings.deselects(name) and not _falls_back(guard, alias):
                yield alias, name


_IMPORTS = ast.Import | ast.ImportFrom


def _falls_back(guard: ast.Try, alias: ast.alias) -> bool:
    """Whether a handler imports the name from elsewhere: other files take it from here."""
    others = (s for handler in guard.handlers for s in handler.body if isinstance(s, ast.ImportFrom))
    return any((a.asname or a.name) == (alias.asname or alias.name) for s in others for a in s.names)


def _read_imports(view: FileView) -> frozenset[ast.AST]:
    """The import statements that bind a name which the file reads."""
    tree = view.tree
    loads = (load for name in tree.imported for load in tree.names.get(name, ()))
    read = {id(bindings): bindings for load in loads for bindings in tree.meanings(load)}
    return frozenset(binding.node for bindings in read.values() for binding in bindings)


def _is_module(view: FileView, name: str) -> bool:
    """Whether the tables have names below this one."""
    return any(module.startswith(name + ".") for module in view.settings.modules)


def _unplanned(view: FileView, planned: Planned) -> Iterator[tuple[ast.expr, str]]:
    """Each use of the source framework's names that no pass has looked at: no site, and nothing reported there."""
    tree = view.tree
    sites = {use.site.node for use in planned.uses}
    said = {found.node for found in planned.findings}
    for load in [load for name, loads in tree.names.items() if name in tree.imported for load in loads]:
        names = view.evaluator.imported_names(load)
        if not names or not any(view.settings.is_of_source(n) for n in names):
            continue
        node: ast.expr = load
        name = min(names)
        covered = node in sites
        while isinstance(parent := view.parent(node), ast.Attribute):
            if parent.attr in _OF_EVERY_MODULE and parent not in sites and name in view.settings.modules:
                break
            node, name = parent, f"{name}.{parent.attr}"
            covered = covered or node in sites
        if covered or view.settings.deselects(name):
            continue
        if not _is_module_value(view, node, name) or not _is_said(view, node, said):
            yield node, name


def _is_module_value(view: FileView, node: ast.expr, name: str) -> bool:
    """Whether a name that is no site is a module of the framework; what is called is none."""
    parent = view.parent(node)
    called = isinstance(parent, ast.Call) and parent.func is node
    return "." not in name or (name in view.settings.modules and not called)


def _root(node: ast.expr) -> str:
    """The name that a dotted expression begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_said(view: FileView, node: ast.expr, said: Set[Located]) -> bool:
    """Whether something is reported of an expression or of the call that it is an argument of, such as ``getattr``."""
    parent = view.parent(node)
    return node in said or parent in said or (isinstance(parent, ast.Call) and parent.func in said)
