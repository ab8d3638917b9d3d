"""Scopes and bindings of one module, from a single pass over its syntax tree.

Flow-insensitive, like LibCST's QualifiedNameProvider: a name means every binding of its scope.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from paddletorch.resolve.scopes.bindings import AttributeStore, Binding, BindingKind, Scope, registered

_Node = TypeVar("_Node", bound=ast.AST)

_PLAIN_FIELDS = frozenset(
    {"ctx", "op", "ops", "arg", "kind", "conversion", "simple", "is_async", "type_comment", "type_ignores"}
    | {"id", "attr", "asname", "module", "level", "rest", "kwd_attrs"}
)
"""Fields without names; most nodes of a tree are in these, the other fields hold no nodes at all."""

_FIELDS = {
    kind: tuple(name for name in kind._fields if name not in _PLAIN_FIELDS)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}

_STATEMENTS = frozenset(kind for kind in _FIELDS if issubclass(kind, ast.stmt))

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)

_ALWAYS_BINDS = (ast.Assign, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


class ScopeTree:
    """Scopes, parents, calls and attribute stores of a module."""

    def __init__(self, module: ast.Module) -> None:
        self.module = module
        self.scope = Scope("module", module, None)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.scopes: dict[ast.AST, Scope] = {}
        """The scope in which a name, attribute, call or string is evaluated."""
        self.own: dict[ast.AST, Scope] = {module: self.scope}
        """The scope that a function, lambda, class, comprehension or the module opens."""
        self.calls: list[ast.Call] = []
        self.loads: list[ast.Name] = []
        self.attributes: list[ast.Attribute] = []
        self.stores: list[AttributeStore] = []
        self.stars: list[ast.ImportFrom] = []
        """``from ... import *``."""
        self.redirections: list[tuple[ast.Global | ast.Nonlocal, Scope]] = []
        """``global`` and ``nonlocal``, each with the scope that it stands in."""
        self.imported: set[str] = set()
        """Names that an import binds in any scope."""
        self.annotations: list[ast.expr] = []
        self.strings: list[ast.Constant] = []
        self.fstrings: list[ast.JoinedStr] = []
        self.string_annotations: dict[ast.Constant, ast.expr] = {}
        """The expressions in annotations that are written as strings."""
        self._stack: list[tuple[ast.AST, Scope]] = []
        self._run()

    @cached_property
    def names(self) -> dict[str, list[ast.Name]]:
        """Names that are read, by name."""
        found: dict[str, list[ast.Name]] = {}
        for load in self.loads:
            found.setdefault(load.id, []).append(load)
        return found

    @cached_property
    def members(self) -> dict[str, list[ast.Attribute]]:
        """Attributes, read or stored to, by their name."""
        found: dict[str, list[ast.Attribute]] = {}
        for node in self.attributes:
            found.setdefault(node.attr, []).append(node)
        return found

    def reads(self, bindings: Sequence[Binding]) -> Sequence[ast.Name]:
        """The names that mean ``bindings``, which are all bindings of one name, where they are read."""
        if not bindings:
            return ()
        name = bindings[0].name
        if name not in self._reads:
            found = self._reads[name] = {}
            for load in self.names.get(name, ()):
                for meant in self.meanings(load):
                    found.setdefault(id(meant), []).append(load)
        return self._reads[name].get(id(bindings), ())

    def meanings(self, load: ast.Name) -> list[list[Binding]]:
        """The bindings that a name which is read may mean; of a name that a class binds also the module's.

        Python reads the module's as long as the class has not bound it: ``class C: x = x``.
        """
        scope = self.scopes[load]
        found = scope.lookup(load.id)
        if scope.kind != "class" or found is not scope.bindings.get(load.id):
            return [found]
        outside = self.scope.bindings.get(load.id, found)
        return [found] if outside is found or self._is_bound_before(load, found) else [found, outside]

    def _is_bound_before(self, load: ast.Name, bindings: Sequence[Binding]) -> bool:
        """Whether a statement of the class body itself has bound the name before the class reads it."""
        if any(binding.kind == "delete" for binding in bindings):
            return False
        statements = (self._statement_of_class(binding) for binding in bindings)
        return any(s is not None and (s.end_lineno or 0, s.end_col_offset or 0) <= _start(load) for s in statements)

    def _statement_of_class(self, binding: Binding) -> ast.stmt | None:
        """The statement that binds a name of a class whenever the class body goes past it."""
        node = binding.node
        while node.__class__ not in _STATEMENTS:
            node = self.parents[node]
        value = getattr(node, "value", None)
        binds = isinstance(node, _ALWAYS_BINDS) or (isinstance(node, ast.AnnAssign) and value is not None)
        return node if binds and self.parents[node] is binding.scope.node else None

    @cached_property
    def _reads(self) -> dict[str, dict[int, list[ast.Name]]]:
        """Names that are read, by name and by the identity of the list of bindings that they mean."""
        return {}

    def method_calls(self, name: str) -> list[ast.Call]:
        """Calls of a method or function that is called ``name`` and is an attribute of something."""
        calls = ((node, self.parents.get(node)) for node in self.members.get(name, ()))
        return [call for node, call in calls if isinstance(call, ast.Call) and call.func is node]

    @cached_property
    def class_members(self) -> frozenset[str]:
        """Names that classes of this module bind: their methods and class attributes."""
        return frozenset(name for scope in self.own.values() if scope.kind == "class" for name in scope.bindings)

    @cached_property
    def stores_by_name(self) -> dict[str, list[AttributeStore]]:
        """Stores to attributes, by the attribute's name."""
        found: dict[str, list[AttributeStore]] = {}
        for store in self.stores:
            found.setdefault(store.target.attr, []).append(store)
        return found

    @cached_property
    def subscripts(self) -> list[ast.Subscript]:
        """Subscripts of names, attributes, calls and strings."""
        return [node for node in self.of_kind(ast.Subscript) if node.value in self.scopes]

    def of_kind(self, kind: type[_Node]) -> list[_Node]:
        """The nodes of one class, in the order in which the tree was read."""
        return self._by_kind.get(kind, [])  # type: ignore[return-value]

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """All statements, in the order in which the tree was read."""
        return [node for node in self.parents if node.__class__ in _STATEMENTS]

    @cached_property
    def _by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = {}
        for node in self.parents:
            kind = node.__class__
            if kind in found:
                found[kind].append(node)
            else:
                found[kind] = [node]
        return found

    @cached_property
    def negative_numbers(self) -> frozenset[int | float]:
        """The negative numbers that are written anywhere."""
        minus = (node for node in self.of_kind(ast.UnaryOp) if isinstance(node.op, ast.USub))
        operands = (node.operand for node in minus)
        return frozenset(-n.value for n in operands if isinstance(n, ast.Constant) and isinstance(n.value, int | float))

    @cached_property
    def in_fstrings(self) -> frozenset[ast.AST]:
        """All nodes of f-strings."""
        return frozenset(node for fstring in self.fstrings for node in ast.walk(fstring))

    def release(self) -> None:
        """Break the reference cycles of scopes and bindings, so that memory is freed at once."""
        for scope in self.own.values():
            scope.bindings.clear()
        self.__dict__.clear()

    def _run(self) -> None:
        self._push_children(self.module, self.scope)
        self._drain()

    def _drain(self) -> None:
        stack = self._stack
        while stack:
            node, scope = stack.pop()
            visit = _VISITORS.get(type(node))
            if visit is None:
                self._push_children(node, scope)
            else:
                visit(self, node, scope)

    def _push_children(self, node: ast.AST, scope: Scope) -> None:
        parents, stack = self.parents, self._stack
        for name in _FIELDS[node.__class__]:
            child = getattr(node, name, None)
            if child is None:
                continue
            for item in child if child.__class__ is list else (child,):
                kind = item.__class__
                if kind is ast.Name and item.ctx.__class__ is ast.Load:
                    parents[item] = node  # most nodes are names and constants: they need no turn on the stack
                    self.scopes[item] = scope
                    self.loads.append(item)
                elif kind is ast.Constant:
                    parents[item] = node
                    if item.value.__class__ is str:
                        self._constant(item, scope)
                elif kind in _FIELDS:
                    parents[item] = node
                    stack.append((item, scope))

    def _push(self, child: ast.AST | None, parent: ast.AST, scope: Scope) -> None:
        if child is None:
            return
        self.parents[child] = parent
        kind = child.__class__
        if kind is ast.Name and child.ctx.__class__ is ast.Load:  # type: ignore[attr-defined]
            self.scopes[child] = scope
            self.loads.append(child)  # type: ignore[arg-type]
        elif kind is ast.Constant:
            self._constant(child, scope)  # type: ignore[arg-type]
        else:
            self._stack.append((child, scope))

    def _bind(self, scope: Scope, binding: Binding) -> None:
        home = scope
        if binding.name in scope.redirected:
            home = scope.redirected[binding.name] or scope.parent or scope
        home.bindings.setdefault(binding.name, []).append(binding)

    def add_annotations(self, parsed: Mapping[ast.Constant, ast.expr]) -> None:
        """Add the names in string annotations, as if the annotations were written without quotes."""
        for string, expression in parsed.items():
            self.annotations.append(expression)
            self.string_annotations[string] = expression
            self._push(expression, string, self.scopes[string])
        self._drain()

    # expressions -------------------------------------------------------------------------------

    def _name(self, node: ast.Name, scope: Scope) -> None:
        self.scopes[node] = scope
        if isinstance(node.ctx, ast.Del):
            self._bind(scope, Binding("delete", node.id, node, scope))

    def _attribute(self, node: ast.Attribute, scope: Scope) -> None:
        while True:
            self.scopes[node] = scope
            self.attributes.append(node)
            value = node.value
            if value.__class__ is not ast.Attribute:
                self._push(value, node, scope)
                return
            self.parents[value] = node
            node = value

    def _call(self, node: ast.Call, scope: Scope) -> None:
        self.scopes[node] = scope
        self.calls.append(node)
        if (store := registered(node, scope)) is not None:
            self.stores.append(store)
        self._push_children(node, scope)

    def _constant(self, node: ast.Constant, scope: Scope) -> None:
        if isinstance(node.value, str):
            self.scopes[node] = scope
            self.strings.append(node)

    def _fstring(self, node: ast.JoinedStr, scope: Scope) -> None:
        self.fstrings.append(node)
        self._push_children(node, scope)

    def _named_expression(self, node: ast.NamedExpr, scope: Scope) -> None:
        self._target(node.target, node.value, scope.function(), node)
        self._push(node.value, node, scope)

    def _lambda(self, node: ast.Lambda, scope: Scope) -> None:
        inner = self._function_scope(node, scope)
        inner.returns.append(node.body)
        self._push(node.body, node, inner)

    def _comprehension(self, node: ast.AST, scope: Scope) -> None:
        inner = Scope("comprehension", node, scope)
        self.own[node] = inner
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        for number, generator in enumerate(generators):
            self.parents[generator] = node
            self._push(generator.iter, generator, inner if number else scope)
            self._target(generator.target, generator.iter, inner, generator, "iterate")
            for condition in generator.ifs:
                self._push(condition, generator, inner)
        for name in ("elt", "key", "value"):
            self._push(getattr(node, name, None), node, inner)

    # statements --------------------------------------------------------------------------------

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        self._bind(scope, Binding("def", node.name, node, scope))
        for decorator in node.decorator_list:
            self._push(decorator, node, scope)
        if node.returns is not None:
            self.annotations.append(node.returns)
            self._push(node.returns, node, scope)
        inner = self._function_scope(node, scope)
        for statement in node.body:
            self._push(statement, node, inner)

    def _function_scope(self, node: _FunctionNode, scope: Scope) -> Scope:
        inner = Scope("function", node, scope)
        self.own[node] = inner
        arguments = node.args
        self.parents[arguments] = node
        for default in (*arguments.defaults, *arguments.kw_defaults):
            self._push(default, arguments, scope)
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
        defaults += arguments.defaults
        plain = zip([*positional, *arguments.kwonlyargs], [*defaults, *arguments.kw_defaults], strict=True)
        for argument, default in plain:
            self._parameter(argument, default, scope, inner, arguments)
        for star in (arguments.vararg, arguments.kwarg):
            if star is not None:
                self._parameter(star, None, scope, inner, arguments, "opaque")
        return inner

    def _parameter(
        self,
        argument: ast.arg,
        default: ast.expr | None,
        outer: Scope,
        inner: Scope,
        parent: ast.arguments,
        kind: BindingKind = "parameter",
    ) -> None:
        self.parents[argument] = parent
        binding = Binding(kind, argument.arg, argument, inner, default, argument.annotation)
        inner.bindings.setdefault(argument.arg, []).append(binding)
        if argument.annotation is not None:
            self.annotations.append(argument.annotation)
            self._push(argument.annotation, argument, outer)

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        self._bind(scope, Binding("class", node.name, node, scope))
        for child in (*node.decorator_list, *node.bases, *node.keywords):
            self._push(child, node, scope)
        inner = Scope("class", node, scope)
        self.own[node] = inner
        for statement in node.body:
            self._push(statement, node, inner)

    def _import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            self.parents[alias] = node
            name = alias.asname or alias.name.partition(".")[0]
            self.imported.add(name)
            qualified = alias.name if alias.asname else name
            self._bind(scope, Binding("import", name, node, scope, qualified=qualified, alias=alias))

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        prefix = "." * node.level + (node.module or "")
        for alias in node.names:
            self.parents[alias] = node
            if alias.name == "*":
                self.scopes[node] = scope
                if scope is self.scope:  # Python refuses it elsewhere
                    self.stars.append(node)
                continue
            self.imported.add(alias.asname or alias.name)
            qualified = f"{prefix}.{alias.name}" if node.module or not node.level else prefix + alias.name
            self._bind(
                scope,
                Binding("import", alias.asname or alias.name, node, scope, qualified=qualified, alias=alias),
            )

    def _assign(self, node: ast.Assign, scope: Scope) -> None:
        for target in node.targets:
            self._target(target, node.value, scope, node)
        self._push(node.value, node, scope)

    def _annotated_assign(self, node: ast.AnnAssign, scope: Scope) -> None:
        self._target(node.target, node.value, scope, node, annotation=node.annotation)
        self.annotations.append(node.annotation)
        self._push(node.annotation, node, scope)
        self._push(node.value, node, scope)

    def _augmented_assign(self, node: ast.AugAssign, scope: Scope) -> None:
        self._target(node.target, node.value, scope, node, "augment")
        self._push(node.value, node, scope)

    def _for(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
        self._target(node.target, node.iter, scope, node, "iterate")
        self._push(node.iter, node, scope)
        for statement in (*node.body, *node.orelse):
            self._push(statement, node, scope)

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
        for item in node.items:
            self.parents[item] = node
            self._push(item.context_expr, item, scope)
            if item.optional_vars is not None:
                self._target(item.optional_vars, item.context_expr, scope, item, "enter")
        for statement in node.body:
            self._push(statement, node, scope)

    def _handler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        if node.name:
            self._bind(scope, Binding("opaque", node.name, node, scope))
        self._push_children(node, scope)

    def _pattern(self, node: ast.MatchAs | ast.MatchStar, scope: Scope) -> None:
        if node.name:
            self._bind(scope, Binding("opaque", node.name, node, scope))
        self._push_children(node, scope)

    def _match_mapping(self, node: ast.MatchMapping, scope: Scope) -> None:
        if node.rest:
            self._bind(scope, Binding("opaque", node.rest, node, scope))
        self._push_children(node, scope)

    def _global(self, node: ast.Global, scope: Scope) -> None:
        self.redirections.append((node, scope))
        for name in node.names:
            self._redirect(scope, name, self.scope)

    def _nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        self.redirections.append((node, scope))
        for name in node.names:
            self._redirect(scope, name, None)

    def _redirect(self, scope: Scope, name: str, target: Scope | None) -> None:
        earlier = scope.bindings.pop(name, [])  # statements are visited out of order
        scope.redirected[name] = target
        for binding in earlier:
            self._bind(scope, binding)

    def _return(self, node: ast.Return, scope: Scope) -> None:
        scope.function().returns.append(node.value)
        self._push(node.value, node, scope)

    def _yield(self, node: ast.Yield | ast.YieldFrom, scope: Scope) -> None:
        scope.function().returns.append(None)
        self._push_children(node, scope)

    def _target(
        self,
        target: ast.expr,
        value: ast.expr | None,
        scope: Scope,
        parent: ast.AST,
        kind: BindingKind = "assign",
        annotation: ast.expr | None = None,
        path: tuple[int | None, ...] = (),
    ) -> None:
        self.parents[target] = parent
        if isinstance(target, ast.Name):
            self.scopes[target] = scope
            self._bind(scope, Binding(kind, target.id, target, scope, value, annotation, path=path))
        elif isinstance(target, ast.Starred):
            self._target(target.value, None, scope, target, "opaque")
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value, scope, kind, path)
        elif isinstance(target, ast.Attribute):
            self.scopes[target] = scope
            self.attributes.append(target)
            self.stores.append(AttributeStore(target, value if kind == "assign" else None, annotation, scope))
            self._push(target.value, target, scope)
        else:
            self._push_children(target, scope)

    def _unpack(
        self,
        target: ast.Tuple | ast.List,
        value: ast.expr | None,
        scope: Scope,
        kind: BindingKind,
        path: tuple[int | None, ...],
    ) -> None:
        parts: list[ast.expr | None] = [None] * len(target.elts)
        given = list(value.elts) if isinstance(value, ast.Tuple | ast.List) and kind == "assign" else []
        if len(given) == len(parts) and not any(isinstance(e, ast.Starred) for e in (*target.elts, *given)):
            parts = [*given]
        if kind == "iterate":
            path = (*path, None)
        starred = next((n for n, e in enumerate(target.elts) if isinstance(e, ast.Starred)), len(parts))
        for number, (element, part) in enumerate(zip(target.elts, parts, strict=True)):
            if part is not None:
                self._target(element, part, scope, target)
            else:
                taken = value if kind in ("assign", "iterate", "unpack") else None
                position = number if number < starred else None
                self._target(element, taken, scope, target, "unpack", path=(*path, position))


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


