"""A walk over the body of a function that says where a name is bound: states join where paths meet."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from enum import IntEnum

from paddletorch.resolve.scopes.bindings import Scope
from paddletorch.resolve.scopes.blocks import COMPOUND, Blocks, leaves
from paddletorch.resolve.scopes.scopes import ScopeTree


class Bound(IntEnum):
    """On which paths a name is bound; the greater, the worse."""

    ALWAYS = 0
    SOMETIMES = 1
    NEVER = 2


State = Bound | None
"""What holds at a place; None for one that no path leads to."""

_TRY = (ast.Try, getattr(ast, "TryStar", ast.Try))  # ``except*`` came with Python 3.11


class Flow:
    """One walk over the body of a function, or of the module: the states at some of its statements."""

    def __init__(
        self,
        blocks: Blocks,
        tree: ScopeTree,
        installed: frozenset[str],
        frame: Scope,
        own: Sequence[ast.AST],
        deletes: Collection[ast.AST],
        places: Collection[ast.AST],
        place: ast.AST | None = None,
    ) -> None:
        """A walk over ``frame``.

        ``own`` binds the name in it, ``deletes`` are those of them that unbind it. ``places`` are the statements of
        which the states are wanted; ``place`` is an expression in the only one.
        """
        self._blocks = blocks
        self._installed = installed
        self._effects = {_anchor(tree, n): Bound.NEVER if n in deletes else Bound.ALWAYS for n in own}
        self.places = places
        walrus = [n for n in own if isinstance(tree.parents.get(n), ast.NamedExpr)]
        self.has_walrus = bool(walrus)
        self._walrus = place is not None and any(
            _anchor(tree, n) in places and _position(n) < _position(place) for n in walrus
        )
        self._relevant = self._positions(tree)
        self._loops: list[list[State] | None] = []
        """For each loop around the current statement its states at ``break``; None if it may end there anyway."""
        self.at: dict[ast.AST, State] = {}
        self.at_end = self._run(frame.node)

    def _positions(self, tree: ScopeTree) -> dict[int, list[int]]:
        """The positions of the statements that are or hold a place or a binding, by the identity of their block."""
        seen: set[ast.AST] = set()
        found: dict[int, list[int]] = {}
        for node in (*self.places, *self._effects):
            current: ast.AST | None = node
            while current is not None and current not in seen:
                seen.add(current)
                place = tree.place(current) if isinstance(current, ast.stmt) else None
                if place is not None:
                    found.setdefault(place[0], []).append(place[1])
                current = tree.parents.get(current)
        for positions in found.values():
            positions.sort()
        return found

    def _run(self, frame: ast.AST) -> State:
        """Walk the body; returns the state at its end."""
        body = getattr(frame, "body", None)
        parameters = any(isinstance(n, ast.arg) for n in self._effects)
        state: State = Bound.ALWAYS if parameters else Bound.NEVER
        if not isinstance(body, list):
            for place in self.places:
                self._record(place, Bound.ALWAYS if parameters or self._walrus else Bound.NEVER)
            return state
        return self._block(body, state)

    def _record(self, place: ast.AST, state: State) -> None:
        self.at[place] = _join(self.at.get(place), state)

    def _block(self, statements: Sequence[ast.stmt], state: State) -> State:
        return self._part(statements, 0, len(statements), state)

    def _part(self, statements: Sequence[ast.stmt], start: int, end: int, state: State) -> State:
        """After the statements from ``start`` to ``end`` of a block."""
        relevant = self._relevant.get(id(statements), ())
        for position in relevant[bisect_left(relevant, start) : bisect_left(relevant, end)]:
            state = self._others(statements, start, position, state)
            statement = statements[position]
            if statement in self.places:
                self._record(statement, Bound.ALWAYS if self._walrus and state is not None else state)
            state = self._statement(statement, state)
            start = position + 1
        return self._others(statements, start, end, state)

    def _others(self, statements: Sequence[ast.stmt], start: int, end: int, state: State) -> State:
        """After statements that hold neither a place nor a binding."""
        if start >= end or state is None:
            return state
        last = self._blocks.first_end(statements, start, end)
        breaks = self._loops[-1] if self._loops else None
        if breaks is not None and self._blocks.has_break(statements, start, end if last is None else last + 1):
            breaks.append(state)
        return state if last is None else None

    def _statement(self, node: ast.stmt, state: State) -> State:
        effect = self._effects.get(node, state) if state is not None else None
        match node:
            case ast.If():
                return self._if(node, effect)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, state, effect)
            case ast.With() | ast.AsyncWith():
                after = self._block(node.body, effect)
                return _join(state, after) if any(map(may_suppress, node.items)) else after
            case _ if isinstance(node, _TRY):
                return self._try(node, state)
            case ast.Match():
                return self._match(node, state)
            case ast.ClassDef():
                self._block(node.body, state)
                return effect
            case ast.AugAssign() if state is Bound.NEVER and node in self._effects:
                return None  # it reads the name first, and ends there
        return None if leaves(node) else effect

    def _if(self, node: ast.If, state: State) -> State:
        truth = _constant(node.test)
        body = self._block(node.body, None if truth is False else state)
        return _join(body, self._block(node.orelse, None if truth is True else state))

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, state: State, effect: State) -> State:
        endless = isinstance(node, ast.While) and _constant(node.test) is True
        if isinstance(node, ast.While):
            state = effect
        self._loops.append([] if endless or node.orelse else None)
        end = self._block(node.body, effect)
        if end is not None and end is not effect:
            end = self._block(node.body, _join(effect, end))  # another round
        breaks = self._loops.pop()
        after = None if endless else self._block(node.orelse, _join(state, end))
        for one in breaks or ():
            after = _join(after, one)
        return after

    def _try(self, node: ast.Try, state: State) -> State:
        failing: State = None
        end = state
        for number, statement in enumerate(node.body):
            risky = self._may_fail(statement)
            if risky:
                failing = _join(failing, end)
            end = self._part(node.body, number, number + 1, end)
            if risky and isinstance(statement, COMPOUND):
                failing = _join(failing, end)
        end = self._block(node.orelse, end)
        for handler in node.handlers:
            entry = failing
            if handler in self._effects and entry is not None:
                entry = Bound.ALWAYS
            after = self._block(handler.body, entry)
            end = _join(end, Bound.NEVER if handler in self._effects and after is not None else after)
        if not node.finalbody:
            return end
        self._block(node.finalbody, failing)  # where an exception goes on
        return self._block(node.finalbody, end)

    def _match(self, node: ast.Match, state: State) -> State:
        after: State = None
        matched = False
        for case in node.cases:
            entry = Bound.ALWAYS if case in self._effects and state is not None else state
            after = _join(after, self._block(case.body, entry))
            matched = matched or (
                isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and not case.guard
            )
        return after if matched else _join(after, state)

    def _may_fail(self, statement: ast.stmt) -> bool:
        """Whether the statement may raise before it binds its names."""
        if isinstance(statement, ast.Import):
            return not all(a.name.partition(".")[0] in self._installed for a in statement.names)
        if isinstance(statement, ast.ImportFrom):
            return (statement.module or "").partition(".")[0] not in self._installed
        if isinstance(statement, ast.Assign | ast.Expr):
            return not isinstance(statement.value, ast.Constant)
        return not isinstance(statement, ast.Pass)


def upwards(tree: ScopeTree, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes around ``node``, the innermost first."""
    current = tree.parents.get(node)
    while current is not None:
        yield current
        current = tree.parents.get(current)


def _anchor(tree: ScopeTree, node: ast.AST) -> ast.AST:
    """The statement, handler, case or parameter by which the walk meets ``node``."""
    around = (node, *upwards(tree, node))
    return next((n for n in around if isinstance(n, ast.stmt | ast.ExceptHandler | ast.match_case | ast.arg)), node)


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _join(first: State, second: State) -> State:
    """What holds where two paths meet."""
    if first is None or second is None:
        return second if first is None else first
    return first if first is second else Bound.SOMETIMES


def _constant(test: ast.expr) -> bool | None:
    """What a condition always is when the program runs; None where that depends."""
    if getattr(test, "attr", getattr(test, "id", "")) == "TYPE_CHECKING":
        return False
    return bool(test.value) if isinstance(test, ast.Constant) else None


def may_suppress(item: ast.withitem) -> bool:
    """Whether a context manager may catch an exception of its block."""
    manager = item.context_expr
    called = manager.func if isinstance(manager, ast.Call) else manager
    return getattr(called, "attr", getattr(called, "id", "")) in ("suppress", "raises")
