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
            if (
                isinstance(call.func, ast.Attribute)
                and call.args
                and call.func.attr in ("step", "unscale_", "minimize")
            ):
                if self.evidence(call.func.value, "scaler") is Evidence.YES:
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

    def _is_target(self, instance: Instance) -> bool:
        return instance.api.partition(".")[0] == self._context.target

    def _by_use(self, node: ast.expr, type_name: str) -> Evidence:
        spec = self._context.settings.table.types[type_name]
        path = path_of(node)
        name = path.rpartition(".")[2]
        named = bool(spec.names) and re.search(spec.names, name) is not None
        if not path:
            return Evidence.NO
        called = self._methods.get(path, set())
        used = any(methods <= called for methods in spec.protocol)
        if type_name == "optimizer" and path in self._optimizers:
            used = True
        if used and not self._made_elsewhere(node):
            return Evidence.YES
        if named and type_name == "optimizer":
            return Evidence.YES
        return Evidence.MAYBE if named or used else Evidence.NO

    def _made_elsewhere(self, node: ast.expr) -> bool:
        """Whether the receiver is bound, in this file, to a call of something the file imports."""
        if not isinstance(node, ast.Name):
            return False
        scope = self._context.tree.scopes.get(node)
        for binding in scope.lookup(node.id) if scope is not None else []:
            if binding.kind == "assign" and isinstance(binding.value, ast.Call):
                return True
        return False


def path_of(node: ast.expr) -> str:
    """``self.scaler`` for a dotted path of names; empty for anything else. Subscripts count by their base."""
    if isinstance(node, ast.Subscript):
        base = path_of(node.value)
        return base + "[]" if base else ""
    if isinstance(node, ast.Attribute):
        base = path_of(node.value)
        return f"{base}.{node.attr}" if base else ""
    return node.id if isinstance(node, ast.Name) else ""
