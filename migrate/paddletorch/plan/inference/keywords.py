"""Dicts of keywords whose keys are known: ``GradScaler(**options)`` where ``options`` is a literal."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding

Literal = ast.Dict | ast.Call
Key = ast.Constant | ast.keyword


class DictKeywords(NamedTuple):
    """The dict literals (or ``dict(...)`` calls) that ``**options`` may be, and the items assigned to it later."""

    literals: tuple[Literal, ...]
    items: tuple[tuple[str, Key, ast.expr], ...]
    stored: frozenset[str] = frozenset()
    """Keys that are not in every literal, so that the call may not get them."""

    def holds(self, key: Key) -> bool:
        """Whether the key is in a literal, so that it can be removed."""
        return any(key is found for literal in self.literals for _, found, _ in literal_items(literal) or ())

    def supplies(self, name: str | None) -> bool:
        """Whether the dict supplies the argument ``name``; a single dict supplies all of ``**``."""
        return len(self.literals) == 1 or any(key == name for key, _, _ in self.items)


def keyword_dict(view: FileView, node: ast.expr) -> DictKeywords | None:
    """The dict behind ``**node``, if all its keys are known and nothing else uses it."""
    if isinstance(node, ast.Dict):
        items = literal_items(node)
        return DictKeywords((node,), items) if items is not None else None
    if not isinstance(node, ast.Name):
        return None
    scope = view.tree.scopes[node]
    bindings = scope.lookup(node.id)
    if not bindings or scope.kind == "class" or any(b.kind != "assign" or b.scope is not scope for b in bindings):
        return None
    literals = [literal for b in bindings for literal in _literals(b.value)]
    known = [literal_items(literal) if literal is not None else None for literal in literals]
    if any(items is None for items in known):
        return None
    items = tuple(item for items in known for item in items or ())
    keys = [{key for key, _, _ in items or ()} for items in known]
    for load in view.tree.reads(bindings):
        if load is node:
            continue
        stored = _stored_item(view, load)
        if stored is None:
            return None
        items += (stored,)
    always = frozenset.intersection(*map(frozenset, keys))
    found = tuple(literal for literal in literals if literal is not None)
    return DictKeywords(found, items, frozenset(key for key, _, _ in items) - always)


def _literals(value: ast.expr | None) -> list[Literal | None]:
    """The literals that a variable may hold; None for any other value."""
    if isinstance(value, ast.IfExp):
        return [*_literals(value.body), *_literals(value.orelse)]
    return [value if isinstance(value, ast.Dict | ast.Call) else None]


def shared_items(view: FileView, node: ast.expr) -> list[tuple[str, ast.expr, str]]:
    """Key, value and text of each item of ``**factory_kwargs``, where the dict is a literal that only calls read.

    Empty if a key is unknown, or if something may change the dict.
    """
    if not isinstance(node, ast.Name):
        return []
    scope = view.tree.scopes[node]
    bindings = scope.lookup(node.id)
    literal = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    items = literal_items(literal) if isinstance(literal, ast.Dict | ast.Call) else None
    if items and not view.provide(_OnlyRead).holds(bindings):
        return []
    quote = view.source.quote
    return [
        (key, value, _own_text(view, node, value) or f"{node.id}[{quote}{key}{quote}]") for key, _, value in items or ()
    ]


class _OnlyRead:
    """Whether the file only passes a dict on or reads its items, so that nothing changes it."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._known: dict[int, bool] = {}

    def holds(self, bindings: Sequence[Binding]) -> bool:
        """Whether that is so of the dict that ``bindings`` bind."""
        key = id(bindings)
        if key not in self._known:
            self._known[key] = all(map(self._reads, self._view.tree.reads(bindings)))
        return self._known[key]

    def _reads(self, load: ast.Name) -> bool:
        parent = self._view.parent(load)
        spread = isinstance(parent, ast.keyword) and parent.arg is None
        return spread or (isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load))


def written_items(view: FileView, node: ast.expr) -> list[tuple[str, ast.expr, str]]:
    """Key, value and text of each item of ``**node``, to be written as arguments; empty if they are unknown.

    Values of a literal in the call itself are copied, so they must contain nothing that has edits.
    """
    items = literal_items(node) if isinstance(node, ast.Dict) else None
    if items is None:
        return shared_items(view, node)
    plain = all(isinstance(n, _COPIED) for _, _, value in items for n in ast.walk(value))
    return [(key, value, view.written(value)) for key, _, value in items if plain]


_COPIED = (ast.Constant, ast.Name, ast.UnaryOp, ast.unaryop, ast.Tuple, ast.List, ast.expr_context)


