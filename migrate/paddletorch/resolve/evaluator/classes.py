"""Classes of the project: their instances, and the methods that they define."""

from __future__ import annotations

import ast
from collections import deque
from dataclasses import replace

from paddletorch.resolve.evaluator.environment import Environment
from paddletorch.resolve.evaluator.keeping_decorators import is_kept
from paddletorch.resolve.evaluator.solver import Solver
from paddletorch.resolve.values import NOTHING, UNKNOWN, Instance, Local, OpaqueFunction, Qualified, Value, Values


class Classes:
    """Instances and methods of classes that this module, another one or a framework defines."""

    def __init__(self, environment: Environment, solver: Solver[Value]) -> None:
        self._types = environment.types
        self._external = environment.external
        self._evaluate = solver.evaluate
        self._methods: dict[ast.ClassDef, tuple[frozenset[str], dict[str, ast.FunctionDef]]] = {}

    def _methods_of(self, node: ast.ClassDef) -> tuple[frozenset[str], dict[str, ast.FunctionDef]]:
        """The names of the methods that the class itself defines, and by its name each that is no coroutine."""
        found = self._methods.get(node)
        if found is None:
            names = frozenset(s.name for s in node.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef))
            methods = {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}
            found = self._methods[node] = names, methods
        return found

    def instance_of(self, value: Value) -> Values:
        """An instance of a class; nothing if the value is no class that is known."""
        if isinstance(value, Qualified):
            made = self._types.makes(value.name)
            return frozenset({Instance(made, value.name)}) if made else self._external.instance(value.name)
        if isinstance(value, Local) and isinstance(value.node, ast.ClassDef):
            return self.local_instance(value.node)
        return NOTHING

    def local_instance(self, node: ast.ClassDef) -> Values:
        """An instance of a class of this module; unknown if it inherits from something unknown."""
        own = self._methods_of(node)[0]
        plain: Values = NOTHING
        for base in node.bases:
            for value in self._evaluate(base):
                if isinstance(value, Local) and value.node is node:
                    continue
                inherited = self.instance_of(value) - UNKNOWN
                if inherited and all(isinstance(v, Instance) and not v.type for v in inherited):
                    own = own.union(*(v.overrides for v in inherited if isinstance(v, Instance)))
                    plain = plain or inherited  # a class beside it may be a framework's
                elif inherited:
                    return _derived(inherited, own, node)
        if plain:
            return _derived(plain, own, node)
        has_no_base = all(isinstance(base, ast.Name) and base.id == "object" for base in node.bases)
        if has_no_base and _hands_arguments_on(self._methods_of(node)[1].get("__init__")):
            own -= {"__init__"}
        return frozenset({Instance("", node.name, own, node)}) if has_no_base else UNKNOWN

    def method(self, instance: Instance, name: str) -> Values:
        """A method that a class of the project defines, in this module or another; nothing if none does."""
        if name not in instance.overrides:
            return NOTHING
        method = self._local_method(instance.node, name) if instance.node is not None else None
        if method is not None:
            return frozenset({Local(method)}) if is_kept(method, self._evaluate) else UNKNOWN
        if instance.external_class:
            return frozenset({OpaqueFunction(self._external.method(instance.external_class, name) or UNKNOWN)})
        return NOTHING

    def _local_method(self, node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
        """The method that the class defines, or inherits from another class of this module."""
        queue, seen = deque([node]), {node}
        while queue:
            current = queue.popleft()
            method = self._methods_of(current)[1].get(name)
            if method is not None:
                return method
            bases = [v.node for base in current.bases for v in self._evaluate(base) if isinstance(v, Local)]
            queue += [n for n in bases if isinstance(n, ast.ClassDef) and n not in seen]
            seen.update(queue)
        return None


def _derived(inherited: Values, own: frozenset[str], node: ast.ClassDef) -> Values:
    """Instances of a class with these methods of its own, by what its base's instances are."""
    return frozenset(
        replace(v, overrides=v.overrides | own, node=node) if isinstance(v, Instance) else v for v in inherited
    )


def _hands_arguments_on(constructor: ast.FunctionDef | None) -> bool:
    """Whether a mixin's constructor takes whatever comes and gives it to the next class: it changes no name."""
    if constructor is None or constructor.args.vararg is None or constructor.args.kwarg is None:
        return False
    arguments = constructor.args
    if len(arguments.args) != 1 or arguments.posonlyargs or arguments.kwonlyargs:
        return False
    handed = f".__init__(*{constructor.args.vararg.arg}, **{constructor.args.kwarg.arg})"
    texts = [ast.unparse(s.value) for s in constructor.body if isinstance(s, ast.Expr)]
    return any(text.startswith("super(") and text.endswith(")" + handed) for text in texts)
