"""Keyword dicts in sight: ``GradScaler(**options)`` where ``options`` is a literal used nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from paddletorch.model import Edit, Span
from paddletorch.plan.context import FileContext
from paddletorch.source import Source


@dataclass(frozen=True, slots=True)
class DictKeywords:
    """A dict literal (or ``dict(...)`` call) that supplies keywords, and the stores that add to it."""

    literal: ast.Dict | ast.Call
    items: tuple[tuple[str, ast.Constant | ast.keyword, ast.expr], ...]
    stored: frozenset[str] = frozenset()
    """Keys that only a later store gives, perhaps under a condition."""

    def rename(self, source: Source, key: ast.Constant | ast.keyword, name: str, code: str) -> Edit:
        """Rename one key where it is written."""
        if isinstance(key, ast.keyword):
            start = source.span(key).start
            assert key.arg is not None
            return Edit(Span(start, start + len(key.arg.encode())), name, code)
        span = source.span(key)
        text = source.slice(span)
        return Edit(span, text.replace(str(key.value), name), code)

    def add(self, source: Source, items: Sequence[tuple[str, str]], code: str) -> list[Edit]:
        """Add keys at the end of the literal."""
        if isinstance(self.literal, ast.Dict):
            pairs = [f"{source.quote}{name}{source.quote}: {value}" for name, value in items]
            last: ast.expr | None = self.literal.values[-1] if self.literal.values else None
        else:
            pairs = [f"{name}={value}" for name, value in items]
            last = self.literal.keywords[-1].value if self.literal.keywords else None
        if last is None:
            place = source.span(self.literal).end - 1
            return [Edit(Span(place, place), ", ".join(pairs), code)]
        place = _after(source, source.span(last).end, source.span(self.literal).end)
        return [Edit(Span(place, place), "".join(f", {pair}" for pair in pairs), code)]


def _after(source: Source, start: int, end: int) -> int:
    """After the value's own closing parentheses, if it stands in some."""
    place = start
    depth = source.body[start : end - 1].split(b",")[0]
    if b")" in depth and b"#" not in depth:
        place = start + depth.rindex(b")") + 1
    return place


def keyword_dict(context: FileContext, node: ast.expr) -> DictKeywords | None:
    """The dict behind ``**node`` if all of its keys are in sight and nothing else uses it."""
    if isinstance(node, ast.Dict):
        items = _literal_items(node)
        return DictKeywords(node, items) if items is not None else None
    if not isinstance(node, ast.Name):
        return None
    scope = context.tree.scopes[node]
    bindings = scope.lookup(node.id)
    if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].value is None:
        return None
    if bindings[0].scope is not scope or scope.kind == "class":
        return None
    literal = bindings[0].value
    if not isinstance(literal, ast.Dict | ast.Call):
        return None
    items = _literal_items(literal)
    if items is None:
        return None
    literal_keys = {key for key, _, _ in items}
    for load in context.tree.loads:
        if load is node or load.id != node.id or context.tree.scopes[load].lookup(load.id) is not bindings:
            continue
        stored = _stored_item(context, load)
        if stored is None:
            return None
        items += (stored,)
    return DictKeywords(literal, items, frozenset(key for key, _, _ in items) - literal_keys)


def shared_items(context: FileContext, node: ast.expr) -> list[tuple[str, ast.expr, str]]:
    """What ``**factory_kwargs`` gives, where the dict is a literal that only such calls read: key, value and text.

    Empty if a key cannot be seen, or if something else may change the dict.
    """
    if not isinstance(node, ast.Name):
        return []
    scope = context.tree.scopes[node]
    bindings = scope.lookup(node.id)
    literal = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    items = _literal_items(literal) if isinstance(literal, ast.Dict | ast.Call) else None
    for load in context.tree.loads if items else ():
        if load.id == node.id and context.tree.scopes[load].lookup(load.id) is bindings:
            parent = context.parent(load)
            spread = isinstance(parent, ast.keyword) and parent.arg is None
            if not spread and not (isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load)):
                return []
    quote = context.source.quote
    return [
        (key, value, _own_text(context, node, value) or f"{node.id}[{quote}{key}{quote}]")
        for key, _, value in items or ()
    ]


def written_items(context: FileContext, node: ast.expr) -> list[tuple[str, ast.expr, str]]:
    """What ``**node`` gives as arguments of their own: key, value and text; empty if that cannot be said.

    The values of a literal in the call itself are copied, so they may hold nothing that converts by itself.
    """
    items = _literal_items(node) if isinstance(node, ast.Dict) else None
    if items is None:
        return shared_items(context, node)
    plain = all(isinstance(n, _COPIED) for _, _, value in items for n in ast.walk(value))
    return [(key, value, context.source.slice(context.source.span(value))) for key, _, value in items if plain]


_COPIED = (ast.Constant, ast.Name, ast.UnaryOp, ast.unaryop, ast.Tuple, ast.List, ast.expr_context)


def seen_items(context: FileContext, node: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """The keys and values that ``**node`` gives, if they are in sight."""
    found = keyword_dict(context, node)
    if found is not None:
        return [(key, value) for key, _, value in found.items]
    return [(key, value) for key, value, _ in shared_items(context, node)] or None


def _own_text(context: FileContext, place: ast.Name, value: ast.expr) -> str | None:
    """The value as written, if it means the same where the call stands."""
    if isinstance(value, ast.Constant):
        return context.source.slice(context.source.span(value))
    if not isinstance(value, ast.Name):
        return None
    bindings = context.tree.scopes[value].lookup(value.id)
    same = context.tree.scopes[place].lookup(value.id) is bindings
    return value.id if same and len(bindings) == 1 and bindings[0].kind == "parameter" else None


def _literal_items(
    node: ast.Dict | ast.Call,
) -> tuple[tuple[str, ast.Constant | ast.keyword, ast.expr], ...] | None:
    items: list[tuple[str, ast.Constant | ast.keyword, ast.expr]] = []
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


def _stored_item(context: FileContext, load: ast.Name) -> tuple[str, ast.Constant, ast.expr] | None:
    """``options['key'] = value`` as an item."""
    subscript = context.parent(load)
    if not isinstance(subscript, ast.Subscript) or not isinstance(subscript.ctx, ast.Store):
        return None
    assign = context.parent(subscript)
    key = subscript.slice
    if not isinstance(assign, ast.Assign) or not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return None
    return key.value, key, assign.value
