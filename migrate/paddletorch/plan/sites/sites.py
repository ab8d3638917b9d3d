"""Finds every use of an API of the tables in a file, by whatever name."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence, Set
from operator import itemgetter
from typing import NamedTuple

from paddletorch.model import Ask
from paddletorch.plan.inference.dead_fallbacks import never_runs
from paddletorch.plan.model.site import Anchor, AnchorKind, Candidate, Role, Site
from paddletorch.plan.model.view import FileView
from paddletorch.plan.sites.aliases import names_that_may_hold
from paddletorch.plan.sites.attribute_keys import attribute_key, self_scope
from paddletorch.resolve import Binding, NoneValue, Qualified
from paddletorch.resolve.values import UNKNOWN, Values

_CHECKS = frozenset({"isinstance", "issubclass"})
_NAMES_A_TYPE = frozenset({"typing.cast", "typing_extensions.cast"})
"""Functions whose first argument says a type, as an annotation does."""
_PROBES = frozenset({"dir", "hasattr", "getattr", "setattr", "delattr"})


class _Meaning(NamedTuple):
    """The meaning of a name, which is the same for all its uses in a scope."""

    kind: AnchorKind
    bindings: tuple[Binding, ...]
    other: Binding | None


def find_sites(view: FileView) -> Sequence[Site]:
    """All sites of the file, in source order."""
    segments, prefixes = view.settings.spellings
    found: list[Site] = []
    used_as_values: list[ast.expr] = []
    meanings: dict[int, _Meaning] = {}
    names_of: dict[Values, frozenset[str]] = {}
    for load in _may_name_api(view, prefixes):
        site = _name_site(view, load, meanings, names_of)
        if site is not None:
            found.append(site)
            if site.role not in _NOT_STORED:
                used_as_values.append(site.node)
        elif _is_module_used_as_value(view, load, prefixes):
            used_as_values.append(_whole_chain(view, load))
    if used_as_values:  # a variable may hold an API or its module
        names = names_that_may_hold(view, used_as_values)
        for load in _variables(view, names):
            site = _name_site(view, load, meanings, names_of) if _may_be_api(view, load, segments) else None
            if site is not None and not all(c.row.kind == "constant" for c in site.candidates):
                found.append(site)  # constants convert where they are assigned
        found += _attribute_sites(view, names)
    found += _recorded_sites(view, {site.node for site in found})
    found.sort(key=lambda s: (s.node.lineno, s.node.col_offset))
    return found


def _may_name_api(view: FileView, prefixes: frozenset[str]) -> Iterator[ast.Name]:
    """Loads of names that may be an API or a module that leads to one: imported, or not bound at all."""
    tree = view.tree
    for name, loads in tree.names.items():
        free = name in prefixes or name in view.evaluator.bare
        if not free and name not in tree.imported:
            continue
        decided: dict[int, bool] = {}
        for load in loads:
            bindings = tree.scopes[load].lookup(name)
            known = decided.get(id(bindings)) if bindings else free and not _is_above_stars(view, load)
            if known is None:
                imported = [b.qualified for b in bindings if b.qualified is not None]
                known = len(imported) < len(bindings) if imported else False
                known = decided[id(bindings)] = known or any(_is_prefix(q, prefixes) for q in imported)
            if known:
                yield load


def _is_above_stars(view: FileView, load: ast.Name) -> bool:
    """Whether the module reads the name before the first ``import *``, which then does not bind it there."""
    stars, scope = view.tree.stars, view.tree.scopes[load]
    while scope.kind in ("class", "comprehension") and scope.parent is not None:
        scope = scope.parent
    return (
        bool(stars)
        and scope is view.tree.scope
        and all((star.lineno, star.col_offset) > (load.lineno, load.col_offset) for star in stars)
    )


def _variables(view: FileView, names: frozenset[str]) -> Iterator[ast.Name]:
    """Loads of the names that the file binds without an import."""
    tree = view.tree
    for name in sorted(names & tree.names.keys()):
        for load in tree.names[name]:
            bindings = tree.scopes[load].lookup(name)
            if bindings and (name not in tree.imported or all(b.qualified is None for b in bindings)):
                yield load


def _whole_chain(view: FileView, load: ast.Name) -> ast.expr:
    node: ast.expr = load
    while isinstance(parent := view.tree.parents.get(node), ast.Attribute):
        node = parent
    return node


_NOT_STORED = frozenset({"call", "annotation", "check", "base"})
"""Roles in which the API itself is not stored or passed."""


def _is_prefix(name: str, prefixes: frozenset[str]) -> bool:
    return name in prefixes or name.rpartition(".")[0] + ".*" in prefixes


def _is_module_used_as_value(view: FileView, load: ast.Name, prefixes: frozenset[str]) -> bool:
    """Whether a module that leads to an API is used as a value: ``amp = torch.cuda.amp``."""
    names = view.evaluator.imported_names(load) or frozenset({load.id})
    node: ast.expr = load
    while isinstance(parent := view.tree.parents.get(node), ast.Attribute):
        names = frozenset(f"{name}.{parent.attr}" for name in names)
        node = parent
    return not names.isdisjoint(prefixes)


def _may_be_api(view: FileView, load: ast.Name, segments: frozenset[str]) -> bool:
    """A quick filter: False for ``x.y`` where no API's name has the segment ``y`` and ``x`` is not imported."""
    parent = view.tree.parents.get(load)
    if not isinstance(parent, ast.Attribute) or parent.attr in segments:
        return True
    return any(b.qualified is not None for b in view.tree.scopes[load].lookup(load.id))


