"""The modules that a module such as ``nn.Sequential(nn.Linear(3, 4), nn.ReLU())`` is made of."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from paddletorch.resolve.scopes.scopes import ScopeTree
from paddletorch.resolve.values import Container, Instance, Values, container, tuple_of

_GROWS = ("add_module", "append", "extend", "insert", "update")
"""Methods that put further modules into one."""


def held_modules(tree: ScopeTree, call: ast.Call, evaluate: Callable[[ast.expr], Values]) -> Container | None:
    """What a call of ``Sequential``, ``ModuleList`` or ``ModuleDict`` puts into it; None if that cannot be seen."""
    if call.keywords or not call.args or _grows(tree, call):
        return None
    if named := _named(call.args):
        found = next((v for v in tuple_of([evaluate(module) for _, module in named]) if isinstance(v, Container)), None)
        is_whole = found is not None and _are_modules(found)
        return replace(found, names=tuple(name for name, _ in named)) if found is not None and is_whole else None
    parts = [evaluate(argument) for argument in call.args]
    given = [v for part in parts for v in part]
    if len(parts) == 1 and all(isinstance(v, Container) for v in given):
        made = container(frozenset(v for c in given if isinstance(c, Container) for v in c.elements))
    elif any(isinstance(a, ast.Starred) for a in call.args):
        return None
    else:
        made = tuple_of(parts)
    found = next((v for v in made if isinstance(v, Container)), None)
    return found if found is not None and _are_modules(found) else None


def _named(arguments: Sequence[ast.expr]) -> list[tuple[str, ast.expr]]:
    """The names and modules of ``Sequential(("fc", Linear(3, 4)), ("act", ReLU()))``; none if one has no such form."""
    found = []
    for argument in arguments:
        pair = argument.elts if isinstance(argument, ast.Tuple | ast.List) else []
        if len(pair) != 2 or not (isinstance(pair[0], ast.Constant) and isinstance(pair[0].value, str)):
            return []
        found.append((pair[0].value, pair[1]))
    return found


def _are_modules(found: Container) -> bool:
    """Whether each element is known to be a module."""
    return bool(found.elements) and all(isinstance(v, Instance) and v.type != "foreign" for v in found.elements)


def _grows(tree: ScopeTree, call: ast.Call) -> bool:
    """Whether the module puts more into what the call's result is assigned to, or replaces a part of it."""
    statement = tree.parents.get(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    for target in targets:
        name = getattr(target, "attr", getattr(target, "id", ""))
        for use in (*tree.names.get(name, ()), *tree.members.get(name, ())):
            if isinstance(target, ast.Name) and isinstance(use, ast.Name) and not _is_same(tree, target, use):
                continue
            around = tree.parents.get(use)
            if isinstance(around, ast.Attribute) and around.attr in _GROWS:
                return True
            if isinstance(around, ast.Subscript) and not isinstance(around.ctx, ast.Load):
                return True
    return False


def _is_same(tree: ScopeTree, target: ast.Name, use: ast.Name) -> bool:
    """Whether the variable that is used may be the one that is assigned: that of another function is not."""
    own = {binding.scope for binding in tree.scopes[target].lookup(target.id)}
    return any(binding.scope in own for binding in tree.scopes[use].lookup(use.id))
