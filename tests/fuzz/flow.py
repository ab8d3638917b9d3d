"""Which names may be unbound where they are used: a small interpreter that follows every path through a module.

It knows nothing of the engine. Frameworks that are not importable fail at their import, ``TYPE_CHECKING`` and constants
decide branches, any other condition goes both ways, and what a function uses is asked where the module ends, or where
the module's own statements call it. It need not be exact: input and output are judged by the same measure.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

FRAMEWORKS = frozenset({"torch", "torchvision", "paddle"})
_BOUND, _UNBOUND = 1, 2
_BUILTINS = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__path__", "__spec__", "__class__"}
_SURE = frozenset({"os", "sys", "re", "math", "typing", "contextlib", "functools", "collections", "__future__"}) | {
    "paddletorch_shim"
}
_CATCH_IMPORTS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

State = Mapping[str, int]
"""For each local name whether it may be bound, unbound, or either; one that is missing is unbound."""


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


@dataclass
class _Exits:
    """States that leave a block in other ways than by its end."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)
    raises: list[State] = field(default_factory=list)
    failed_imports: list[State] = field(default_factory=list)


class _Scope:
    """One module or function: its local names, and what encloses it."""

    def __init__(self, path: str, local: set[str], parent: _Scope | None) -> None:
        self.path = path
        self.local = local
        self.parent = parent
        self.end: State = {}
        """The state at its end, which functions in it see."""
        self.born: frozenset[str] = frozenset()
        """The names around a function that are bound where it is made: it cannot run any earlier."""


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
        self._globals = {n for node in ast.walk(module) if isinstance(node, ast.Global) for n in node.names}
        self._unbound_later = {n.id for n in ast.walk(module) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)}
        self._unbound_later |= {n.name for n in ast.walk(module) if isinstance(n, ast.ExceptHandler) and n.name}
        self._pending: list[tuple[ast.AST, _Scope, State]] = []
        self._called: set[int] = set()
        self._silent = 0

    def run(self) -> None:
        """Follow the module, then each function in it."""
        scope = _Scope("", _bound_in(self._module.body) | self._stars, None)
        self._functions = _functions_once(self._module.body)
        exits = _Exits()
        end = self._block(self._module.body, {}, scope, exits)
        scope.end = end if end is not None else dict.fromkeys(scope.local, _BOUND)  # nobody can call what is in it
        while self._pending:
            self._function(*self._pending.pop())

    def _star_names(self) -> set[str]:
        """What the star imports may bind; Python refuses one in a function or class."""
        found: set[str] = set()
        for node in _own_statements(self._module.body):
            if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
                found |= self._exported.get(node.module or "", frozenset())
        return found

    def _function(self, node: ast.AST, parent: _Scope, made: State) -> None:
        assert isinstance(node, _SCOPES)
        born = frozenset(n for n, bits in made.items() if bits == _BOUND and n not in self._unbound_later)
        arguments = _arguments(node.args)
        path = f"{parent.path}.{getattr(node, 'name', '<lambda>')}"
        if isinstance(node, ast.Lambda):
            scope = _Scope(path, arguments | _walrus_names([node.body]), parent)
            scope.born = born
            scope.end = dict.fromkeys(scope.local, _BOUND)
            self._expression(node.body, dict.fromkeys(arguments, _BOUND), scope)
            return
        outer = {n for s in _own_statements(node.body) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names}
        scope = _Scope(path, (arguments | _bound_in(node.body)) - outer, parent)
        scope.born = born
        scope.end = dict.fromkeys(scope.local, _BOUND)  # what is called later sees some state; not followed
        self._block(node.body, dict.fromkeys(arguments, _BOUND), scope, _Exits())

    # Statements

    def _block(self, body: Iterable[ast.stmt], state: State | None, scope: _Scope, exits: _Exits) -> State | None:
        for statement in body:
            if state is None:
                return None
            if not _cannot_raise(statement):
                exits.raises.append(state)
            state = self._statement(statement, state, scope, exits)
        return state

    def _statement(self, node: ast.stmt, state: State, scope: _Scope, exits: _Exits) -> State | None:
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is not None:
            found: State | None = method(node, state, scope, exits)
            return found
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                state = self._expression(child, state, scope)
        return state

    def _Import(self, node: ast.Import, state: State, scope: _Scope, exits: _Exits) -> State | None:
        for alias in node.names:
            root = alias.name.partition(".")[0]
            if not self._can_import(root, state, exits):
                return None
            state = {**state, alias.asname or root: _BOUND}
        return state

    def _ImportFrom(self, node: ast.ImportFrom, state: State, scope: _Scope, exits: _Exits) -> State | None:
        if not node.level and not self._can_import((node.module or "").partition(".")[0], state, exits):
            return None
        bound = {alias.asname or alias.name for alias in node.names} - {"*"}
        if any(alias.name == "*" for alias in node.names):
            bound |= self._exported.get(node.module or "", frozenset())
        return {**state, **dict.fromkeys(bound, _BOUND)}

    def _can_import(self, root: str, state: State, exits: _Exits) -> bool:
        if root in FRAMEWORKS and root not in self._importable:
            exits.failed_imports.append(state)
            return False
        if root not in FRAMEWORKS and root not in _SURE:
            exits.failed_imports.append(state)
        return True

    def _If(self, node: ast.If, state: State, scope: _Scope, exits: _Exits) -> State | None:
        state = self._expression(node.test, state, scope)
        truth = _truth(node.test)
        yes = self._block(node.body, state, scope, exits) if truth is not False else None
        no = self._block(node.orelse, state, scope, exits) if truth is not True else None
        return _joined([yes, no])

    def _While(self, node: ast.While, state: State, scope: _Scope, exits: _Exits) -> State | None:
        truth = _truth(node.test)
        inner = _Exits(raises=exits.raises, failed_imports=exits.failed_imports)
        before: State | None = self._expression(node.test, state, scope)
        if truth is False:
            return self._block(node.orelse, before, scope, exits)
        for _ in range(2):
            assert before is not None
            after = self._block(node.body, before, scope, inner)
            before = _joined([before, after, *inner.continues])
        assert before is not None
        done = None if truth is True else self._block(node.orelse, before, scope, exits)
        return _joined([done, *inner.breaks])

    def _For(self, node: ast.For | ast.AsyncFor, state: State, scope: _Scope, exits: _Exits) -> State | None:
        before: State | None = self._expression(node.iter, state, scope)
        inner = _Exits(raises=exits.raises, failed_imports=exits.failed_imports)
        for _ in range(2):
            assert before is not None
            first = self._target(node.target, before, scope)
            before = _joined([before, self._block(node.body, first, scope, inner), *inner.continues])
        assert before is not None
        return _joined([self._block(node.orelse, before, scope, exits), *inner.breaks])

    _AsyncFor = _For

    def _With(self, node: ast.With | ast.AsyncWith, state: State, scope: _Scope, exits: _Exits) -> State | None:
        suppresses = False
        for item in node.items:
            state = self._expression(item.context_expr, state, scope)
            suppresses |= "suppress" in ast.dump(item.context_expr)
            if item.optional_vars is not None:
                state = self._target(item.optional_vars, state, scope)
        if not suppresses:
            return self._block(node.body, state, scope, exits)
        inner = _Exits(exits.breaks, exits.continues)
        after = self._block(node.body, state, scope, inner)
        return _joined([after, *inner.raises, *inner.failed_imports])

    _AsyncWith = _With

    def _Try(self, node: ast.Try, state: State, scope: _Scope, exits: _Exits) -> State | None:
        inner = _Exits(exits.breaks, exits.continues)
        after = self._block(node.body, state, scope, inner)
        ends = [self._block(node.orelse, after, scope, exits)] if after is not None else []
        caught_imports = False
        for handler in node.handlers:
            entries = list(inner.raises)
            if _catches_imports(handler.type) and not caught_imports:
                entries += inner.failed_imports
                caught_imports = True
            entry = _joined(entries)
            if entry is None:
                continue
            if handler.type is not None:
                entry = self._expression(handler.type, entry, scope)
            if handler.name is not None:
                entry = {**entry, handler.name: _BOUND}
            left = self._block(handler.body, entry, scope, exits)
            if left is not None and handler.name is not None:
                left = {**left, handler.name: _UNBOUND}
            ends.append(left)
        if not caught_imports:
            exits.failed_imports += inner.failed_imports
        exits.raises += inner.raises
        end = _joined(ends)
        if node.finalbody:
            around = _joined([end, *inner.raises, *([] if caught_imports else inner.failed_imports)])
            if around is not None:
                self._block(node.finalbody, around, scope, exits)
            self._silent += 1
            end = self._block(node.finalbody, end, scope, _Exits())
            self._silent -= 1
        return end

    _TryStar = _Try

    def _Match(self, node: ast.Match, state: State, scope: _Scope, exits: _Exits) -> State | None:
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
            inside: State = {**state, **dict.fromkeys(captured, _BOUND)}
            if case.guard is not None:
                inside = self._expression(case.guard, inside, scope)
            elif isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
                rest = False
            ends.append(self._block(case.body, inside, scope, exits))
        return _joined([*ends, state if rest else None])

    def _FunctionDef(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, state: State, scope: _Scope, exits: _Exits
    ) -> State:
        for expression in [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]:
            state = self._expression(expression, state, scope)
        if not self._lazy and not getattr(node, "type_params", None):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            for annotation in [*(a.annotation for a in every if a is not None), node.returns]:
                if annotation is not None:
                    state = self._expression(annotation, state, scope)
        self._later(node, scope, state)
        return {**state, node.name: _BOUND}

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef, state: State, scope: _Scope, exits: _Exits) -> State:
        for expression in [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]:
            if not getattr(node, "type_params", None):
                state = self._expression(expression, state, scope)
        inner = _Class(f"{scope.path}.{node.name}", _bound_in(node.body), scope, state)
        self._block(node.body, {}, inner, _Exits())
        return {**state, node.name: _BOUND}

    def _Return(self, node: ast.Return, state: State, scope: _Scope, exits: _Exits) -> None:
        if node.value is not None:
            self._expression(node.value, state, scope)

    def _Raise(self, node: ast.Raise, state: State, scope: _Scope, exits: _Exits) -> None:
        for value in (node.exc, node.cause):
            if value is not None:
                state = self._expression(value, state, scope)
        if node.exc is not None and "ImportError" in ast.dump(node.exc):
            exits.failed_imports.append(state)

    def _Break(self, node: ast.Break, state: State, scope: _Scope, exits: _Exits) -> None:
        exits.breaks.append(state)

    def _Continue(self, node: ast.Continue, state: State, scope: _Scope, exits: _Exits) -> None:
        exits.continues.append(state)

    def _Delete(self, node: ast.Delete, state: State, scope: _Scope, exits: _Exits) -> State:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._use(target.id, state, scope)
                state = {**state, target.id: _UNBOUND}
            else:
                state = self._expression(target, state, scope)
        return state

    def _Assign(self, node: ast.Assign, state: State, scope: _Scope, exits: _Exits) -> State:
        state = self._expression(node.value, state, scope)
        for target in node.targets:
            state = self._target(target, state, scope)
        return state

    def _AugAssign(self, node: ast.AugAssign, state: State, scope: _Scope, exits: _Exits) -> State:
        if isinstance(node.target, ast.Name):
            self._use(node.target.id, state, scope)
        return self._target(node.target, self._expression(node.value, state, scope), scope)

    def _AnnAssign(self, node: ast.AnnAssign, state: State, scope: _Scope, exits: _Exits) -> State:
        if not self._lazy and (scope.parent is None or isinstance(scope, _Class)):
            state = self._expression(node.annotation, state, scope)
        if node.value is None:
            return state
        return self._target(node.target, self._expression(node.value, state, scope), scope)

    def _TypeAlias(self, node: ast.stmt, state: State, scope: _Scope, exits: _Exits) -> State:
        return self._target(node.name, state, scope)  # type: ignore[attr-defined]  # its value is evaluated later

    # Expressions

    def _target(self, node: ast.expr, state: State, scope: _Scope) -> State:
        if isinstance(node, ast.Name):
            return {**state, node.id: _BOUND}
        if isinstance(node, (ast.Tuple, ast.List)):
            for element in node.elts:
                state = self._target(element, state, scope)
            return state
        if isinstance(node, ast.Starred):
            return self._target(node.value, state, scope)
        return self._expression(node, state, scope)

    def _expression(self, node: ast.expr, state: State, scope: _Scope) -> State:
        """Look at every use in an expression; the state after it, for what ``:=`` binds."""
        pending: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
        while pending:
            found, own = pending.pop()
            if isinstance(found, ast.Lambda):
                self._later(found, scope, state, own)
                pending += [(d, own) for d in [*found.args.defaults, *found.args.kw_defaults] if d is not None]
                continue
            if isinstance(found, _COMPREHENSIONS):
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
                state = {**state, found.target.id: _BOUND}
                pending.append((found.value, own))
                continue
            if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Load) and found.id not in own:
                self._use(found.id, state, scope)
            if isinstance(found, ast.Call) and isinstance(found.func, ast.Name) and scope.parent is None:
                self._call(found.func.id, state, scope)
            pending += [(child, own) for child in reversed(list(ast.iter_child_nodes(found)))]
        return state

    def _call(self, name: str, state: State, scope: _Scope) -> None:
        """A function of the module that its own statements call: its names must be bound by now."""
        function = self._functions.get(name)
        if function is None or id(function) in self._called or state.get(name) != _BOUND:
            return
        self._called.add(id(function))
        inside = _bound_in(function.body) | _arguments(function.args)
        elsewhere = _bound_by_comprehensions(function.body)
        for node in _own_nodes(function.body):
            is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in elsewhere
            if is_read and node.id not in inside:
                self._use(node.id, state, scope, f".{name}")
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self._call(node.func.id, state, scope)

    def _later(self, node: ast.AST, scope: _Scope, state: State, own: frozenset[str] = frozenset()) -> None:
        if own:
            scope = _Scope(scope.path, set(own), scope)
            scope.end = dict.fromkeys(own, _BOUND)
        self._pending.append((node, scope, state))

    def _use(self, name: str, state: State, scope: _Scope, inside: str = "") -> None:
        if self._silent:
            return
        path = (scope.path + inside).replace(".<lambda>", "")
        seen: State | None = state
        around: _Scope | None = scope
        now = True  # only classes so far: they run where they stand
        while around is not None and not self._decides(around, scope, name, seen):
            if isinstance(around, _Class):
                seen, around = around.before if now else around.outer.end, around.outer
            else:
                born, now, around = around.born, False, around.parent
                seen = {**around.end, **dict.fromkeys(born, _BOUND)} if around is not None else None
        if around is None:
            bound = name in _BUILTINS or name in self._globals
        else:
            assert seen is not None
            bound = not seen.get(name, _UNBOUND) & _UNBOUND or (around.parent is None and name in self._globals)
        if not bound and not (name in _BUILTINS and around is None):
            self.found.add(Unbound(path, name))

    @staticmethod
    def _decides(around: _Scope, scope: _Scope, name: str, seen: State | None) -> bool:
        """Whether a name that is used in ``scope`` is looked up in ``around`` and nowhere else."""
        if name not in around.local:
            return False
        if not isinstance(around, _Class):
            return True  # what is in a class does not see its names, and its own body looks further if need be
        return around is scope and seen is not None and not seen.get(name, _UNBOUND) & _UNBOUND