def _name_site(
    view: FileView, load: ast.Name, meanings: dict[int, _Meaning], names_of: dict[Values, frozenset[str]]
) -> Site | None:
    """The site that begins with the name; ``names_of`` remembers the APIs among values, which many names share."""
    values = view.evaluator.values(load)
    names = names_of.get(values)
    if names is None:
        names = names_of[values] = frozenset(v.name for v in values if isinstance(v, Qualified))
    if not names:
        return None
    bindings = view.tree.scopes[load].lookup(load.id)
    if not bindings:
        return climb(view, Anchor("free", load.id, load, (), names), load, names, None)
    meaning = meanings.get(id(bindings))
    if meaning is None:
        others = [b for b in bindings if _is_other(view, b)]
        kind: AnchorKind = "import" if any(b.qualified is not None and b not in others for b in bindings) else "alias"
        meaning = meanings[id(bindings)] = _Meaning(kind, tuple(bindings), others[0] if others else None)
    anchor = Anchor(meaning.kind, id(bindings), load, meaning.bindings, names)
    if meaning.other is not None and meaning.kind == "alias" and _is_recorded(view, load):
        return None
    return climb(view, anchor, load, names, meaning.other.node if meaning.other is not None else None)


def _is_recorded(view: FileView, callee: ast.expr) -> bool:
    """Whether recorded runs, and nothing less, show every API that a callee can be."""
    if not view.seen(Ask.CLASS, callee):
        return False
    return all(isinstance(v, Qualified | NoneValue) for v in view.evaluator.values(callee))


def _recorded_sites(view: FileView, found: Set[ast.expr]) -> Iterator[Site]:
    """Calls of variables, ``norm_layer(width)``, of which a run showed what they are."""
    if view.evidence is None or not view.evidence.seen:
        return
    for call in view.tree.calls:
        callee = call.func
        if callee in found or not _is_recorded(view, callee):
            continue
        values = view.evaluator.values(callee)
        names = frozenset(v.name for v in values if isinstance(v, Qualified))
        candidates = _candidates(view, names)
        if candidates:
            bindings = tuple(view.evaluator.reaching(callee)) if isinstance(callee, ast.Name) else ()
            anchor = Anchor("alias", ("recorded", callee), callee, bindings, names)
            other = callee if len({c.name for c in candidates}) < len(names) else None
            yield Site(callee, anchor, candidates, "call", call, other, recorded=True)


