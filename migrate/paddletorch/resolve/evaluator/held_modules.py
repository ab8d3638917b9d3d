"""The modules that a module such as ``nn.Sequential(nn.Linear(3, 4), nn.ReLU())`` is made of."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from paddletorch.resolve.scopes.scopes import ScopeTree
from paddletorch.resolve.values import Container, Instance, Values, container, tuple_of

_GROWS = ("add_module", "append", "extend", "insert", "update")
"""Methods that put further modules into one."""

_ADDED = {"add_module": 1, "append": 0, "insert": 1}
"""Those that put in one module, and the argument in which it stands."""


def held_modules(tree: ScopeTree, call: ast.Call, evaluate: Callable[[ast.expr], Values]) -> Container | None:
    """What a call of ``Sequential``, ``ModuleList`` or ``ModuleDict`` puts into it; None if that cannot be seen."""
    added = _added(tree, call)
    if call.keywords or added is None:
        return None
    if added:
        return _with_added(call, [evaluate(module) for module in added], evaluate)
    if not call.args:
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


def _with_added(call: ast.Call, added: Sequence[Values], evaluate: Callable[[ast.expr], Values]) -> Container | None:
    """What an empty list, or one of a display, holds after the modules that are put into it: in no known order."""
    given = [v for argument in call.args for v in evaluate(argument)]
    if len(call.args) > 1 or not all(isinstance(v, Container) for v in given):
        return None
    held = frozenset(v for c in given if isinstance(c, Container) for v in c.elements)
    found = next((v for v in container(held.union(*added)) if isinstance(v, Container)), None)
    return found if found is not None and all(added) and _are_modules(found) else None


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


def _added(tree: ScopeTree, call: ast.Call) -> list[ast.expr] | None:
    """The modules that are put later into what the call's result is assigned to; None where that cannot be seen."""
    statement = tree.parents.get(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    added: list[ast.expr] = []
    for target in targets:
        name = getattr(target, "attr", getattr(target, "id", ""))
        for use in (*tree.names.get(name, ()), *tree.members.get(name, ())):
            if isinstance(target, ast.Name) and isinstance(use, ast.Name) and not _is_same(tree, target, use):
                continue
            around = tree.parents.get(use)
            if isinstance(around, ast.Subscript) and not isinstance(around.ctx, ast.Load):
                stored = tree.parents.get(around)
                if not isinstance(stored, ast.Assign) or stored.targets != [around] or _is_own(target) != _is_own(use):
                    return None
                if not _is_of_another_class(tree, target, use):
                    added.append(stored.value)
                continue
            if isinstance(around, ast.AugAssign) and around.target is use:
                return None
            if not isinstance(around, ast.Attribute) or around.attr not in _GROWS:
                continue
            if _is_of_another_class(tree, target, use):
                continue
            growth, position = tree.parents.get(around), _ADDED.get(around.attr)
            called = isinstance(growth, ast.Call) and growth.func is around and not growth.keywords
            if not isinstance(growth, ast.Call) or not called or position is None or len(growth.args) != position + 1:
                return None
            if isinstance(growth.args[position], ast.Starred) or _is_own(target) != _is_own(use):
                return None
            added.append(growth.args[position])
    return added


def _is_own(node: ast.expr) -> bool:
    """Whether it is an attribute of ``self``."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_of_another_class(tree: ScopeTree, target: ast.expr, use: ast.expr) -> bool:
    """Whether both are attributes of ``self``, in classes of which none is made from the other."""
    if not isinstance(target, ast.Attribute) or not isinstance(use, ast.Attribute):
        return False
    if not _is_own(target) or not _is_own(use):
        return False
    classes = [scope.enclosing_class() for scope in (tree.scopes[target.value], tree.scopes[use.value])]
    nodes = [scope.node for scope in classes if scope is not None and isinstance(scope.node, ast.ClassDef)]
    if len(nodes) != 2 or nodes[0] is nodes[1]:
        return False
    names = {node.name for node in nodes}
    return not any(names & {ast.unparse(base) for base in node.bases} for node in nodes)


def _is_same(tree: ScopeTree, target: ast.Name, use: ast.Name) -> bool:
    """Whether the variable that is used may be the one that is assigned: that of another function is not."""
    own = {binding.scope for binding in tree.scopes[target].lookup(target.id)}
    return any(binding.scope in own for binding in tree.scopes[use].lookup(use.id))
