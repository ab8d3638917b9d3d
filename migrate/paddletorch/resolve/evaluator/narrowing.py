"""Narrowing: where a check says of which type a name or ``self.conv`` is: ``if isinstance(m, nn.Conv2d): m.weight``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.scopes.scopes import ScopeTree
from paddletorch.resolve.scopes.spans import Position, SpanIndex

_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class _Region(NamedTuple):
    """Code that runs only where a check holds; ``types`` is what the check compares the name's type with."""

    start: Position
    end: Position
    bindings: Sequence[Binding]
    types: ast.expr


_Checked = ast.Name | ast.Attribute
_Check = tuple[_Checked, ast.expr, ast.expr]
"""What is checked, the types that it is compared with, and the whole expression."""


class TypeChecks:
    """The type checks of one module by the name, or attribute of a name, that is checked."""

    def __init__(self, tree: ScopeTree) -> None:
        self._tree = tree
        found: dict[tuple[int, str], list[tuple[Position, Position, _Region]]] = {}
        single = list(self._checks())
        for checked, types, check in [*single, *self._joined(single)]:
            root, members = _path(checked)
            if root is None:
                continue
            bindings = tree.scopes[root].lookup(root.id)
            for start, end in self._regions(check):
                region = _Region(start, end, bindings, types)
                found.setdefault((id(bindings), members), []).append((start, end, region))
        self._by_bindings = {key: SpanIndex(regions) for key, regions in found.items()}
        """The checks of each variable, by the identity of its list of bindings and the members that are checked."""
        self._members = {members for _, members in self._by_bindings}
        self.checked_names = frozenset(bindings for bindings, members in self._by_bindings if not members)
        """The variables that are checked themselves, by the identity of their lists of bindings."""
        self.checked_members = frozenset(members.rpartition(".")[2] for members in self._members if members)
        """The names of the attributes that are checked."""

    def types_of_name(self, load: ast.Name, bindings: Sequence[Binding]) -> ast.expr | None:
        """The type, or the tuple of types, of the innermost check around ``load``, which can mean ``bindings``."""
        return self._types(load, bindings, "")

    def types_of_attribute(self, load: ast.Attribute) -> ast.expr | None:
        """The type, or the tuple of types, of the innermost check around ``load``."""
        root, members = _path(load)
        if root is None or members not in self._members:
            return None
        return self._types(load, self._tree.scopes[root].lookup(root.id), members)

    def _types(self, load: _Checked, bindings: Sequence[Binding], members: str) -> ast.expr | None:
        regions = self._by_bindings.get((id(bindings), members))
        if regions is None:
            return None
        position = _start(load)
        innermost = regions.innermost(position)
        if innermost is None or any(self._rebinds(b, innermost, position) for b in bindings):
            return None
        if isinstance(load, ast.Attribute) and self._sets(load, innermost):
            return None
        return innermost.types

    def _sets(self, load: ast.Attribute, region: _Region) -> bool:
        """Whether an attribute of this name is set where the check holds."""
        stores = self._tree.stores_by_name.get(load.attr, ())
        return any(region.start <= _start(store.target) < region.end for store in stores)

    def _joined(self, single: Sequence[_Check]) -> Iterator[_Check]:
        """Checks of one thing that ``or`` joins, ``isinstance(m, A) or isinstance(m, B)``, as a check of all types."""
        of_expression = {check: (checked, types) for checked, types, check in single}
        joins = dict.fromkeys(self._tree.parents[check] for check in of_expression)
        for join in joins:
            if not isinstance(join, ast.BoolOp) or not isinstance(join.op, ast.Or):
                continue
            parts = [of_expression[value] for value in join.values if value in of_expression]
            if len(parts) == len(join.values) and len({ast.unparse(checked) for checked, _ in parts}) == 1:
                yield parts[0][0], ast.Tuple([types for _, types in parts], ast.Load()), join

    def _checks(self) -> Iterator[_Check]:
        """Each call that checks by itself."""
        parents = self._tree.parents
        calls = [c for c in self._tree.type_checks if c.args and isinstance(c.args[0], ast.Name | ast.Attribute)]
        for call in calls:
            assert isinstance(call.args[0], ast.Name | ast.Attribute)
            if _is_of(call, "isinstance") and len(call.args) == 2:
                yield call.args[0], call.args[1], call
        for call in calls:
            assert isinstance(call.args[0], ast.Name | ast.Attribute)
            if not _is_of(call, "type") or len(call.args) != 1:
                continue
            for read in (call, *self._reads(call)):
                compared = parents[read]
                if not isinstance(compared, ast.Compare) or compared.left is not read or len(compared.ops) != 1:
                    continue
                if isinstance(compared.ops[0], ast.Eq | ast.Is | ast.In):
                    yield call.args[0], compared.comparators[0], compared

    def _reads(self, call: ast.Call) -> Iterator[ast.Name]:
        """The reads of the variable that holds ``type(m)``, behind ``t = type(m)`` in the same block."""
        statement, checked = self._tree.parents[call], call.args[0]
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not isinstance(checked, ast.Name):
            return
        target, block = statement.targets[0], getattr(self._tree.parents[statement], "body", ())
        if not isinstance(target, ast.Name) or not isinstance(block, list):
            return
        held = self._tree.scopes[target].lookup(target.id)
        places = [getattr(b.node, "lineno", 0) for b in self._tree.scopes[checked].lookup(checked.id)]
        if len(held) != 1 or any(place > statement.lineno for place in places):
            return
        for one in block[block.index(statement) + 1 :] if statement in block else ():
            names = (node for node in ast.walk(one) if isinstance(node, ast.Name) and node.id == target.id)
            yield from (name for name in names if self._tree.scopes[name].lookup(name.id) is held)

    def _regions(self, check: ast.expr) -> Iterator[tuple[Position, Position]]:
        """Start and end of the code that runs only if the check holds."""
        node: ast.AST = check
        parent = self._tree.parents[node]
        while isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
            yield _end(node), _end(parent)
            node, parent = parent, self._tree.parents[parent]
        if isinstance(parent, ast.If | ast.While) and parent.test is node:
            yield _start(parent.body[0]), _end(parent.body[-1])
        elif isinstance(parent, ast.IfExp) and parent.test is node:
            yield _start(parent.body), _end(parent.body)
        elif isinstance(parent, ast.comprehension):
            whole = self._tree.parents[parent]
            for name in ("elt", "key", "value"):
                if isinstance(part := getattr(whole, name, None), ast.expr):
                    yield _start(part), _end(part)
        elif isinstance(parent, ast.Assert):
            yield from self._rest(parent)
        elif isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
            statement = self._tree.parents[parent]
            if isinstance(statement, ast.If) and not statement.orelse and isinstance(statement.body[-1], _EXITS):
                yield from self._rest(statement)

    def _rest(self, statement: ast.stmt) -> Iterator[tuple[Position, Position]]:
        """Start and end of what follows a statement in its block."""
        parent = self._tree.parents[statement]
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, ())
            if isinstance(block, list) and statement in block:
                yield _end(statement), _end(block[-1])

    def _rebinds(self, binding: Binding, region: _Region, load: Position) -> bool:
        """Whether a binding after the check may give the name another value at ``load``."""
        node: ast.AST | None = binding.node
        if not isinstance(node, ast.expr) or not region.start <= _start(node) < region.end:
            return False
        node = self._tree.statement(node)
        if node is None or _end(node) <= load:
            return True
        if _start(node) <= load:  # ``x = x.cpu()`` reads before it binds
            return not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
        while node is not None and _start(node) >= region.start:
            if isinstance(node, _LOOPS) and _start(node) <= load < _end(node):
                return True
            node = self._tree.parents.get(node)
            if not isinstance(node, ast.stmt):
                return False
        return False


def _is_of(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == name


def _path(node: ast.expr) -> tuple[ast.Name | None, str]:
    """The name at the start of ``self.block.conv`` and the rest of it; None if it starts with anything else."""
    members = ""
    while isinstance(node, ast.Attribute):
        members = f".{node.attr}{members}"
        node = node.value
    return (node, members) if isinstance(node, ast.Name) else (None, members)


def _start(node: ast.AST) -> Position:
    assert isinstance(node, ast.expr | ast.stmt)
    return node.lineno, node.col_offset


def _end(node: ast.AST) -> Position:
    assert isinstance(node, ast.expr | ast.stmt)
    return node.end_lineno or node.lineno, node.end_col_offset or 0
