"""Every place in a file where a table API stands, by whatever name."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Literal

from paddletorch_rules import Form, Row

from paddletorch.plan.context import FileContext
from paddletorch.resolve import Binding, NoneValue, Qualified

Role = Literal["call", "partial", "base", "annotation", "check", "alias", "probe", "patch", "member", "value"]
AnchorKind = Literal["import", "alias", "attribute", "free"]

_CHECKS = frozenset({"isinstance", "issubclass"})
_PROBES = frozenset({"hasattr", "getattr", "setattr", "delattr"})


@dataclass(frozen=True, slots=True)
class Anchor:
    """The part of a dotted use whose binding gives it its meaning: ``amp`` of ``amp.GradScaler``."""

    kind: AnchorKind
    key: Hashable
    node: ast.expr
    bindings: tuple[Binding, ...]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One API a use may mean."""

    name: str
    row: Row
    form: Form


@dataclass(eq=False, slots=True)
class Site:
    """One use: the dotted expression ``node``, what it may mean and what surrounds it."""

    node: ast.expr
    anchor: Anchor
    candidates: tuple[Candidate, ...]
    role: Role
    call: ast.Call | None
    other: Binding | None
    """A binding that makes the name something else, if there is one."""

    @property
    def name(self) -> str:
        """The first name it may mean, for messages."""
        return self.candidates[0].name


def find_sites(context: FileContext) -> list[Site]:
    """All sites of the file, in source order."""
    segments, prefixes = _spellings(context)
    found: list[Site] = []
    others: list[ast.Name] = []
    flows = False
    for load in context.tree.loads:
        bindings = context.tree.scopes[load].lookup(load.id)
        imported = [b.qualified for b in bindings if b.qualified is not None]
        if bindings and not imported:
            others.append(load)
            continue
        if not bindings and load.id not in prefixes and load.id not in context.evaluator.bare:
            continue
        if bindings and len(imported) == len(bindings) and not any(_is_prefix(name, prefixes) for name in imported):
            continue
        sites = list(_name_sites(context, load))
        found += sites
        flows = flows or any(s.role not in _STAYS for s in sites) or (not sites and _leads_on(context, load, prefixes))
    if flows:  # an API or its module is handed on somewhere: any variable may hold it
        found += [s for load in others if _may_be_api(context, load, segments) for s in _name_sites(context, load)]
        found += _attribute_sites(context)
    found.sort(key=lambda s: (s.node.lineno, s.node.col_offset))
    return found


_STAYS = frozenset({"call", "annotation", "check", "base"})
"""Roles in which the API itself reaches no variable."""


def _spellings(context: FileContext) -> tuple[frozenset[str], frozenset[str]]:
    """Every part that a dotted use of an API or of its members can have, and every module path that leads to one."""
    settings = context.settings
    segments: set[str] = {"__init__", "__new__"}
    prefixes: set[str] = {settings.source}
    for row in settings.rows:
        for form in row.forms(settings.source):
            for name in form.names:
                parts = name.removesuffix(".*").split(".")
                if name.endswith(".*"):
                    prefixes.add(name)
                segments.update(parts)
                if row.receiver is None:
                    prefixes.update(".".join(parts[:n]) for n in range(1, len(parts) + 1))
    return frozenset(segments), frozenset(prefixes)


def _is_prefix(name: str, prefixes: frozenset[str]) -> bool:
    return name in prefixes or name.rpartition(".")[0] + ".*" in prefixes


def _leads_on(context: FileContext, load: ast.Name, prefixes: frozenset[str]) -> bool:
    """Whether a module that holds an API is used as a value: ``amp = torch.cuda.amp``."""
    names = context.evaluator.imported_names(load) or frozenset({load.id})
    node: ast.expr = load
    while isinstance(parent := context.tree.parents.get(node), ast.Attribute):
        names = frozenset(f"{name}.{parent.attr}" for name in names)
        node = parent
    return not names.isdisjoint(prefixes)


def _may_be_api(context: FileContext, load: ast.Name, segments: frozenset[str]) -> bool:
    """Sort out cheaply what cannot be an API: ``x.y`` where no API's name holds ``y`` and ``x`` is not imported."""
    parent = context.tree.parents.get(load)
    if not isinstance(parent, ast.Attribute) or parent.attr in segments:
        return True
    return any(b.qualified is not None for b in context.tree.scopes[load].lookup(load.id))


def _name_sites(context: FileContext, load: ast.Name) -> Iterator[Site]:
    values = context.evaluator.values(load)
    names = frozenset(v.name for v in values if isinstance(v, Qualified))
    if not names:
        return
    scope = context.tree.scopes[load]
    bindings = scope.lookup(load.id)
    kind: AnchorKind = "free"
    if bindings:
        kind = "import" if any(_is_framework_import(context, b) for b in bindings) else "alias"
    key: Hashable = id(bindings) if bindings else load.id
    anchor = Anchor(kind, key, load, tuple(bindings), names)
    other = next((b for b in bindings if _is_other(context, b)), None)
    site = _climb(context, anchor, load, names, other)
    if site is not None:
        yield site


def _is_framework_import(context: FileContext, binding: Binding) -> bool:
    return binding.qualified is not None and not _is_other(context, binding)


def _is_other(context: FileContext, binding: Binding) -> bool:
    if binding.qualified is not None:
        root = binding.qualified.partition(".")[0]
        known = context.settings.source, context.settings.target, "apex"
        return root not in known
    values = context.evaluator.bound([binding])
    return any(not isinstance(v, Qualified | NoneValue) for v in values)


