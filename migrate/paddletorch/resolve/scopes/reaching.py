"""Which bindings of a local variable can reach a use: a light form of reaching definitions.

A binding that always runs before the use replaces those before it: ``x`` after ``x = torch.from_numpy(x)`` is a
tensor, whatever it was above.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.scopes.flow import may_suppress
from paddletorch.resolve.scopes.innermost import Innermost
from paddletorch.resolve.scopes.scopes import ScopeTree
from paddletorch.resolve.scopes.spans import Position, SpanIndex

_KINDS = frozenset({"assign", "unpack", "iterate", "enter", "parameter", "augment"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_Loop = ast.For | ast.AsyncFor | ast.While
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

_GROUP = 16
"""How many bindings a group has at the least; what reaches a use in real code is mostly fewer."""


class BindingGroup:
    """Neighbouring bindings of one name, for what is the same wherever all of them are meant."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Binding | BindingGroup]) -> None:
        self.parts = parts


class Reached:
    """The bindings that can reach one use: a slice of the bindings of its name."""

    __slots__ = ("_definitions", "_end", "_start")

    def __init__(self, definitions: _Definitions, start: int, end: int) -> None:
        self._definitions = definitions
        self._start = start
        self._end = end

    def __iter__(self) -> Iterator[Binding]:
        return iter(self._definitions.ordered[self._start : self._end])

    def __contains__(self, binding: object) -> bool:
        return any(one is binding for one in self)

    def __len__(self) -> int:
        return self._end - self._start

    def parts(self) -> Sequence[Binding | BindingGroup]:
        """The bindings, many of them in groups: so that what the many uses of a name share is found once."""
        if self._end - self._start < _GROUP:
            return self._definitions.ordered[self._start : self._end]
        return self._definitions.grouped(self._start, self._end)

    def values(self) -> Sequence[Binding]:
        """The bindings that give a value of their own, as an operator in place does not."""
        start, end = self.values_range()
        return self._definitions.values[start:end]

    def values_range(self) -> tuple[int, int]:
        """Where these are among all bindings of the name that give a value of their own."""
        return self._definitions.count_before(self._start), self._definitions.count_before(self._end)

    def only(self) -> Binding | None:
        """The only one of the bindings that gives a value of its own, as an operator in place does not."""
        return self._definitions.only(self._start, self._end)


class ReachingDefinitions:
    """The reaching definitions of one module, each found once."""

    def __init__(self, tree: ScopeTree) -> None:
        self._tree = tree
        self._found: dict[ast.Name, Reached] = {}
        self._definitions: dict[Binding, _Definitions] = {}
        self._holders = Innermost(tree.parents, (ast.stmt, ast.Lambda))
        self._loops = Innermost(tree.parents, (*_LOOPS, *_FUNCTIONS))

    def of(self, load: ast.Name, bindings: Sequence[Binding]) -> Reached:
        """Those of ``bindings`` that can reach ``load``; all of them where that cannot be told.

        ``bindings`` are all those that ``load`` can refer to; there is at least one.
        """
        found = self._found.get(load)
        if found is None:
            found = self._found[load] = self._reaching(load, bindings)
        return found

    def values(self, bindings: Sequence[Binding]) -> Sequence[Binding]:
        """Those of all bindings of a name that give a value of their own, in the order of ``values_range``."""
        return self._all(bindings).values

    def _all(self, bindings: Sequence[Binding]) -> _Definitions:
        definitions = self._definitions.get(bindings[0])
        if definitions is None:
            definitions = self._definitions[bindings[0]] = _Definitions(self._tree, bindings)
        return definitions

    def _reaching(self, load: ast.Name, bindings: Sequence[Binding]) -> Reached:
        definitions = self._all(bindings)
        whole = Reached(definitions, 0, len(bindings))
        if not definitions.are_ordered or bindings[0].scope is not self._tree.scopes[load].function():
            return whole
        innermost = self._statement(load)
        if innermost is None:
            return whole
        use = _position(innermost)
        best = definitions.dominating(use)
        if best is None:
            return whole
        since = definitions.starts[best]
        loop, outermost = self._loop(innermost), None
        while loop is not None and _position(loop) > since:
            outermost = loop
            loop = self._loop(self._tree.parents[loop])
        if outermost is not None:  # what a loop binds further down reaches its next iteration
            return Reached(definitions, best, bisect_right(definitions.starts, _end(outermost)))
        return Reached(definitions, best, bisect_left(definitions.starts, use))

    def _statement(self, load: ast.Name) -> ast.stmt | None:
        """The innermost statement around ``load``; None if that is a function's, whose default or decorator it is."""
        found = self._holders.around(load)
        return found if isinstance(found, ast.stmt) and not isinstance(found, _FUNCTIONS) else None

    def _loop(self, node: ast.AST) -> _Loop | None:
        """The innermost loop of the function around ``node``, or ``node`` if it is one."""
        found = self._loops.around(node)
        return found if isinstance(found, _LOOPS) else None


