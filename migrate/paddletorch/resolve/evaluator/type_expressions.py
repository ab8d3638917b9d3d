"""Expressions that name types: annotations, and the types of checks such as ``isinstance``."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from paddletorch.resolve.evaluator.classes import Classes
from paddletorch.resolve.evaluator.environment import Environment
from paddletorch.resolve.evaluator.operations import is_foreign
from paddletorch.resolve.evaluator.solver import Solver
from paddletorch.resolve.scopes.bindings import Scope
from paddletorch.resolve.values import NOTHING, UNKNOWN, Instance, Qualified, Value, Values, container, foreign

_BUILTINS = {
    **{name: foreign(name) for name in ("int", "float", "str", "bool")},
    **{name: container(UNKNOWN) for name in ("list", "tuple", "dict", "set")},
}
"""Instances of builtin types, for checks."""

_NUMBERS = frozenset({"int", "float", "bool"})

_TRACED_TENSOR = re.compile(r"(?:bf16|b8|[fiuc]\d{1,3}\w{0,8})\[")
"""How graphs that torch prints annotate tensors, ``f32[2, 3]``, and below whole numbers: ``Sym(s0)``."""
_TRACED_SIZE = re.compile(r"Sym\(")

_WRAPPERS = frozenset({"Optional", "Union", "Final", "ClassVar", "Annotated"})
_MAPPINGS = frozenset({"Dict", "Mapping", "MutableMapping", "OrderedDict", "dict"})
_CONTAINERS = frozenset({"List", "Sequence", "Iterable", "list", "tuple", "set", "Tuple", "Set"})


class TypeExpressions:
    """Instances of the types that an expression names."""

    def __init__(self, environment: Environment, solver: Solver[Value], classes: Classes) -> None:
        self._tree = environment.tree
        self._types = environment.types
        self._evaluate = solver.evaluate
        self._classes = classes

    def annotated(self, annotation: ast.expr | None, scope: Scope) -> Values:
        """What an annotation says that a value is; nothing if it names no tracked type."""
        if annotation is None:
            return NOTHING
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            if _TRACED_TENSOR.match(annotation.value):
                return frozenset({Instance("tensor", "torch.Tensor")})
            if _TRACED_SIZE.match(annotation.value):
                return foreign("int")
        if isinstance(annotation, ast.Constant) and annotation in self._tree.string_annotations:
            return self.annotated(self._tree.string_annotations[annotation], scope)
        if isinstance(annotation, ast.BinOp):
            return self._union([annotation.left, annotation.right], scope)
        if isinstance(annotation, ast.Constant) and annotation.value is None:
            return NOTHING
        if isinstance(annotation, ast.Subscript):
            return self._generic(annotation, scope)
        found: Values = NOTHING
        if isinstance(annotation, ast.Name) and annotation.id in _NUMBERS and not scope.lookup(annotation.id):
            return foreign(annotation.id)
        if isinstance(annotation, ast.Name | ast.Attribute):
            for value in self._evaluate(annotation):
                found |= self._classes.instance_of(value) - UNKNOWN
                if isinstance(value, Qualified) and is_foreign(value.name):
                    found |= foreign(value.name)
        return found

    def narrowed(self, values: Values, types: ast.expr) -> Values:
        """``values`` where a check has found them to be of one of ``types``."""
        checked = self._checked(types)
        if not checked:
            return values
        names = {v.type for v in checked if isinstance(v, Instance)} - {"foreign", ""}
        fitting = frozenset(
            v for v in values if isinstance(v, Instance) and not names.isdisjoint(self._types.bases(v.type))
        )
        return fitting if fitting and values.isdisjoint(UNKNOWN) else fitting | checked

    def _union(self, annotations: Sequence[ast.expr], scope: Scope) -> Values:
        """The members of a union; those of no tracked type, if there are others, are Unknown."""
        found: Values = NOTHING
        has_others = False
        for annotation in annotations:
            member = self.annotated(annotation, scope)
            is_none = isinstance(annotation, ast.Constant) and annotation.value is None
            has_others = has_others or not (member or is_none)
            found |= member
        return found | UNKNOWN if found and has_others else found

    def _generic(self, annotation: ast.Subscript, scope: Scope) -> Values:
        base = annotation.value
        name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
        inner = annotation.slice
        parameters = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        found = self._union(parameters, scope) if name == "Union" else NOTHING
        for parameter in parameters if name != "Union" else ():
            found |= self.annotated(parameter, scope)
        if name in _MAPPINGS:
            found = self.annotated(parameters[-1], scope)
        if not found or name not in _WRAPPERS | _CONTAINERS | _MAPPINGS:
            return NOTHING
        return found if name in _WRAPPERS else container(found)

    def _checked(self, types: ast.expr) -> Values:
        """Instances of the types that a check names; nothing if one of them is not known."""
        if isinstance(types, ast.Tuple | ast.List | ast.Set):
            each = [self._checked(t) for t in types.elts]
            return frozenset(v for found in each for v in found) if all(each) else NOTHING
        if isinstance(types, ast.BinOp):
            left, right = self._checked(types.left), self._checked(types.right)
            return left | right if left and right else NOTHING
        if not isinstance(types, ast.Name | ast.Attribute):
            return NOTHING
        if isinstance(types, ast.Name) and types.id in _BUILTINS and not self._tree.scopes[types].lookup(types.id):
            return _BUILTINS[types.id]
        found: Values = NOTHING
        for value in self._evaluate(types):
            if isinstance(value, Qualified) and is_foreign(value.name):
                found |= foreign(value.name)
            else:
                found |= self._classes.instance_of(value)
        return NOTHING if found.intersection(UNKNOWN) else found