def _is_other(view: FileView, binding: Binding) -> bool:
    if binding.qualified is not None:
        return _is_elsewhere(view, binding.qualified)
    if binding.kind == "delete" or never_runs(view, binding):
        return False
    return _may_be_other(view, view.evaluator.bound([binding]))


def _may_be_other(view: FileView, values: Values) -> bool:
    """Whether something among the values is neither nothing nor of the frameworks."""
    return any(
        _is_elsewhere(view, v.name) if isinstance(v, Qualified) else not isinstance(v, NoneValue) for v in values
    )


def _other_holder(view: FileView, node: ast.Attribute) -> ast.expr:
    """Where the attribute gets what is no API; the attribute itself where no store shows it."""
    for store in view.evaluator.stores_of(node):
        if store.value is not None and _may_be_other(view, view.evaluator.values(store.value) - UNKNOWN):
            return store.target
    return node


def _is_elsewhere(view: FileView, name: str) -> bool:
    """Whether a dotted name is another library's."""
    if name == "contextlib.nullcontext":  # takes the place of an unused context manager
        return False
    return name.partition(".")[0] not in (
        view.settings.source,
        view.settings.target,
        "apex",
        "torchvision",
        "einops",
    )


def _attribute_sites(view: FileView, names_in_use: frozenset[str]) -> list[Site]:
    """Uses through a stored attribute: ``self.autocast(...)``, ``Config.scaler_class``."""
    evaluator = view.evaluator
    names: set[str] = set()
    for store in view.tree.stores:
        if store.target.attr not in names_in_use or store.target.attr in names:
            continue
        if store.value is not None and _has_api(view, store.value):
            names.add(store.target.attr)
    for scope in view.tree.own.values():
        if scope.kind == "class":
            for name, bindings in scope.bindings.items():
                given = [b.value for b in bindings if b.kind == "assign" and b.value is not None]
                if name in names_in_use and any(_has_api(view, value) for value in given):
                    names.add(name)
    found: list[Site] = []
    if not names:
        return found
    for node in [n for name in sorted(names) for n in view.tree.members.get(name, ())]:
        if not isinstance(node.ctx, ast.Load):
            continue
        if any(isinstance(v, Qualified) for v in evaluator.values(node.value)):
            continue
        values = evaluator.values(node)
        qualified = frozenset(v.name for v in values if isinstance(v, Qualified))
        if not qualified:
            continue
        key = attribute_key(view, node.attr, self_scope(view, node))
        anchor = Anchor("attribute", key, node, (), qualified)
        other = _other_holder(view, node) if _may_be_other(view, values - UNKNOWN) else None
        site = climb(view, anchor, node, qualified, other)
        if site is not None and not all(c.row.kind == "constant" for c in site.candidates):
            found.append(site)
    return found


def _has_api(view: FileView, value: ast.expr) -> bool:
    return any(isinstance(v, Qualified) and view.settings.lookup(v.name) for v in view.evaluator.values(value))


def climb(view: FileView, anchor: Anchor, start: ast.expr, names: frozenset[str], other: ast.AST | None) -> Site | None:
    """The site of the longest part of the dotted expression that is an API."""
    node, current = start, names
    best: tuple[ast.expr, tuple[Candidate, ...]] | None = None
    while True:
        parent = view.parent(node)
        dotted = isinstance(parent, ast.Attribute) and parent.value is node
        candidates = _candidates(view, current)
        if candidates and (not dotted or any(c.row.kind != "module" for c in candidates)):
            best = node, candidates
        if not dotted:
            break
        assert isinstance(parent, ast.Attribute)
        node, current = parent, frozenset([f"{name}.{parent.attr}" for name in current])
    if best is None:
        return None
    node, candidates = best
    return Site(node, anchor, candidates, *_role(view, node), other)