class _Class(_Scope):
    """A class body: it runs where it stands, and sees the state there."""

    def __init__(self, path: str, local: set[str], outer: _Scope, before: State) -> None:
        super().__init__(path, local | {"__module__", "__qualname__"}, outer)
        self.outer = outer
        self.before = before
        self.end = before


def _joined(states: Iterable[State | None]) -> State | None:
    reached = [s for s in states if s is not None]
    if not reached:
        return None
    names = {name for state in reached for name in state}
    found: dict[str, int] = {}
    for name in names:
        bits = 0
        for state in reached:
            bits |= state.get(name, _UNBOUND)
        found[name] = bits
    return found


def _truth(test: ast.expr) -> bool | None:
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Name) and test.id == "TYPE_CHECKING":
        return False
    if isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING":
        return False
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _truth(test.operand)
        return None if inner is None else not inner
    return None


def _cannot_raise(statement: ast.stmt) -> bool:
    """Whether a statement surely comes to its end; imports say for themselves whether they fail."""
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal)):
        return True
    if isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.Constant, ast.Name)):
        return all(isinstance(t, ast.Name) for t in statement.targets)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    if isinstance(statement, (ast.If, ast.Try, ast.With)):
        return True  # what is in it says so
    return isinstance(statement, _FUNCTIONS) and not statement.decorator_list