def seen_items(view: FileView, node: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """The keys and values of ``**node``; None if they are unknown."""
    found = keyword_dict(view, node)
    if found is not None:
        return list({key: (key, value) for key, _, value in found.items}.values())
    return [(key, value) for key, value, _ in shared_items(view, node)] or None


def possible_keys(view: FileView, node: ast.expr, seen: frozenset[str] = frozenset()) -> frozenset[str] | None:
    """All the keys that ``**options`` can have; None if something else may give it more.

    The dict may be one of several literals, get items by ``options[key] = value`` and ``options.update(other)``, or
    have some of the items of such a dict. ``seen`` are the variables that are looked at already.
    """
    if isinstance(node, ast.Name) and node.id in seen:
        return frozenset()
    if isinstance(node, ast.Dict | ast.Call):
        items = literal_items(node)
        return frozenset(key for key, _, _ in items) if items is not None else None
    if isinstance(node, ast.DictComp):
        return _picked(view, node, seen)
    bindings = view.tree.scopes[node].lookup(node.id) if isinstance(node, ast.Name) else []
    found: set[str] = set()
    literals = [literal for b in bindings for literal in _literals(b.value if b.kind == "assign" else None)]
    given = [possible_keys(view, literal) if literal is not None else None for literal in literals]
    for load in view.tree.reads(bindings):
        stored, parent = _stored_item(view, load), view.parent(load)
        if stored is not None:
            found.add(stored[0])
        elif isinstance(parent, ast.Attribute) and parent.attr == "update":
            given.append(_updated(view, view.parent(parent), seen | {load.id}))
        elif not (isinstance(parent, ast.keyword) and parent.arg is None) and not _only_reads(view, load):
            return None
    if not given or any(keys is None for keys in given):
        return None
    return frozenset(found.union(*(keys for keys in given if keys is not None)))


def _only_reads(view: FileView, load: ast.Name) -> bool:
    """Whether the use gives the dict's items to another one, ``other.update(options)``, or looks at them."""
    parent = view.parent(load)
    if isinstance(parent, ast.Attribute):
        return parent.attr in ("items", "keys", "values", "get")
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "update"


def _picked(view: FileView, node: ast.DictComp, seen: frozenset[str]) -> frozenset[str] | None:
    """The keys of ``{key: value for key, value in options.items() if key != "name"}``."""
    loop, key = node.generators[0], node.key
    items = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    if len(node.generators) > 1 or not isinstance(items, ast.Attribute) or items.attr != "items":
        return None
    first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else None
    same = isinstance(first, ast.Name) and isinstance(key, ast.Name) and first.id == key.id
    keys = possible_keys(view, items.value, seen) if same else None
    if keys is None or not isinstance(key, ast.Name):
        return None
    return keys.difference(*(_left_out(test, key.id) for test in loop.ifs))


def _left_out(test: ast.expr, key: str) -> frozenset[object]:
    """The names that ``key != "name"`` or ``key not in ("name", ...)`` leaves out."""
    if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name) or test.left.id != key:
        return frozenset()
    named = test.comparators[0]
    if len(test.ops) > 1 or not isinstance(test.ops[0], ast.NotEq | ast.NotIn):
        return frozenset()
    names = named.elts if isinstance(named, ast.Tuple | ast.List | ast.Set) else [named]
    return frozenset(one.value for one in names if isinstance(one, ast.Constant))


def _updated(view: FileView, call: ast.AST | None, seen: frozenset[str]) -> frozenset[str] | None:
    """The keys that ``options.update(...)`` may add."""
    if not isinstance(call, ast.Call) or any(k.arg is None for k in call.keywords) or len(call.args) > 1:
        return None
    named = frozenset(k.arg for k in call.keywords if k.arg is not None)
    keys = possible_keys(view, call.args[0], seen) if call.args else frozenset()
    return named | keys if keys is not None else None


def _own_text(view: FileView, place: ast.Name, value: ast.expr) -> str | None:
    """The value as written, if it means the same at the call."""
    if isinstance(value, ast.Constant):
        return view.written(value)
    if not isinstance(value, ast.Name):
        return None
    bindings = view.tree.scopes[value].lookup(value.id)
    same = view.tree.scopes[place].lookup(value.id) is bindings
    return value.id if same and len(bindings) == 1 and bindings[0].kind == "parameter" else None


def literal_items(node: Literal) -> tuple[tuple[str, Key, ast.expr], ...] | None:
    """Keys and values of a dict literal or ``dict(...)`` call, in order; None if a key is no literal string."""
    items: list[tuple[str, Key, ast.expr]] = []
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id != "dict" or node.args:
            return None
        for keyword in node.keywords:
            if keyword.arg is None:
                return None
            items.append((keyword.arg, keyword, keyword.value))
        return tuple(items)
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        items.append((key.value, key, value))
    return tuple(items)


def _stored_item(view: FileView, load: ast.Name) -> tuple[str, ast.Constant, ast.expr] | None:
    """``options['key'] = value`` as an item."""
    subscript = view.parent(load)
    if not isinstance(subscript, ast.Subscript) or not isinstance(subscript.ctx, ast.Store):
        return None
    assign = view.parent(subscript)
    key = subscript.slice
    if not isinstance(assign, ast.Assign) or not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return None
    return key.value, key, assign.value
