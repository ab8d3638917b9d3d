"""The one pass over a module's syntax tree that finds its scopes, what they bind, and where everything stands."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any

from paddletorch.resolve.scopes.bindings import (
    REGISTERING,
    AttributeStore,
    Binding,
    BindingKind,
    Scope,
    registered,
    set_by_name,
)

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

_CHILDREN = {kind: attrgetter(*names) if names else lambda _: () for kind, names in _FIELDS.items()}
"""What is in the fields of a node that may hold nodes: one value, or a tuple of the values of several fields."""

_CHECKING = frozenset({"isinstance", "type"})

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


class Walk:
    """One walk over a module, and what it found."""

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
        self.type_checks: list[ast.Call] = []
        """Calls of ``isinstance`` and ``type``."""
        self.string_annotations: dict[ast.Constant, ast.expr] = {}
        """The expressions in annotations that are written as strings."""
        self._is_quoted = False
        self._stack: list[tuple[ast.AST, Scope]] = []
        self._push_children(self.module, self.scope)
        self._drain()

    def _drain(self) -> None:
        stack, visitors = self._stack, _VISITORS
        while stack:
            node, scope = stack.pop()
            visitors[node.__class__](self, node, scope)

    def _push_children(self, node: ast.AST, scope: Scope) -> None:
        parents, scopes, stack = self.parents, self.scopes, self._stack
        children = _CHILDREN[node.__class__](node)
        for child in children if children.__class__ is tuple else (children,):
            for item in child if child.__class__ is list else (child,):
                kind = item.__class__
                if kind is ast.Name and item.ctx.__class__ is ast.Load:
                    parents[item] = node  # most nodes are names and constants: they need no turn on the stack
                    scopes[item] = scope
                    self.loads.append(item)
                elif kind is ast.Constant:
                    parents[item] = node
                    if item.value.__class__ is str:
                        scopes[item] = scope
                        self.strings.append(item)
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
            if child.value.__class__ is str:  # type: ignore[attr-defined]
                self.scopes[child] = scope
                self.strings.append(child)  # type: ignore[arg-type]
        else:
            self._stack.append((child, scope))

    def _push_block(self, block: Iterable[ast.stmt], parent: ast.AST, scope: Scope) -> None:
        for statement in block:
            self.parents[statement] = parent
            self._stack.append((statement, scope))

    def _bind(self, scope: Scope, binding: Binding) -> None:
        home = scope
        if binding.name in scope.redirected:
            home = scope.redirected[binding.name] or scope.parent or scope
        home.bindings.setdefault(binding.name, []).append(binding)

    def add_annotations(self, parsed: Mapping[ast.Constant, ast.expr]) -> None:
        """Add the names in string annotations, as if the annotations were written without quotes.

        What they bind or yield, they bind and yield nowhere: Python evaluates none of them where they stand.
        """
        self._is_quoted = True
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
            self.parents[value] = node
            kind = value.__class__
            if kind is ast.Attribute:
                node = value  # type: ignore[assignment]
                continue
            if kind is ast.Name:
                self.scopes[value] = scope
                self.loads.append(value)  # type: ignore[arg-type]
            else:
                self._push(value, node, scope)
            return

    def _call(self, node: ast.Call, scope: Scope) -> None:
        self.scopes[node] = scope
        self.calls.append(node)
        called = node.func
        kind = called.__class__
        if kind is ast.Attribute:
            if called.attr in REGISTERING and (store := registered(node, scope)) is not None:  # type: ignore[attr-defined]
                self.stores.append(store)
        elif kind is ast.Name and called.id == "setattr":  # type: ignore[attr-defined]
            if (store := set_by_name(node, scope)) is not None:
                self.stores.append(store)
        elif kind is ast.Name and called.id in _CHECKING:  # type: ignore[attr-defined]
            self.type_checks.append(node)
        self._push_children(node, scope)

    def _fstring(self, node: ast.JoinedStr, scope: Scope) -> None:
        self.fstrings.append(node)
        self._push_children(node, scope)

    def _named_expression(self, node: ast.NamedExpr, scope: Scope) -> None:
        home = Scope("function", node, scope) if self._is_quoted else scope.function()
        self._target(node.target, node.value, home, node)
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
        self._push_block(node.body, node, inner)

    def _function_scope(self, node: _FunctionNode, scope: Scope) -> Scope:
        inner = Scope("function", node, scope)
        self.own[node] = inner
        arguments = node.args
        self.parents[arguments] = node
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
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
        self._push_block(node.body, node, inner)

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
        self._push_block(node.body, node, scope)
        self._push_block(node.orelse, node, scope)

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
        for item in node.items:
            self.parents[item] = node
            self._push(item.context_expr, item, scope)
            if item.optional_vars is not None:
                self._target(item.optional_vars, item.context_expr, scope, item, "enter")
        self._push_block(node.body, node, scope)

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
        if not self._is_quoted:
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
        shape = target.__class__
        if shape is ast.Name:
            self.scopes[target] = scope
            name: str = target.id  # type: ignore[attr-defined]
            binding = Binding(kind, name, target, scope, value, annotation, None, None, path)
            if scope.redirected:
                self._bind(scope, binding)
            elif name in scope.bindings:
                scope.bindings[name].append(binding)
            else:
                scope.bindings[name] = [binding]
        elif shape is ast.Attribute:
            assert isinstance(target, ast.Attribute)
            self.scopes[target] = scope
            self.attributes.append(target)
            self.stores.append(AttributeStore(target, value if kind == "assign" else None, annotation, scope))
            self._push(target.value, target, scope)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, scope, kind, path)
        elif isinstance(target, ast.Starred):
            self._target(target.value, None, scope, target, "opaque")
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


_VISITORS: dict[type, Callable[[Walk, Any, Scope], None]] = {
    **dict.fromkeys(_FIELDS, Walk._push_children),
    ast.Name: Walk._name,
    ast.Attribute: Walk._attribute,
    ast.Call: Walk._call,
    ast.JoinedStr: Walk._fstring,
    ast.NamedExpr: Walk._named_expression,
    ast.Lambda: Walk._lambda,
    **dict.fromkeys(_Comprehension, Walk._comprehension),
    ast.FunctionDef: Walk._function,
    ast.AsyncFunctionDef: Walk._function,
    ast.ClassDef: Walk._class,
    ast.Import: Walk._import,
    ast.ImportFrom: Walk._import_from,
    ast.Assign: Walk._assign,
    ast.AnnAssign: Walk._annotated_assign,
    ast.AugAssign: Walk._augmented_assign,
    ast.For: Walk._for,
    ast.AsyncFor: Walk._for,
    ast.With: Walk._with,
    ast.AsyncWith: Walk._with,
    ast.ExceptHandler: Walk._handler,
    ast.MatchAs: Walk._pattern,
    ast.MatchStar: Walk._pattern,
    ast.MatchMapping: Walk._match_mapping,
    ast.Global: Walk._global,
    ast.Nonlocal: Walk._nonlocal,
    ast.Return: Walk._return,
    ast.Yield: Walk._yield,
    ast.YieldFrom: Walk._yield,
}