def _catches_imports(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(isinstance(n, ast.Name) and n.id in _CATCH_IMPORTS for n in names)


def _arguments(node: ast.arguments) -> set[str]:
    every = [*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg]
    return {a.arg for a in every if a is not None}


def _own_nodes(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a block without those in functions, classes and lambdas in it, but with their heads."""
    pending = list(body)
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            pending += node.decorator_list
            continue
        if not isinstance(node, ast.Lambda):
            pending += ast.iter_child_nodes(node)


def _own_statements(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    return (n for n in _own_nodes(body) if isinstance(n, ast.stmt))


def _bound_in(body: Iterable[ast.AST]) -> set[str]:
    """The names that the statements of a block bind in its own scope."""
    found: set[str] = set()
    skipped: set[int] = set()
    for node in _own_nodes(body):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {a.asname or a.name.partition(".")[0] for a in node.names} - {"*"}
        elif isinstance(node, _COMPREHENSIONS):
            skipped |= {id(n) for g in node.generators for n in ast.walk(g.target)}
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and id(node) not in skipped:
            found.add(node.id)
    return found


def _bound_by_comprehensions(body: Iterable[ast.AST]) -> set[int]:
    """The identities of the names in comprehensions that those bind themselves."""
    found: set[int] = set()
    for node in _own_nodes(body):
        if isinstance(node, _COMPREHENSIONS):
            own = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            outside = {id(n) for n in ast.walk(node.generators[0].iter)}
            found |= {id(n) for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in own} - outside
    return found


def _walrus_names(body: Iterable[ast.AST]) -> set[str]:
    return {n.target.id for n in _own_nodes(body) if isinstance(n, ast.NamedExpr)}


def _functions_once(body: Iterable[ast.stmt]) -> dict[str, ast.FunctionDef]:
    """Functions of the module that have their name alone."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in _own_statements(body):
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return {name: nodes[0] for name, nodes in found.items() if len(nodes) == 1}