def _candidates(view: FileView, names: frozenset[str]) -> tuple[Candidate, ...]:
    found = [(name, pair) for name in names if (pair := view.settings.lookup(name)) is not None]
    return tuple(Candidate(name, *pair) for name, pair in sorted(found, key=itemgetter(0))) if found else ()


def _role(view: FileView, node: ast.expr) -> tuple[Role, ast.Call | None]:
    parent = view.parent(node)
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return "patch", None
    if isinstance(parent, ast.Call):
        if parent.func is node:
            return "call", parent
        return _argument_role(view, parent, node)
    if isinstance(parent, ast.Attribute):
        call = view.parent(parent)
        return "member", call if isinstance(call, ast.Call) and call.func is parent else None
    if isinstance(parent, ast.ClassDef):
        return "base", None
    return _expression_role(view, node), None


def _argument_role(view: FileView, call: ast.Call, node: ast.expr) -> tuple[Role, ast.Call | None]:
    name = view.qualified(call.func) or (call.func.id if isinstance(call.func, ast.Name) else "")
    if name in ("functools.partial", "partial") and call.args and call.args[0] is node:
        return "partial", call
    if name in _CHECKS:
        return "check", None
    if name in _NAMES_A_TYPE and call.args and call.args[0] is node:
        return "annotation", None
    if name in _PROBES and call.args and call.args[0] is node:
        return "probe", call
    return "value", None


def _expression_role(view: FileView, node: ast.expr) -> Role:
    current: ast.expr = node
    while True:
        if current in view.annotations:
            return "annotation"
        parent = view.parent(current)
        if isinstance(parent, ast.Compare):
            return "check"
        if isinstance(parent, ast.Call):
            return _argument_role(view, parent, current)[0] if current is not parent.func else "value"
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


def alias_keys(view: FileView, node: ast.expr) -> list[Hashable]:
    """Anchor keys of the names or attributes that an alias site assigns its API to."""
    current: ast.AST = node
    parent = view.parent(current)
    path: list[int] = []  # its position in nested tuples, innermost first
    plain = True
    while isinstance(parent, ast.expr) and not isinstance(parent, ast.NamedExpr):
        if isinstance(parent, ast.Tuple | ast.List):
            path.append(next(i for i, e in enumerate(parent.elts) if e is current))
            plain = plain and not any(isinstance(e, ast.Starred) for e in parent.elts)
        plain = plain and isinstance(parent, ast.Tuple | ast.List | ast.IfExp | ast.BoolOp)
        current, parent = parent, view.parent(parent)
    targets: list[ast.expr] = []
    if isinstance(parent, ast.Assign):
        targets = list(parent.targets)
    elif isinstance(parent, ast.AnnAssign | ast.NamedExpr):
        targets = [parent.target]
    elif isinstance(parent, ast.arguments):
        function = view.parent(parent)
        scope = view.tree.own.get(function) if function is not None else None
        if scope is not None:
            return [id(bs) for bs in scope.bindings.values() for b in bs if b.value is current]
    steps = path[::-1] if plain else []
    return [key for target in targets for key in _target_keys(view, target, steps)]


def _target_keys(view: FileView, target: ast.expr, path: Sequence[int] = ()) -> list[Hashable]:
    """Anchor keys of the names in a target; only of those at ``path`` where positions are known."""
    if isinstance(target, ast.Tuple | ast.List):
        if path and path[0] < len(target.elts) and not any(isinstance(e, ast.Starred) for e in target.elts):
            return _target_keys(view, target.elts[path[0]], path[1:])
        return [key for element in target.elts for key in _target_keys(view, element)]
    if isinstance(target, ast.Name):
        scope = view.tree.scopes[target]
        keys: list[Hashable] = [id(scope.lookup(target.id))]
        return [*keys, attribute_key(view, target.id, scope)] if scope.kind == "class" else keys
    if isinstance(target, ast.Attribute):
        return [attribute_key(view, target.attr, self_scope(view, target))]
    return []
