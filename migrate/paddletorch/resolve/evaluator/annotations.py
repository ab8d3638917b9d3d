"""Types that a file states: in annotations, and in checks such as ``isinstance``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch.resolve.evaluator.classes import Classes
from paddletorch.resolve.evaluator.expressions import is_foreign, plain
from paddletorch.resolve.scopes.bindings import Scope
from paddletorch.resolve.values import NOTHING, UNKNOWN, Instance, Qualified, Values, container

_BUILTINS = {
    **{name: plain(name) for name in ("int", "float", "str", "bool")},
    **{name: container(UNKNOWN) for name in ("list", "tuple", "dict", "set")},
}
"""What a check for a builtin type says."""

_NUMBERS = frozenset({"int", "float", "bool"})

_WRAPPERS = frozenset({"Optional", "Union", "Final", "ClassVar", "Annotated"})
_MAPPINGS = frozenset({"Dict", "Mapping", "MutableMapping", "OrderedDict", "dict"})
_CONTAINERS = frozenset({"List", "Sequence", "Iterable", "list", "tuple", "set", "Tuple", "Set"})


class StatedTypes(Classes):
    """Instances of the types that annotations and checks name."""

    def _annotated(self, annotation: ast.expr | None, scope: Scope) -> Values:
        """Instances that an annotation promises; nothing if it names no tracked type."""
        if annotation is None:
            return NOTHING
        if isinstance(annotation, ast.Constant) and annotation in self.tree.quoted:
            return self._annotated(self.tree.quoted[annotation], scope)
        if isinstance(annotation, ast.BinOp):
            return self._one_of([annotation.left, annotation.right], scope)
        if isinstance(annotation, ast.Constant) and annotation.value is None:
            return NOTHING
        if isinstance(annotation, ast.Subscript):
            return self._generic(annotation, scope)
        found: Values = NOTHING
        if isinstance(annotation, ast.Name) and annotation.id in _NUMBERS and not scope.lookup(annotation.id):
            return plain(annotation.id)
        if isinstance(annotation, ast.Name | ast.Attribute):
            for value in self._evaluate(annotation):
                found |= self._instance_of(value) - UNKNOWN
                if isinstance(value, Qualified) and is_foreign(value.name):
                    found |= {Instance("foreign", value.name)}
        return found

    def _one_of(self, annotations: Sequence[ast.expr], scope: Scope) -> Values:
        """What a union promises: Unknown stands for the members that are of no tracked type."""
        found: Values = NOTHING
        other = False
        for annotation in annotations:
            one = self._annotated(annotation, scope)
            other = other or not (one or (isinstance(annotation, ast.Constant) and annotation.value is None))
            found |= one
        return found | UNKNOWN if found and other else found

    def _generic(self, annotation: ast.Subscript, scope: Scope) -> Values:
        base = annotation.value
        name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
        inner = annotation.slice
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        found = self._one_of(parts, scope) if name == "Union" else NOTHING
        for part in parts if name != "Union" else ():
            found |= self._annotated(part, scope)
        if name in _MAPPINGS:
            found = self._annotated(parts[-1], scope)
        if not found or name not in _WRAPPERS | _CONTAINERS | _MAPPINGS:
            return NOTHING
        return found if name in _WRAPPERS else container(found)

    def _narrowed(self, values: Values, types: ast.expr) -> Values:
        """``values`` where a check has found them to be of one of ``types``."""
        checked = self._checked(types)
        if not checked:
            return values
        kinds = {v.type for v in checked if isinstance(v, Instance)} - {"foreign", ""}
        kept = frozenset(
            v for v in values if isinstance(v, Instance) and not kinds.isdisjoint(self._types.bases(v.type))
        )
        return kept if kept and values.isdisjoint(UNKNOWN) else kept | checked

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
        if isinstance(types, ast.Name) and types.id in _BUILTINS and not self.tree.scopes[types].lookup(types.id):
            return _BUILTINS[types.id]
        found: Values = NOTHING
        for value in self._evaluate(types):
            if isinstance(value, Qualified) and is_foreign(value.name):
                found |= {Instance("foreign", value.name)}
            else:
                found |= self._instance_of(value)
        return NOTHING if found.intersection(UNKNOWN) else found
