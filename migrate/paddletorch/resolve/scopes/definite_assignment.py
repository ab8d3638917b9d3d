"""On which paths a name is bound where it is read: definite assignment, from a walk over the blocks of a function.

The body of a function runs after its definition. What is bound around it counts for the body if it is bound before the
definition, or in the end with no call in between that may lead to the body.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import IntEnum

from paddletorch.resolve.scopes.bindings import Binding, Scope
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
_EXITS = frozenset({"exit", "_exit", "abort", "quit"})


class DefiniteAssignment:
    """Answers about one module. ``installed`` are the roots of modules whose import does not fail."""

    def __init__(self, tree: ScopeTree, installed: Collection[str]) -> None:
        self._tree = tree
        self._installed = frozenset(installed)

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

    def by(self, bindings: Iterable[Binding], node: ast.AST, scope: Scope) -> Bound:
        """On which of the paths to ``node`` one of ``bindings`` has run, and no ``del`` of the name since."""
        bindings = list(bindings)
        if bindings and all(b.kind == "parameter" or b.scope.kind == "comprehension" for b in bindings):
            return Bound.ALWAYS
        deletes = {b.node for b in bindings if b.kind == "delete"}
        return self._at([(_frame(b.scope), b.node) for b in bindings], deletes, node, scope)

    def after(self, statements: Iterable[ast.stmt], node: ast.AST) -> Bound:
        """On which of the paths to ``node`` one of ``statements`` has run."""
        found = [(_frame(self.scope_at(s)), s) for s in statements]
        return self._at(found, set(), node, self.scope_at(node))

    def scope_at(self, node: ast.AST) -> Scope:
        """The scope that evaluates ``node``."""
        tree = self._tree
        if node in tree.scopes:
            return tree.scopes[node]
        inner = node
        for outer in _upwards(tree, node):
            body = getattr(outer, "body", None)
            if outer in tree.own and (body is None or body is inner or (isinstance(body, list) and inner in body)):
                return tree.own[outer]
            inner = outer
        return tree.scope

    def _at(self, nodes: Sequence[tuple[Scope, ast.AST]], deletes: set[ast.AST], node: ast.AST, scope: Scope) -> Bound:
        """Look at the function around ``node``, then at what is around the definition of that."""
        found = Bound.SOMETIMES if nodes else Bound.NEVER
        place, inside, deferred = node, scope if nodes else None, False
        while inside is not None:
            frame = _frame(inside)
            own = [n for home, n in nodes if home is frame]
            if own:
                flow = _Flow(self._tree, self._installed, own, deletes, place)
                at_end = flow.run(frame.node)
                if flow.at_place in (None, Bound.ALWAYS):
                    return Bound.ALWAYS
                if deferred and at_end in (None, Bound.ALWAYS) and not self._may_run_early(frame, place, own):
                    return Bound.ALWAYS
                if not deferred and len(own) == len(nodes):
                    found = flow.at_place
            deferred = deferred or isinstance(frame.node, _Definition)
            place, inside = frame.node, frame.parent
        return found

    def _may_run_early(self, frame: Scope, definition: ast.AST, own: Sequence[ast.AST]) -> bool:
        """Whether a call between ``definition`` and the last of the bindings may lead to its body."""
        tree = self._tree
        outermost = self._definition_in(frame, definition)
        if outermost is None:
            return True
        last = max(getattr(n, "lineno", 0) for n in own)
        leading, pending = {outermost.name}, [outermost.name]
        while pending:
            for load in tree.names.get(pending.pop(), ()):
                holder = self._definition_in(frame, load)
                if holder is not None:
                    pending += {holder.name} - leading
                    leading.add(holder.name)
                elif outermost.lineno < load.lineno < last and any(
                    isinstance(n, ast.Call) for n in _upwards(tree, load)
                ):
                    return True
        return False

    def _definition_in(self, frame: Scope, node: ast.AST) -> _Definition | None:
        """The outermost function or class in ``frame`` that is or holds ``node``."""
        found: _Definition | None = None
        for outer in (node, *_upwards(self._tree, node)):
            if outer is frame.node:
                break
            if isinstance(outer, _Definition):
                found = outer
        return found


class _Flow:
    """One walk over the body of a function, or of the module."""

    def __init__(
        self,
        tree: ScopeTree,
        installed: frozenset[str],
        own: Sequence[ast.AST],
        deletes: Collection[ast.AST],
        place: ast.AST,
    ) -> None:
        self._installed = installed
        self._effects = {_anchor(tree, n): Bound.NEVER if n in deletes else Bound.ALWAYS for n in own}
        self._place = next((n for n in (place, *_upwards(tree, place)) if isinstance(n, ast.stmt)), place)
        self._walrus = any(
            isinstance(tree.parents.get(n), ast.NamedExpr)
            and _anchor(tree, n) is self._place
            and _position(n) < _position(place)
            for n in own
        )
        self._relevant = {self._place, *self._effects}
        for node in list(self._relevant):
            self._relevant.update(_upwards(tree, node))
        self._loops: list[list[_State] | None] = []
        """For each loop around the current statement its states at ``break``; None if it may end there anyway."""
        self.at_place: _State = None

    def run(self, frame: ast.AST) -> _State:
        """Walk the body; returns the state at its end."""
        body = getattr(frame, "body", None)
        parameters = any(isinstance(n, ast.arg) for n in self._effects)
        state: _State = Bound.ALWAYS if parameters else Bound.NEVER
        if not isinstance(body, list):
            self._record(Bound.ALWAYS if parameters or self._walrus else Bound.NEVER)
            return state
        return self._block(body, state)

    def _record(self, state: _State) -> None:
        self.at_place = _join(self.at_place, state)

    def _block(self, statements: Iterable[ast.stmt], state: _State) -> _State:
        for statement in statements:
            if statement is self._place:
                self._record(Bound.ALWAYS if self._walrus and state is not None else state)
            state = self._statement(statement, state) if statement in self._relevant else self._other(statement, state)
        return state

    def _other(self, statement: ast.stmt, state: _State) -> _State:
        """After a statement that holds neither the place nor a binding."""
        breaks = self._loops[-1] if self._loops else None
        if breaks is not None and isinstance(statement, (ast.Break, *_COMPOUND)):
            breaks += [state for n in ast.walk(statement) if isinstance(n, ast.Break)]
        return None if _leaves(statement) else state

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
        return None if _leaves(node) else effect

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
        for statement in node.body:
            risky = self._may_fail(statement)
            if risky:
                failing = _join(failing, end)
            end = self._block([statement], end)
            if risky and isinstance(statement, _COMPOUND):
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


_COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, *_TRY, ast.Match)


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


def _leaves(statement: ast.stmt) -> bool:
    """Whether nothing runs below the statement in its block."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        return getattr(called, "attr", getattr(called, "id", "")) in _EXITS
    return isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue)


def _constant(test: ast.expr) -> bool | None:
    """What a condition always is when the program runs; None where that depends."""
    if getattr(test, "attr", getattr(test, "id", "")) == "TYPE_CHECKING":
        return False
    return bool(test.value) if isinstance(test, ast.Constant) else None


def _suppresses(manager: ast.expr) -> bool:
    """Whether a context manager may catch an exception of its block."""
    called = manager.func if isinstance(manager, ast.Call) else manager
    return getattr(called, "attr", getattr(called, "id", "")) in ("suppress", "raises")