def _attribute_sites(context: FileContext) -> list[Site]:
    """Uses through a stored attribute: ``self.autocast(...)``, ``Config.scaler_class``."""
    evaluator = context.evaluator
    names: set[str] = set()
    for store in context.tree.stores:
        if store.value is not None and _has_api(context, store.value):
            names.add(store.target.attr)
    for scope in context.tree.own.values():
        if scope.kind == "class":
            for name, bindings in scope.bindings.items():
                if any(b.kind == "assign" and b.value is not None and _has_api(context, b.value) for b in bindings):
                    names.add(name)
    found: list[Site] = []
    if not names:
        return found
    for node in context.tree.scopes:
        if not isinstance(node, ast.Attribute) or node.attr not in names or not isinstance(node.ctx, ast.Load):
            continue
        if any(isinstance(v, Qualified) for v in evaluator.values(node.value)):
            continue
        values = evaluator.values(node)
        qualified = frozenset(v.name for v in values if isinstance(v, Qualified))
        if not qualified:
            continue
        anchor = Anchor("attribute", ("attribute", node.attr), node, (), qualified)
        site = _climb(context, anchor, node, qualified, None)
        if site is not None:
            found.append(site)
    return found


def _has_api(context: FileContext, value: ast.expr) -> bool:
    return any(isinstance(v, Qualified) and context.settings.lookup(v.name) for v in context.evaluator.values(value))


def _climb(
    context: FileContext, anchor: Anchor, start: ast.expr, names: frozenset[str], other: Binding | None
) -> Site | None:
    """The longest part of the dotted expression that is an API."""
    node, current = start, names
    best: tuple[ast.expr, tuple[Candidate, ...]] | None = None
    while True:
        parent = context.parent(node)
        dotted = isinstance(parent, ast.Attribute) and parent.value is node
        candidates = tuple(
            Candidate(name, *found) for name in sorted(current) if (found := context.settings.lookup(name)) is not None
        )
        if candidates and (not dotted or any(c.row.kind != "module" for c in candidates)):
            best = node, candidates
        if not dotted:
            break
        assert isinstance(parent, ast.Attribute)
        node, current = parent, frozenset(f"{name}.{parent.attr}" for name in current)
    if best is None:
        return None
    node, candidates = best
    return Site(node, anchor, candidates, *_role(context, node), other)


def _role(context: FileContext, node: ast.expr) -> tuple[Role, ast.Call | None]:
    parent = context.parent(node)
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return "patch", None
    if isinstance(parent, ast.Call):
        if parent.func is node:
            return "call", parent
        return _argument_role(context, parent, node)
    if isinstance(parent, ast.Attribute):
        call = context.parent(parent)
        return "member", call if isinstance(call, ast.Call) and call.func is parent else None
    if isinstance(parent, ast.ClassDef):
        return "base", None
    return _expression_role(context, node), None


def _argument_role(context: FileContext, call: ast.Call, node: ast.expr) -> tuple[Role, ast.Call | None]:
    name = context.qualified(call.func) or (call.func.id if isinstance(call.func, ast.Name) else "")
    if name in ("functools.partial", "partial") and call.args and call.args[0] is node:
        return "partial", call
    if name in _CHECKS:
        return "check", None
    if name in _PROBES and call.args and call.args[0] is node:
        return "probe", call
    return "value", None


def _expression_role(context: FileContext, node: ast.expr) -> Role:
    current: ast.expr = node
    while True:
        if current in context.annotations:
            return "annotation"
        parent = context.parent(current)
        if isinstance(parent, ast.Compare):
            return "check"
        if isinstance(parent, ast.Call):
            return _argument_role(context, parent, current)[0] if current is not parent.func else "value"
        if isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            return "alias" if parent.value is current else "value"
        if isinstance(parent, ast.arguments):
            return "alias"
        if isinstance(parent, ast.Lambda) or not isinstance(parent, ast.expr | ast.keyword):
            return "value"
        if isinstance(parent, ast.keyword):
            return "value"
        if isinstance(parent, ast.Dict | ast.List | ast.Set):
            return "value"
        if isinstance(parent, ast.Subscript) and parent.value is current:
            return "value"
        current = parent


def alias_keys(context: FileContext, node: ast.expr) -> list[Hashable]:
    """The names or attributes that an alias site gives its API to, as anchor keys."""
    current: ast.AST = node
    parent = context.parent(current)
    while isinstance(parent, ast.expr) and not isinstance(parent, ast.NamedExpr):
        current, parent = parent, context.parent(parent)
    targets: list[ast.expr] = []
    if isinstance(parent, ast.Assign):
        targets = list(parent.targets)
    elif isinstance(parent, ast.AnnAssign | ast.NamedExpr):
        targets = [parent.target]
    elif isinstance(parent, ast.arguments):
        function = context.parent(parent)
        scope = context.tree.own.get(function) if function is not None else None
        if scope is not None:
            return [id(bs) for bs in scope.bindings.values() for b in bs if b.value is current]
    return [key for target in targets for key in _target_keys(context, target)]


def _target_keys(context: FileContext, target: ast.expr) -> list[Hashable]:
    if isinstance(target, ast.Tuple | ast.List):
        return [key for element in target.elts for key in _target_keys(context, element)]
    if isinstance(target, ast.Name):
        scope = context.tree.scopes[target]
        keys: list[Hashable] = [id(scope.lookup(target.id))]
        return [*keys, ("attribute", target.id)] if scope.kind == "class" else keys
    if isinstance(target, ast.Attribute):
        return [("attribute", target.attr)]
    return []
