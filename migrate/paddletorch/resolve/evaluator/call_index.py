"""Which calls of a module may call one of its functions, and what they pass."""

from __future__ import annotations

import ast

from paddletorch.resolve.scopes.bindings import Scope
from paddletorch.resolve.scopes.scopes import ScopeTree


class CallIndex:
    """The calls of one module by the name they call."""

    def __init__(self, tree: ScopeTree) -> None:
        self._tree = tree
        self._by_name: dict[str, list[ast.Call]] = {}
        for call in tree.calls:
            callee = call.func
            name = callee.id if isinstance(callee, ast.Name) else getattr(callee, "attr", None)
            if name is not None:
                self._by_name.setdefault(name, []).append(call)

    def of(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.Call]:
        """Calls in the module that may call ``function``: by its name, or by its method name."""
        scope = self._tree.own[function]
        method = is_method(scope)
        found: list[ast.Call] = []
        if method and function.name == "__init__":
            assert scope.parent is not None and isinstance(scope.parent.node, ast.ClassDef)
            found += [c for c in self._by_name.get(scope.parent.node.name, []) if isinstance(c.func, ast.Name)]
        for call in self._by_name.get(function.name, []):
            callee = call.func
            if isinstance(callee, ast.Name) and not method:
                callee_scope = self._tree.scopes.get(callee)
                bindings = callee_scope.lookup(callee.id) if callee_scope else []
                if any(b.node is function for b in bindings):
                    found.append(call)
            elif isinstance(callee, ast.Attribute) and method:
                found.append(call)
        return found

    def of_lambda(self, function: ast.Lambda) -> list[ast.Call]:
        """Calls by the name that a lambda is assigned to."""
        assignment = self._tree.parents.get(function)
        target = assignment.targets[0] if isinstance(assignment, ast.Assign) and len(assignment.targets) == 1 else None
        named = self._by_name.get(target.id, []) if isinstance(target, ast.Name) else []
        return [c for c in named if isinstance(c.func, ast.Name) and self._is_bound_to(c.func, function)]

    def mapped(self, function: ast.AST) -> list[ast.Call]:
        """Calls of ``map`` that pass elements to the function."""
        calls = [c for c in self._by_name.get("map", []) if isinstance(c.func, ast.Name) and len(c.args) > 1]
        return [c for c in calls if c.args[0] is function or self._is_bound_to(c.args[0], function)]

    def _is_bound_to(self, name: ast.expr, function: ast.AST) -> bool:
        scope = self._tree.scopes.get(name) if isinstance(name, ast.Name) else None
        bindings = scope.lookup(name.id) if scope is not None and isinstance(name, ast.Name) else []
        return any(function in (b.node, b.value) for b in bindings)


def is_method(scope: Scope) -> bool:
    """Whether a function's scope is directly in a class."""
    return scope.parent is not None and scope.parent.kind == "class"


def argument_of(
    call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str, method: bool
) -> ast.expr | None:
    """The expression that a call passes for the parameter ``name``; None if it passes none, or that is not certain."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if name not in names:
        return None
    decorators = [] if isinstance(function, ast.Lambda) else function.decorator_list
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in decorators)
    index = names.index(name) - (1 if method and not static else 0)
    given = call.args
    if not 0 <= index < len(given) or any(isinstance(a, ast.Starred) for a in given[: index + 1]):
        return None
    return given[index]