class _Definitions:
    """All bindings of one name; if each is a statement of one function, in the order of these statements."""

    def __init__(self, tree: ScopeTree, bindings: Sequence[Binding]) -> None:
        scope = bindings[0].scope
        self.ordered = bindings
        self.starts: Sequence[Position] = ()
        """Where the statement of each binding starts."""
        self.are_ordered = len(bindings) > 1 and all(b.scope is scope and b.kind in _KINDS for b in bindings)
        if self.are_ordered:
            self._order(tree)
        self._levels: list[list[BindingGroup]] = []
        self.values = [b for b in self.ordered if b.kind != "augment"]
        """The bindings that give a value of their own."""
        self._values = list(accumulate((b.kind != "augment" for b in self.ordered), initial=0))
        """How many of the bindings before each position give a value of their own."""

    def _order(self, tree: ScopeTree) -> None:
        statements = [tree.statement(b.node) if b.kind != "parameter" else None for b in self.ordered]
        placed: list[tuple[Position, bool, Binding, ast.stmt | None]] = []
        first: set[Position] = set()
        for binding, statement in zip(self.ordered, statements, strict=True):
            start = _position(statement) if statement is not None else (0, 0)
            replaces = start not in first and binding.kind != "augment"
            if replaces:
                first.add(start)
            held = replaces and (statement is not None or binding.kind == "parameter")
            placed.append((start, held, binding, statement))
        placed.sort(key=lambda one: one[:2])  # of those in one statement, the one that counts comes last
        self.ordered = [binding for _, _, binding, _ in placed]
        self.starts = [start for start, _, _, _ in placed]
        counted = ((n, statement) for n, (_, held, _, statement) in enumerate(placed) if held)
        self._spans = SpanIndex([(*span, n) for n, statement in counted for span in _dominated(tree, statement)])

    def dominating(self, use: Position) -> int | None:
        """The number of the last binding that always runs before the statement at ``use``."""
        return self._spans.innermost(use)

    def count_before(self, position: int) -> int:
        """How many of the bindings before the position give a value of their own."""
        return self._values[position]

    def only(self, start: int, end: int) -> Binding | None:
        """The only binding from ``start`` to ``end`` that gives a value of its own."""
        before = self._values[start]
        if self._values[end] != before + 1:
            return None
        return self.ordered[bisect_left(self._values, before + 1) - 1]

    def grouped(self, start: int, end: int) -> Sequence[Binding | BindingGroup]:
        """The bindings from ``start`` to ``end``, as many of them in groups as can be."""
        head, tail = -(-start // _GROUP), end // _GROUP
        if head >= tail:
            return self.ordered[start:end]
        found: list[Binding | BindingGroup] = [*self.ordered[start : head * _GROUP], *self.ordered[tail * _GROUP : end]]
        if not self._levels:
            self._group()
        for level in self._levels:
            if head & 1:
                found.append(level[head])
                head += 1
            if tail & 1:
                tail -= 1
                found.append(level[tail])
            head, tail = head >> 1, tail >> 1
            if head >= tail:
                break
        return found

    def _group(self) -> None:
        whole = range(0, len(self.ordered) - _GROUP + 1, _GROUP)
        self._levels = [[BindingGroup(self.ordered[n : n + _GROUP]) for n in whole]]
        while len(below := self._levels[-1]) > 1:
            self._levels.append([BindingGroup(below[n : n + 2]) for n in range(0, len(below) - 1, 2)])


def _dominated(tree: ScopeTree, statement: ast.stmt | None) -> Iterator[tuple[Position, Position]]:
    """Where a binding in ``statement``, or a parameter, always runs before: the rest of its block, and its body.

    What stands in ``with`` has run behind it too.
    """
    if statement is None:
        yield (0, 0), _LAST
        return
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body:  # a loop variable or ``with`` target, seen from the body
        yield _position(body[0]), _end(body[-1])
    within: ast.AST | None = statement
    while isinstance(within, ast.stmt):
        parent = tree.parents.get(within)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, ())
            if isinstance(block, list) and block and _position(block[0]) <= _position(within) < _end(block[-1]):
                yield _end(within), _end(block[-1])
                break
        goes_on = isinstance(parent, ast.With | ast.AsyncWith) and not any(map(may_suppress, parent.items))
        within = parent if goes_on else None


_LAST: Position = (1 << 62, 0)


def _position(node: ast.stmt) -> Position:
    return node.lineno, node.col_offset


def _end(node: ast.stmt) -> Position:
    return node.end_lineno or node.lineno, node.end_col_offset or 0