_VISITORS: dict[type, Callable[[ScopeTree, Any, Scope], None]] = {
    ast.Name: ScopeTree._name,
    ast.Attribute: ScopeTree._attribute,
    ast.Call: ScopeTree._call,
    ast.Constant: ScopeTree._constant,
    ast.JoinedStr: ScopeTree._fstring,
    ast.NamedExpr: ScopeTree._named_expression,
    ast.Lambda: ScopeTree._lambda,
    **dict.fromkeys(_Comprehension, ScopeTree._comprehension),
    ast.FunctionDef: ScopeTree._function,
    ast.AsyncFunctionDef: ScopeTree._function,
    ast.ClassDef: ScopeTree._class,
    ast.Import: ScopeTree._import,
    ast.ImportFrom: ScopeTree._import_from,
    ast.Assign: ScopeTree._assign,
    ast.AnnAssign: ScopeTree._annotated_assign,
    ast.AugAssign: ScopeTree._augmented_assign,
    ast.For: ScopeTree._for,
    ast.AsyncFor: ScopeTree._for,
    ast.With: ScopeTree._with,
    ast.AsyncWith: ScopeTree._with,
    ast.ExceptHandler: ScopeTree._handler,
    ast.MatchAs: ScopeTree._pattern,
    ast.MatchStar: ScopeTree._pattern,
    ast.MatchMapping: ScopeTree._match_mapping,
    ast.Global: ScopeTree._global,
    ast.Nonlocal: ScopeTree._nonlocal,
    ast.Return: ScopeTree._return,
    ast.Yield: ScopeTree._yield,
    ast.YieldFrom: ScopeTree._yield,
}
