"""Which names may be unbound where they are used: a small interpreter that follows every path through a module.

It knows nothing of the engine. Frameworks that are not importable fail at their import, ``TYPE_CHECKING`` and constants
decide branches, any other condition goes both ways, and what a function uses is asked where the module ends, or where
the module's own statements call it. It need not be exact: input and output are judged by the same measure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .block_names import (
    COMPREHENSIONS,
    FUNCTIONS,
    arguments,
    bound_by_comprehensions,
    bound_in,
    functions_once,
    own_nodes,
    own_statements,
    walrus_names,
)
from .paths import BOUND, UNBOUND, Exits, State, cannot_raise, catches_imports, joined, truth
from .scopes import ClassBody, Scope, is_bound

FRAMEWORKS = frozenset({"torch", "torchvision", "paddle"})
_SURE = frozenset({"os", "sys", "re", "math", "typing", "contextlib", "functools", "collections", "__future__"}) | {
    "paddletorch_shim"
}
_SCOPES = (*FUNCTIONS, ast.Lambda)


class Unbound(NamedTuple):
    """A use of a name that may be unbound there; ``scope`` is the path of definitions around it."""

    scope: str
    name: str


def unbound_names(
    module: ast.Module, importable: frozenset[str], exported: Mapping[str, frozenset[str]]
) -> set[Unbound]:
    """The uses that may find their name unbound when only the frameworks of ``importable`` can be imported.

    ``exported`` says which names a star import of a framework's module binds.
    """
    runner = _Module(module, importable, exported)
    runner.run()
    return runner.found


class _Module:
    def __init__(self, module: ast.Module, importable: frozenset[str], exported: Mapping[str, frozenset[str]]) -> None:
        self._module = module
        self._importable = importable
        self._exported = exported
        self.found: set[Unbound] = set()
        self._lazy = any(
            isinstance(s, ast.ImportFrom) and s.module == "__future__" and any(a.name == "annotations" for a in s.names)
            for s in module.body
        )
        self._stars = self._star_names()
        self._globals = set(_bound_by_others(module))
        self._unbound_later = {n.id for n in ast.walk(module) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)}
        self._unbound_later |= {n.name for n in ast.walk(module) if isinstance(n, ast.ExceptHandler) and n.name}
        self._pending: list[tuple[ast.AST, Scope, State]] = []
        self._called: set[int] = set()
        self._silent = 0

    def run(self) -> None:
        """Follow the module, then each function in it."""
        scope = Scope("", bound_in(self._module.body) | self._stars, None)
        self._functions = functions_once(self._module.body)
        exits = Exits()
        end = self._block(self._module.body, {}, scope, exits)
        scope.end = end if end is not None else dict.fromkeys(scope.local, BOUND)  # nobody can call what is in it
        while self._pending:
            self._function(*self._pending.pop())

    def _star_names(self) -> set[str]:
        """What the star imports may bind; Python refuses one in a function or class."""
        found: set[str] = set()
        for node in own_statements(self._module.body):
            if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
                found |= self._exported.get(node.module or "", frozenset())
        return found

    def _function(self, node: ast.AST, parent: Scope, made: State) -> None:
        assert isinstance(node, _SCOPES)
        born = self._bound_for_good(made)
        given = arguments(node.args)
        path = f"{parent.path}.{getattr(node, 'name', '<lambda>')}"
        if isinstance(node, ast.Lambda):
            scope = Scope(path, given | walrus_names([node.body]), parent)
            scope.born = born
            scope.end = dict.fromkeys(scope.local, BOUND)
            self._expression(node.body, dict.fromkeys(given, BOUND), scope)
            return
        outer = {n for s in own_statements(node.body) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names}
        scope = Scope(path, (given | bound_in(node.body)) - outer, parent)
        scope.born = born
        scope.end = dict.fromkeys(scope.local, BOUND)  # what is called later sees some state; not followed
        self._block(node.body, dict.fromkeys(given, BOUND), scope, Exits())

    def _bound_for_good(self, state: State) -> frozenset[str]:
        """The names that are bound in this state, and that nothing unbinds later."""
        return frozenset(n for n, bits in state.items() if bits == BOUND and n not in self._unbound_later)

    # Statements

    def _block(self, body: Iterable[ast.stmt], state: State | None, scope: Scope, exits: Exits) -> State | None:
        for statement in body:
            if state is None:
                return None
            if not cannot_raise(statement):
                exits.raises.append(state)
            state = self._statement(statement, state, scope, exits)
        return state

    def _statement(self, node: ast.stmt, state: State, scope: Scope, exits: Exits) -> State | None:
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is not None:
            found: State | None = method(node, state, scope, exits)
            return found
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                state = self._expression(child, state, scope)
        return state

    def _Import(self, node: ast.Import, state: State, scope: Scope, exits: Exits) -> State | None:
        for alias in node.names:
            root = alias.name.partition(".")[0]
            if not self._can_import(root, state, exits):
                return None
            state = {**state, alias.asname or root: BOUND}
        return state

    def _ImportFrom(self, node: ast.ImportFrom, state: State, scope: Scope, exits: Exits) -> State | None:
        if not node.level and not self._can_import((node.module or "").partition(".")[0], state, exits):
            return None
        bound = {alias.asname or alias.name for alias in node.names} - {"*"}
        if any(alias.name == "*" for alias in node.names):
            bound |= self._exported.get(node.module or "", frozenset())
        return {**state, **dict.fromkeys(bound, BOUND)}

    def _can_import(self, root: str, state: State, exits: Exits) -> bool:
        if root in FRAMEWORKS and root not in self._importable:
            exits.failed_imports.append(state)
            return False
        if root not in FRAMEWORKS and root not in _SURE:
            exits.failed_imports.append(state)
        return True

    def _If(self, node: ast.If, state: State, scope: Scope, exits: Exits) -> State | None:
        state = self._expression(node.test, state, scope)
        known = truth(node.test)
        yes = self._block(node.body, state, scope, exits) if known is not False else None
        no = self._block(node.orelse, state, scope, exits) if known is not True else None
        return joined([yes, no])

    def _While(self, node: ast.While, state: State, scope: Scope, exits: Exits) -> State | None:
        known = truth(node.test)
        inner = Exits(raises=exits.raises, failed_imports=exits.failed_imports)
        before: State | None = self._expression(node.test, state, scope)
        if known is False:
            return self._block(node.orelse, before, scope, exits)
        for _ in range(2):
            assert before is not None
            after = self._block(node.body, before, scope, inner)
            before = joined([before, after, *inner.continues])
        assert before is not None
        done = None if known is True else self._block(node.orelse, before, scope, exits)
        return joined([done, *inner.breaks])

    def _For(self, node: ast.For | ast.AsyncFor, state: State, scope: Scope, exits: Exits) -> State | None:
        before: State | None = self._expression(node.iter, state, scope)
        inner = Exits(raises=exits.raises, failed_imports=exits.failed_imports)
        for _ in range(2):
            assert before is not None
            first = self._target(node.target, before, scope)
            before = joined([before, self._block(node.body, first, scope, inner), *inner.continues])
        assert before is not None
        return joined([self._block(node.orelse, before, scope, exits), *inner.breaks])

    _AsyncFor = _For

    def _With(self, node: ast.With | ast.AsyncWith, state: State, scope: Scope, exits: Exits) -> State | None:
        suppresses = False
        for item in node.items:
            state = self._expression(item.context_expr, state, scope)
            suppresses |= "suppress" in ast.dump(item.context_expr)
            if item.optional_vars is not None:
                state = self._target(item.optional_vars, state, scope)
        if not suppresses:
            return self._block(node.body, state, scope, exits)
        inner = Exits(exits.breaks, exits.continues)
        after = self._block(node.body, state, scope, inner)
        return joined([after, *inner.raises, *inner.failed_imports])

    _AsyncWith = _With

    def _Try(self, node: ast.Try, state: State, scope: Scope, exits: Exits) -> State | None:
        inner = Exits(exits.breaks, exits.continues)
        after = self._block(node.body, state, scope, inner)
        ends = [self._block(node.orelse, after, scope, exits)] if after is not None else []
        caught_imports = False
        for handler in node.handlers:
            entries = list(inner.raises)
            if catches_imports(handler.type) and not caught_imports:
                entries += inner.failed_imports
                caught_imports = True
            entry = joined(entries)
            if entry is None:
                continue
            if handler.type is not None:
                entry = self._expression(handler.type, entry, scope)
            if handler.name is not None:
                entry = {**entry, handler.name: BOUND}
            left = self._block(handler.body, entry, scope, exits)
            if left is not None and handler.name is not None:
                left = {**left, handler.name: UNBOUND}
            ends.append(left)
        if not caught_imports:
            exits.failed_imports += inner.failed_imports
        exits.raises += inner.raises
        end = joined(ends)
        if node.finalbody:
            around = joined([end, *inner.raises, *([] if caught_imports else inner.failed_imports)])
            if around is not None:
                self._block(node.finalbody, around, scope, exits)
            self._silent += 1
            end = self._block(node.finalbody, end, scope, Exits())
            self._silent -= 1
        return end

    _TryStar = _Try

    def _Match(self, node: ast.Match, state: State, scope: Scope, exits: Exits) -> State | None:
        state = self._expression(node.subject, state, scope)
        ends: list[State | None] = []
        rest = True
        for case in node.cases:
            captured = {
                n.name for n in ast.walk(case.pattern) if isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name
            }
            captured |= {n.rest for n in ast.walk(case.pattern) if isinstance(n, ast.MatchMapping) and n.rest}
            for value in ast.walk(case.pattern):
                if isinstance(value, ast.expr) and isinstance(value, ast.Name):
                    self._use(value.id, state, scope)
            inside: State = {**state, **dict.fromkeys(captured, BOUND)}
            if case.guard is not None:
                inside = self._expression(case.guard, inside, scope)
            elif isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
                rest = False
            ends.append(self._block(case.body, inside, scope, exits))
        return joined([*ends, state if rest else None])

    def _FunctionDef(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, state: State, scope: Scope, exits: Exits
    ) -> State:
        for expression in [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]:
            state = self._expression(expression, state, scope)
        if not self._lazy and not getattr(node, "type_params", None):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            for annotation in [*(a.annotation for a in every if a is not None), node.returns]:
                if annotation is not None:
                    state = self._expression(annotation, state, scope)
        self._later(node, scope, state)
        return {**state, node.name: BOUND}

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef, state: State, scope: Scope, exits: Exits) -> State:
        for expression in [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]:
            if not getattr(node, "type_params", None):
                state = self._expression(expression, state, scope)
        inner = ClassBody(f"{scope.path}.{node.name}", bound_in(node.body), scope, state)
        inner.born = self._bound_for_good(state)
        self._block(node.body, {}, inner, Exits())
        return {**state, node.name: BOUND}

    def _Return(self, node: ast.Return, state: State, scope: Scope, exits: Exits) -> None:
        if node.value is not None:
            self._expression(node.value, state, scope)

    def _Raise(self, node: ast.Raise, state: State, scope: Scope, exits: Exits) -> None:
        for value in (node.exc, node.cause):
            if value is not None:
                state = self._expression(value, state, scope)
        if node.exc is not None and "ImportError" in ast.dump(node.exc):
            exits.failed_imports.append(state)

    def _Break(self, node: ast.Break, state: State, scope: Scope, exits: Exits) -> None:
        exits.breaks.append(state)

    def _Continue(self, node: ast.Continue, state: State, scope: Scope, exits: Exits) -> None:
        exits.continues.append(state)

    def _Delete(self, node: ast.Delete, state: State, scope: Scope, exits: Exits) -> State:
        for target in node.targets:
            if isinstance(target, ast.Name):
                if not isinstance(scope, ClassBody) or state.get(target.id, UNBOUND) != UNBOUND:  # never an outer one
                    self._use(target.id, state, scope)
                state = {**state, target.id: UNBOUND}
            else:
                state = self._expression(target, state, scope)
        return state

    def _Assign(self, node: ast.Assign, state: State, scope: Scope, exits: Exits) -> State:
        state = self._expression(node.value, state, scope)
        for target in node.targets:
            state = self._target(target, state, scope)
        return state

    def _AugAssign(self, node: ast.AugAssign, state: State, scope: Scope, exits: Exits) -> State:
        if isinstance(node.target, ast.Name):
            self._use(node.target.id, state, scope)
        return self._target(node.target, self._expression(node.value, state, scope), scope)

    def _AnnAssign(self, node: ast.AnnAssign, state: State, scope: Scope, exits: Exits) -> State:
        if not self._lazy and (scope.parent is None or isinstance(scope, ClassBody)):
            state = self._expression(node.annotation, state, scope)
        if node.value is None:
            return state
        return self._target(node.target, self._expression(node.value, state, scope), scope)

    def _TypeAlias(self, node: ast.stmt, state: State, scope: Scope, exits: Exits) -> State:
        return self._target(node.name, state, scope)  # type: ignore[attr-defined]  # its value is evaluated later

    # Expressions

    def _target(self, node: ast.expr, state: State, scope: Scope) -> State:
        if isinstance(node, ast.Name):
            return {**state, node.id: BOUND}
        if isinstance(node, (ast.Tuple, ast.List)):
            for element in node.elts:
                state = self._target(element, state, scope)
            return state
        if isinstance(node, ast.Starred):
            return self._target(node.value, state, scope)
        return self._expression(node, state, scope)

    def _expression(self, node: ast.expr, state: State, scope: Scope) -> State:
        """Look at every use in an expression; the state after it, for what ``:=`` binds."""
        pending: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
        while pending:
            found, own = pending.pop()
            if isinstance(found, ast.Lambda):
                self._later(found, scope, state, own)
                pending += [(d, own) for d in [*found.args.defaults, *found.args.kw_defaults] if d is not None]
                continue
            if isinstance(found, COMPREHENSIONS):
                pending.append((found.generators[0].iter, own))
                inner = own | {
                    n.id
                    for g in found.generators
                    for n in ast.walk(g.target)
                    if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
                }
                parts: list[ast.AST] = [g.iter for g in found.generators[1:]]
                parts += [test for g in found.generators for test in g.ifs] + [g.target for g in found.generators]
                parts += [getattr(found, name) for name in ("elt", "key", "value") if hasattr(found, name)]
                pending += [(part, inner) for part in parts]
                continue
            if isinstance(found, ast.NamedExpr):
                state = {**state, found.target.id: BOUND}
                pending.append((found.value, own))
                continue
            if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Load) and found.id not in own:
                self._use(found.id, state, scope)
            if isinstance(found, ast.Call) and isinstance(found.func, ast.Name) and scope.parent is None:
                self._call(found.func.id, state, scope)
            pending += [(child, own) for child in reversed(list(ast.iter_child_nodes(found)))]
        return state

    def _call(self, name: str, state: State, scope: Scope) -> None:
        """A function of the module that its own statements call: its names must be bound by now."""
        function = self._functions.get(name)
        if function is None or id(function) in self._called or state.get(name) != BOUND:
            return
        self._called.add(id(function))
        inside = bound_in(function.body) | arguments(function.args)
        elsewhere = bound_by_comprehensions(function.body) | _in_annotations(function)
        for node in own_nodes(function.body):
            is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in elsewhere
            if is_read and node.id not in inside:
                self._use(node.id, state, scope, f".{name}")
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in inside:
                self._call(node.func.id, state, scope)

    def _later(self, node: ast.AST, scope: Scope, state: State, own: frozenset[str] = frozenset()) -> None:
        if own:
            scope = Scope(scope.path, set(own), scope)
            scope.end = dict.fromkeys(own, BOUND)
        self._pending.append((node, scope, state))

    def _use(self, name: str, state: State, scope: Scope, inside: str = "") -> None:
        if self._silent:
            return
        path = (scope.path + inside).replace(".<lambda>", "")
        if not is_bound(name, state, scope, self._globals):
            self.found.add(Unbound(path, name))


def _in_annotations(function: ast.FunctionDef) -> set[int]:
    """The identities of the names in annotations of a function's own variables: Python never evaluates them."""
    annotated = [n for n in own_nodes(function.body) if isinstance(n, ast.AnnAssign)]
    return {id(n) for one in annotated for n in ast.walk(one.annotation)}


def _bound_by_others(module: ast.Module) -> Iterator[str]:
    """The names of the module that functions and classes bind, which declare them global."""
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            declared = {n for s in own_statements(node.body) if isinstance(s, ast.Global) for n in s.names}
            yield from declared & bound_in(node.body) if declared else ()
