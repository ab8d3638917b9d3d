"""What shows that a receiver is of a tracked type."""

from __future__ import annotations

import ast
import re
from enum import IntEnum

from paddletorch.plan.context import FileContext
from paddletorch.resolve import Instance, NoneValue, Qualified, Unknown


class Evidence(IntEnum):
    """How well a receiver's type is known."""

    NO = 0
    MAYBE = 1
    YES = 2


class Receivers:
    """Types of receivers in one file, by value, by the methods called on them and by name."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._methods: dict[str, set[str]] = {}
        self._optimizers: set[str] = set()
        for call in context.tree.calls:
            if isinstance(call.func, ast.Attribute):
                self._methods.setdefault(path_of(call.func.value), set()).add(call.func.attr)
        for call in context.tree.calls:
            function = call.func
            if not isinstance(function, ast.Attribute) or function.attr not in ("step", "unscale_", "minimize"):
                continue
            if call.args and self.evidence(function.value, "scaler") is Evidence.YES:
                self._optimizers.add(path_of(call.args[0]))

    def evidence(self, node: ast.expr, type_name: str) -> Evidence:
        """How well it is known that ``node`` is a source-framework instance of ``type_name``."""
        values = self._context.evaluator.values(node)
        instances = [v for v in values if isinstance(v, Instance)]
        foreign = [v for v in instances if v.type != type_name or self._is_target(v)]
        if foreign:
            return Evidence.NO
        if instances and all(isinstance(v, Instance | NoneValue | Unknown) for v in values):
            return Evidence.YES
        if any(isinstance(v, Qualified) for v in values):
            return Evidence.NO
        return self._by_use(node, type_name)

    def overrides(self, node: ast.expr, method: str) -> bool:
        """Whether ``method`` of the receiver is, or may be, a local subclass's own."""
        values = self._context.evaluator.values(node)
        return any(isinstance(v, Instance) and method in v.overrides for v in values)

    def _is_target(self, instance: Instance) -> bool:
        return instance.api.partition(".")[0] in (self._context.target, "paddletorch_shim")

    def _by_use(self, node: ast.expr, type_name: str) -> Evidence:
        spec = self._context.settings.table.types[type_name]
        path = path_of(node)
        names = [path, *self._iterated(node)]
        named = bool(spec.names) and any(re.search(spec.names, n.rpartition(".")[2].rstrip("[]")) for n in names)
        if not path or path in ("self", "cls"):
            return Evidence.NO
        called = self._methods.get(path, set())
        used = any(methods <= called for methods in spec.protocol)
        if type_name == "optimizer" and path in self._optimizers:
            return Evidence.YES
        sure = used or (named and type_name == "optimizer")
        if sure and not self._made_elsewhere(node, spec.names):
            return Evidence.YES
        return Evidence.MAYBE if named or used else Evidence.NO

    def _iterated(self, node: ast.expr) -> list[str]:
        """Paths of what a loop variable runs over: ``optimizers`` of ``for o in optimizers``."""
        scope = self._context.tree.scopes.get(node) if isinstance(node, ast.Name) else None
        found: list[str] = []
        for binding in scope.lookup(node.id) if scope is not None and isinstance(node, ast.Name) else []:
            value = binding.value if binding.kind == "iterate" else None
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "values":
                value = value.func.value
            if value is not None:
                found.append(path_of(value))
        return found

    def _made_elsewhere(self, node: ast.expr, names: str) -> bool:
        """Whether this file makes the receiver by a call that does not say what it makes."""
        for value in self._makers(node):
            maker = path_of(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
            if isinstance(value, ast.Call) and not re.search(names.replace("$", "").replace("^", ""), maker):
                return True
        return False

    def _makers(self, node: ast.expr) -> list[ast.expr]:
        """What the file assigns to the receiver, unpacked or whole."""
        tree = self._context.tree
        if isinstance(node, ast.Attribute):
            stores = self._context.evaluator.stores(node.attr)
            return [s.value if s.value is not None else _assigned(self._context, s.target) for s in stores]
        scope = tree.scopes.get(node) if isinstance(node, ast.Name) else None
        found: list[ast.expr] = []
        for binding in scope.lookup(node.id) if scope is not None and isinstance(node, ast.Name) else []:
            if binding.kind == "assign" and binding.value is not None:
                found.append(binding.value)
            elif binding.kind == "unpack" and isinstance(binding.node, ast.expr):
                found.append(_assigned(self._context, binding.node))
        return found


def _assigned(context: FileContext, target: ast.expr) -> ast.expr:
    """The right-hand side of the assignment that unpacks into ``target``; the target itself if there is none."""
    parent = context.parent(target)
    while isinstance(parent, ast.Tuple | ast.List | ast.Starred):
        parent = context.parent(parent)
    return parent.value if isinstance(parent, ast.Assign) else target


def path_of(node: ast.expr) -> str:
    """``self.scaler`` for a dotted path of names; empty for anything else. Subscripts count by their base."""
    if isinstance(node, ast.Subscript):
        base = path_of(node.value)
        return base + "[]" if base else ""
    if isinstance(node, ast.Attribute):
        base = path_of(node.value)
        return f"{base}.{node.attr}" if base else ""
    return node.id if isinstance(node, ast.Name) else ""
