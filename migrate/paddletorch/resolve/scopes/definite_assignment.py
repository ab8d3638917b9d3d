"""On which paths a name is bound where it is read: definite assignment, from a walk over the blocks of a function.

The body of a function runs after its definition. What is bound around it counts for the body if it is bound before the
definition, or in the end with no call in between that may lead to the body.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from paddletorch.resolve.scopes.bindings import Binding, Scope
from paddletorch.resolve.scopes.blocks import COMPOUND, Blocks, leaves
from paddletorch.resolve.scopes.scopes import ScopeTree


class Bound(IntEnum):
    """On which paths a name is bound; the greater, the worse."""

    ALWAYS = 0
    SOMETIMES = 1
    NEVER = 2


_State = Bound | None
"""What holds at a place; None for one that no path leads to."""

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_TRY = (ast.Try, getattr(ast, "TryStar", ast.Try))  # ``except*`` came with Python 3.11
_FEW = 8
"""With more bindings than these in one function, one walk finds the states at all uses of the name."""


class DefiniteAssignment:
    """Answers about one module. ``installed`` are the roots of modules whose import does not fail."""

    def __init__(self, tree: ScopeTree, installed: Collection[str]) -> None:
        self._tree = tree
        self._installed = frozenset(installed)
        self._blocks = Blocks(tree)
        self._writes: dict[int, _Writes] = {}
        """By the identity of a list of bindings."""
        self._calls: dict[_Definition, list[int]] = {}
        """The lines of the calls that may lead to the body of a definition."""
        self._outermost: dict[tuple[Scope, ast.AST], _Definition | None] = {}
        """The outermost definition around a node of a frame."""

    def of(self, load: ast.Name) -> Bound:
        """On which of the paths to ``load`` its name is bound."""
        return self.named(load.id, load, self._tree.scopes[load])

    def named(self, name: str, node: ast.AST, scope: Scope) -> Bound:
        """On which of the paths to ``node``, which ``scope`` evaluates, ``name`` is bound."""
        bindings = scope.lookup(name)
        found = self.by(bindings, node, scope)
        home = bindings[0].scope if bindings else None
        if home is not None and home.kind == "class" and home.parent is not None and found is not Bound.ALWAYS:
            return min(found, self.named(name, node, home.parent))  # Python goes on to look for it outside
        return found

    def by(self, bindings: Sequence[Binding], node: ast.AST, scope: Scope) -> Bound:
        """On which of the paths to ``node`` one of ``bindings`` has run, and no ``del`` of the name since."""
        if not bindings:
            return Bound.NEVER
        writes = self._writes.get(id(bindings))
        if writes is None:
            writes = self._writes[id(bindings)] = _Writes.of(bindings)
        return Bound.ALWAYS if writes.are_given else self._at(writes, node, scope)

    def after(self, statements: Iterable[ast.stmt], node: ast.AST) -> Bound:
        """On which of the paths to ``node`` one of ``statements`` has run."""
        own: dict[Scope, list[ast.AST]] = {}
        for statement in statements:
            own.setdefault(_frame(self.scope_at(statement)), []).append(statement)
        return self._at(_Writes(own), node, self.scope_at(node)) if own else Bound.NEVER

    def scope_at(self, node: ast.AST) -> Scope:
        """The scope that evaluates ``node``."""
        tree = self._tree
        if node in tree.scopes:
            return tree.scopes[node]
        inner = node
        for outer in _upwards(tree, node):
            if isinstance(outer, ast.Module):
                break  # its body may be long, and is all that it has
            body = getattr(outer, "body", None)
            if outer in tree.own and (body is None or body is inner or (isinstance(body, list) and inner in body)):
                return tree.own[outer]
            inner = outer
        return tree.scope

    def _at(self, writes: _Writes, node: ast.AST, scope: Scope) -> Bound:
        """Look at the function around ``node``, then at what is around the definition of that."""
        found = Bound.SOMETIMES
        place, deferred = node, False
        inside: Scope | None = scope
        while inside is not None:
            frame = _frame(inside)
            own = writes.own.get(frame)
            if own:
                at_place, at_end = self._flow(writes, frame, place)
                if at_place in (None, Bound.ALWAYS):
                    return Bound.ALWAYS
                if deferred and at_end in (None, Bound.ALWAYS) and not self._may_run_early(frame, place, own):
                    return Bound.ALWAYS
                if not deferred and len(writes.own) == 1:
                    found = at_place
            deferred = deferred or isinstance(frame.node, _Definition)
            place, inside = frame.node, frame.parent
        return found

    def _flow(self, writes: _Writes, frame: Scope, place: ast.AST) -> tuple[_State, _State]:
        """The states at ``place`` and at the end of the frame; of many writes all places are found in one walk."""
        statement = _statement(self._tree, place)
        shared = writes.shared.get(frame)
        if shared is None and len(writes.own[frame]) > _FEW and writes.name:
            places = self._places_in(frame, writes.name)
            shared = writes.shared[frame] = _Flow(self._blocks, self._tree, self._installed, writes, frame, places)
        if shared is not None and statement in shared.places and not shared.has_walrus:
            return shared.at.get(statement), shared.at_end
        flow = _Flow(self._blocks, self._tree, self._installed, writes, frame, {statement}, place)
        return flow.at.get(statement), flow.at_end

    def _places_in(self, frame: Scope, name: str) -> set[ast.AST]:
        """The statements of the frame that read the name, or define what reads it."""
        found: set[ast.AST] = set()
        for load in self._tree.names.get(name, ()):
            place: ast.AST = load
            inside: Scope | None = self._tree.scopes[load]
            while inside is not None and (outer := _frame(inside)) is not frame:
                place, inside = outer.node, outer.parent
            if inside is not None:
                found.add(_statement(self._tree, place))
        return found

    def _may_run_early(self, frame: Scope, definition: ast.AST, own: Sequence[ast.AST]) -> bool:
        """Whether a call between ``definition`` and the last of the bindings may lead to its body."""
        outermost = self._definition_in(frame, definition)
        if outermost is None:
            return True
        calls = self._calls.get(outermost)
        if calls is None:
            calls = self._calls[outermost] = sorted(self._lines_of_calls(frame, outermost))
        index = bisect_right(calls, outermost.lineno)
        return index < len(calls) and calls[index] < max(getattr(n, "lineno", 0) for n in own)

    def _lines_of_calls(self, frame: Scope, outermost: _Definition) -> Iterator[int]:
        """The lines of calls in the frame that may lead to the body of the definition."""
        tree = self._tree
        leading, pending = {outermost.name}, [outermost.name]
        while pending:
            for load in tree.names.get(pending.pop(), ()):
                holder = self._definition_in(frame, load)
                if holder is not None:
                    pending += {holder.name} - leading
                    leading.add(holder.name)
                elif any(isinstance(n, ast.Call) for n in _upwards(tree, load)):
                    yield load.lineno

    def _definition_in(self, frame: Scope, node: ast.AST) -> _Definition | None:
        """The outermost function or class in ``frame`` that is or holds ``node``."""
        key = frame, node
        if key not in self._outermost:
            self._outermost[key] = self._find_definition(frame, node)
        return self._outermost[key]

    def _find_definition(self, frame: Scope, node: ast.AST) -> _Definition | None:
        found: _Definition | None = None
        for outer in (node, *_upwards(self._tree, node)):
            if outer is frame.node:
                break
            if isinstance(outer, _Definition):
                found = outer
        return found


@dataclass
class _Writes:
    """What binds one name: the nodes by the function or module in whose run they do."""

    own: dict[Scope, list[ast.AST]]
    deletes: set[ast.AST] = field(default_factory=set)
    """Those that unbind it."""
    name: str = ""
    are_given: bool = False
    """Whether all are parameters, or variables of comprehensions."""
    shared: dict[Scope, _Flow] = field(default_factory=dict)
    """Walks that were made for all places at once."""

    @staticmethod
    def of(bindings: Sequence[Binding]) -> _Writes:
        own: dict[Scope, list[ast.AST]] = {}
        for binding in bindings:
            own.setdefault(_frame(binding.scope), []).append(binding.node)
        deletes = {b.node for b in bindings if b.kind == "delete"}
        given = all(b.kind == "parameter" or b.scope.kind == "comprehension" for b in bindings)
        return _Writes(own, deletes, bindings[0].name, given)


class _Flow:
    """One walk over the body of a function, or of the module: the states at some of its statements."""

    def __init__(
        self,
        blocks: Blocks,
        tree: ScopeTree,
        installed: frozenset[str],
        writes: _Writes,
        frame: Scope,
        places: Collection[ast.AST],
        place: ast.AST | None = None,
    ) -> None:
        """``places``: the statements of which the states are wanted; ``place``: an expression in the only one."""
        own = writes.own[frame]
        self._blocks = blocks
        self._installed = installed
        self._effects = {_anchor(tree, n): Bound.NEVER if n in writes.deletes else Bound.ALWAYS for n in own}
        self.places = places
        walrus = [n for n in own if isinstance(tree.parents.get(n), ast.NamedExpr)]
        self.has_walrus = bool(walrus)
        self._walrus = place is not None and any(
            _anchor(tree, n) in places and _position(n) < _position(place) for n in walrus
        )
        self._relevant = self._positions(tree)
        self._loops: list[list[_State] | None] = []
        """For each loop around the current statement its states at ``break``; None if it may end there anyway."""
        self.at: dict[ast.AST, _State] = {}
        self.at_end = self._run(frame.node)

    def _positions(self, tree: ScopeTree) -> dict[int, list[int]]:
        """The positions of the statements that are or hold a place or a binding, by the identity of their block."""
        seen: set[ast.AST] = set()
        found: dict[int, list[int]] = {}
        for node in (*self.places, *self._effects):
            current: ast.AST | None = node
            while current is not None and current not in seen:
                seen.add(current)
                place = self._blocks.place(current) if isinstance(current, ast.stmt) else None
                if place is not None:
                    found.setdefault(place[0], []).append(place[1])
                current = tree.parents.get(current)
        for positions in found.values():
            positions.sort()
        return found

    def _run(self, frame: ast.AST) -> _State:
        """Walk the body; returns the state at its end."""
        body = getattr(frame, "body", None)
        parameters = any(isinstance(n, ast.arg) for n in self._effects)
        state: _State = Bound.ALWAYS if parameters else Bound.NEVER
        if not isinstance(body, list):
            for place in self.places:
                self._record(place, Bound.ALWAYS if parameters or self._walrus else Bound.NEVER)
            return state
        return self._block(body, state)

    def _record(self, place: ast.AST, state: _State) -> None:
        self.at[place] = _join(self.at.get(place), state)

    def _block(self, statements: Sequence[ast.stmt], state: _State) -> _State:
        return self._part(statements, 0, len(statements), state)

    def _part(self, statements: Sequence[ast.stmt], start: int, end: int, state: _State) -> _State:
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

    def _others(self, statements: Sequence[ast.stmt], start: int, end: int, state: _State) -> _State:
        """After statements that hold neither a place nor a binding."""
        if start >= end or state is None:
            return state
        last = self._blocks.first_end(statements, start, end)
        breaks = self._loops[-1] if self._loops else None
        if breaks is not None and self._blocks.has_break(statements, start, end if last is None else last + 1):
            breaks.append(state)
        return state if last is None else None

    def _statement(self, node: ast.stmt, state: _State) -> _State:
        effect = self._effects.get(node, state) if state is not None else None
        match node:
            case ast.If():
                return self._if(node, effect)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, state, effect)
            case ast.With() | ast.AsyncWith():
                after = self._block(node.body, effect)
                return _join(state, after) if any(_suppresses(i.context_expr) for i in node.items) else after
            case _ if isinstance(node, _TRY):
                return self._try(node, state)
            case ast.Match():
                return self._match(node, state)
            case ast.ClassDef():
                self._block(node.body, state)
                return effect
        return None if leaves(node) else effect

    def _if(self, node: ast.If, state: _State) -> _State:
        truth = _constant(node.test)
        body = self._block(node.body, None if truth is False else state)
        return _join(body, self._block(node.orelse, None if truth is True else state))

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, state: _State, effect: _State) -> _State:
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

    def _try(self, node: ast.Try, state: _State) -> _State:
        failing: _State = None
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

    def _match(self, node: ast.Match, state: _State) -> _State:
        after: _State = None
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


def _statement(tree: ScopeTree, node: ast.AST) -> ast.AST:
    """The innermost statement that is or holds ``node``; itself where there is none."""
    return next((n for n in (node, *_upwards(tree, node)) if isinstance(n, ast.stmt)), node)


def _frame(scope: Scope) -> Scope:
    """The function or module whose run evaluates the scope: a class body or a comprehension runs where it stands."""
    while scope.kind in ("class", "comprehension") and scope.parent is not None:
        scope = scope.parent
    return scope


def _upwards(tree: ScopeTree, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes around ``node``, the innermost first."""
    current = tree.parents.get(node)
    while current is not None:
        yield current
        current = tree.parents.get(current)


def _anchor(tree: ScopeTree, node: ast.AST) -> ast.AST:
    """The statement, handler, case or parameter by which the walk meets ``node``."""
    around = (node, *_upwards(tree, node))
    return next((n for n in around if isinstance(n, ast.stmt | ast.ExceptHandler | ast.match_case | ast.arg)), node)


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _join(first: _State, second: _State) -> _State:
    """What holds where two paths meet."""
    if first is None or second is None:
        return second if first is None else first
    return first if first is second else Bound.SOMETIMES


def _constant(test: ast.expr) -> bool | None:
    """What a condition always is when the program runs; None where that depends."""
    if getattr(test, "attr", getattr(test, "id", "")) == "TYPE_CHECKING":
        return False
    return bool(test.value) if isinstance(test, ast.Constant) else None


def _suppresses(manager: ast.expr) -> bool:
    """Whether a context manager may catch an exception of its block."""
    called = manager.func if isinstance(manager, ast.Call) else manager
    return getattr(called, "attr", getattr(called, "id", "")) in ("suppress", "raises")
