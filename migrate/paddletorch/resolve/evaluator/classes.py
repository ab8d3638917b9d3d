"""Classes of the source tree: their instances, and the methods that they define."""

from __future__ import annotations

import ast
from dataclasses import replace

from paddletorch.resolve.evaluator.facts import Facts
from paddletorch.resolve.values import NOTHING, UNKNOWN, Instance, Local, Qualified, Returning, Value, Values


class Classes(Facts):
    """Instances and methods of classes that this file or another one defines."""

    def _local_instance(self, node: ast.ClassDef) -> Values:
        own = frozenset(s.name for s in node.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef))
        for base in node.bases:
            for value in self._evaluate(base):
                if isinstance(value, Local) and value.node is node:
                    continue
                inherited = self._instance_of(value) - UNKNOWN
                if inherited:
                    return frozenset(
                        replace(v, overrides=v.overrides | own, node=node) if isinstance(v, Instance) else v
                        for v in inherited
                    )
        plain = all(isinstance(base, ast.Name) and base.id == "object" for base in node.bases)
        return frozenset({Instance("", node.name, own, node)}) if plain else UNKNOWN

    def _instance_of(self, value: Value) -> Values:
        """An instance of a class; nothing if the value is none that is known."""
        if isinstance(value, Qualified):
            made = self._makes(value.name)
            if made:
                return frozenset({Instance(made, value.name)})
            return self._outside.instance(value.name) if self._outside is not None else NOTHING
        if isinstance(value, Local) and isinstance(value.node, ast.ClassDef):
            return self._local_instance(value.node)
        return NOTHING

    def _own_member(self, base: Instance, name: str) -> Values:
        """A method that a class of the source tree defines, here or in another file; nothing if none does."""
        method = self._local_method(base.node, name) if base.node is not None and name in base.overrides else None
        if method is not None:
            return frozenset({Local(method)}) if not method.decorator_list else UNKNOWN
        if base.outside and self._outside is not None and name in base.overrides:
            return frozenset({Returning(self._outside.method(base.outside, name) or UNKNOWN)})
        return NOTHING

    def _local_method(self, node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
        """The method that the class defines, or inherits from another class of this file."""
        queue, seen = [node], {node}
        while queue:
            current = queue.pop(0)
            methods = [s for s in current.body if isinstance(s, ast.FunctionDef) and s.name == name]
            if methods:
                return methods[-1]
            held = [v.node for base in current.bases for v in self._evaluate(base) if isinstance(v, Local)]
            queue += [n for n in held if isinstance(n, ast.ClassDef) and n not in seen]
            seen.update(queue)
        return None
