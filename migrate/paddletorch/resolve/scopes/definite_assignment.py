"""On which paths a name is bound where it is read: definite assignment, from a walk over the blocks of a function.

The body of a function runs after its definition. What is bound around it counts for the body if it is bound before the
definition, or in the end with no call in between that may lead to the body.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from paddletorch.resolve.scopes.bindings import Binding, Scope
from paddletorch.resolve.scopes.blocks import Blocks
from paddletorch.resolve.scopes.flow import Bound, Flow, State, upwards
from paddletorch.resolve.scopes.scopes import ScopeTree

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
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
        self._calls: dict[_Definition, list[tuple[int, int]]] = {}
        """Where the calls are that may lead to the body of a definition: lines and columns."""
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
        for outer in upwards(tree, node):
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

    def _flow(self, writes: _Writes, frame: Scope, place: ast.AST) -> tuple[State, State]:
        """The states at ``place`` and at the end of the frame; of many writes all places are found in one walk."""
        statement = self._tree.statement(place) or place
        shared = writes.shared.get(frame)
        if shared is None and len(writes.own[frame]) > _FEW and writes.name:
            places = self._places_in(frame, writes.name)
            shared = writes.shared[frame] = self._walk(writes, frame, places)
        if shared is not None and statement in shared.places and not shared.has_walrus:
            return shared.at.get(statement), shared.at_end
        flow = self._walk(writes, frame, {statement}, place)
        return flow.at.get(statement), flow.at_end

    def _walk(self, writes: _Writes, frame: Scope, places: Collection[ast.AST], place: ast.AST | None = None) -> Flow:
        return Flow(self._blocks, self._tree, self._installed, frame, writes.own[frame], writes.deletes, places, place)

    def _places_in(self, frame: Scope, name: str) -> set[ast.AST]:
        """The statements of the frame that read the name, or define what reads it."""
        found: set[ast.AST] = set()
        for load in self._tree.names.get(name, ()):
            place: ast.AST = load
            inside: Scope | None = self._tree.scopes[load]
            while inside is not None and (outer := _frame(inside)) is not frame:
                place, inside = outer.node, outer.parent
            if inside is not None:
                found.add(self._tree.statement(place) or place)
        return found

    def _may_run_early(self, frame: Scope, definition: ast.AST, own: Sequence[ast.AST]) -> bool:
        """Whether a call between ``definition`` and the last of the bindings may lead to its body."""
        outermost = self._definition_in(frame, definition)
        if outermost is None:
            return True
        calls = self._calls.get(outermost)
        if calls is None:
            calls = self._calls[outermost] = sorted(self._places_of_calls(frame, outermost))
        index = bisect_left(calls, (outermost.lineno + 1, 0))
        return index < len(calls) and calls[index] < max(self._bound_at(node) for node in own)

    def _bound_at(self, node: ast.AST) -> tuple[int, int]:
        """Where a name is bound: behind the value that it gets."""
        statement = self._tree.statement(node)
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
            return statement.end_lineno or 0, statement.end_col_offset or 0
        return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)

    def _places_of_calls(self, frame: Scope, outermost: _Definition) -> Iterator[tuple[int, int]]:
        """Where calls in the frame are that may lead to the body of the definition."""
        tree = self._tree
        leading, pending = {outermost.name}, [outermost.name]
        are_here: dict[int, bool] = {}
        """Whether one of a list of bindings is the frame's, by the identity of the list."""
        while pending:
            for load in tree.names.get(pending.pop(), ()):
                meanings = [bindings for bindings in tree.meanings(load) if bindings]
                for bindings in meanings:
                    if id(bindings) not in are_here:
                        are_here[id(bindings)] = any(_frame(binding.scope) is frame for binding in bindings)
                if meanings and not any(are_here[id(bindings)] for bindings in meanings):
                    continue  # another function's own variable of that name
                holder = self._definition_in(frame, load)
                if holder is not None:
                    pending += {holder.name} - leading
                    leading.add(holder.name)
                elif any(isinstance(n, ast.Call) for n in upwards(tree, load)):
                    yield load.lineno, load.col_offset

    def _definition_in(self, frame: Scope, node: ast.AST) -> _Definition | None:
        """The outermost function or class in ``frame`` that is or holds ``node``."""
        key = frame, node
        if key not in self._outermost:
            self._outermost[key] = self._find_definition(frame, node)
        return self._outermost[key]

    def _find_definition(self, frame: Scope, node: ast.AST) -> _Definition | None:
        found: _Definition | None = None
        for outer in (node, *upwards(self._tree, node)):
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
    shared: dict[Scope, Flow] = field(default_factory=dict)
    """Walks that were made for all places at once."""

    @staticmethod
    def of(bindings: Sequence[Binding]) -> _Writes:
        own: dict[Scope, list[ast.AST]] = {}
        for binding in bindings:
            own.setdefault(_frame(binding.scope), []).append(binding.node)
        deletes = {b.node for b in bindings if b.kind == "delete"}
        given = all(b.kind == "parameter" or b.scope.kind == "comprehension" for b in bindings)
        return _Writes(own, deletes, bindings[0].name, given)


def _frame(scope: Scope) -> Scope:
    """The function or module whose run evaluates the scope: a class body or a comprehension runs where it stands."""
    while scope.kind in ("class", "comprehension") and scope.parent is not None:
        scope = scope.parent
    return scope
