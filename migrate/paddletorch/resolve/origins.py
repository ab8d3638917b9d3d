"""Which framework code and values come from: an object is the source's because of where it comes from.

A value that an API made is of that API's framework. Of any other value, the code around it tells: the innermost
function or class that uses one framework's names, and no other's, is written for that one. Code that uses neither is
what the code that it names, or that names it, is, or what the module imports.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

from paddletorch.model import PACKAGES, Framework
from paddletorch.resolve.evaluator.evaluator import Evaluator
from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.scopes.innermost import Innermost
from paddletorch.resolve.scopes.scopes import ScopeTree
from paddletorch.resolve.values import Instance, Local, Method, Qualified, Value

_Unit = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None
"""A function or class with all that stands in it, or the statements of the module itself."""

_UNITS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_Found = frozenset[Framework]
_NOTHING: _Found = frozenset()
_SHIM = "paddletorch_shim"
"""What converted code calls: no source has it."""


class Origins:
    """The framework of the code and the values of one module; found when first asked for."""

    def __init__(self, tree: ScopeTree, evaluator: Evaluator, target: Framework) -> None:
        self._tree = tree
        self._evaluator = evaluator
        self._target = target
        self._source: Framework = "torch" if target == "paddle" else "paddle"
        self._roots: dict[str, Framework] = {root: side for side, roots in PACKAGES.items() for root in roots}
        self._roots[_SHIM] = target
        self._of_units: dict[_Unit, _Found] = {}
        self._of_named_units: dict[int, _Found] = {}
        """The same of all functions and classes of one name, by the identity of its bindings."""

    def is_sources(self, node: ast.AST) -> bool:
        """Whether the value of an expression, or the code of a statement, certainly comes from the source.

        Where no code of the target is, everything does.
        """
        if not self.has_target:
            return True
        return self._is_only_sources(self._of(node))

    def may_be_sources(self, node: ast.expr) -> bool:
        """Whether nothing shows that the value of an expression comes from the target."""
        if not self.has_target:
            return True
        found = self._of(node)
        return not found or self._source in found

    def _of(self, node: ast.AST) -> _Found:
        """The frameworks that the value of an expression, or a statement, may come from; none if nothing tells."""
        made = self._of_values(self._evaluator.values(node)) if isinstance(node, ast.expr) else _NOTHING
        found = made or self.of_code(node)
        return (self._by_uses(node) or found) if len(found) != 1 and isinstance(node, ast.Name) else found

    def _by_uses(self, name: ast.Name) -> _Found:
        """The frameworks whose functions and methods a variable is passed to: ``scaler.step(optimizer)``."""
        scope = self._tree.scopes.get(name)
        loads = self._tree.reads(scope.lookup(name.id)) if scope is not None else ()
        calls = ((load, self._tree.parents.get(load)) for load in loads)
        takers = [call.func for load, call in calls if isinstance(call, ast.Call) and load in call.args]
        return frozenset(side for taker in takers for side in self._of_named(taker))

    def _is_only_sources(self, found: _Found) -> bool:
        return bool(found) and self._target not in found

    @cached_property
    def has_target(self) -> bool:
        """Whether the module imports the target anywhere, or names it without an import; else nothing is asked."""
        roots = {alias.name.partition(".")[0] for node in self._tree.of_kind(ast.Import) for alias in node.names}
        roots |= {(one.module or "").partition(".")[0] for one in self._tree.of_kind(ast.ImportFrom) if not one.level}
        roots |= self._roots.keys() & self._tree.names.keys()
        return any(self._roots.get(root) == self._target for root in roots)

    def of_code(self, node: ast.AST) -> _Found:
        """The frameworks that the innermost function or class around ``node`` is written for; none if nothing tells."""
        if not self.has_target and self._of_module:
            return self._of_module
        unit = self._units.around(node)
        return self._of_unit(unit if isinstance(unit, _UNITS) else None)

    def _of_values(self, values: Iterable[Value]) -> _Found:
        """The frameworks that made any of the values, as far as they say so."""
        roots = {value.api.partition(".")[0] for value in values if isinstance(value, Instance)}
        roots |= {value.root for value in values if isinstance(value, Method)}
        return frozenset(self._roots[root] for root in roots if root in self._roots)

    # code --------------------------------------------------------------------------------------------

    @cached_property
    def _units(self) -> Innermost:
        return Innermost(self._tree.parents, _UNITS)

    @cached_property
    def _own(self) -> dict[ast.AST | None, set[Framework]]:
        """The frameworks that each function, class and the module name themselves, outside of those in them.

        What no import gives, such as ``GradScaler`` in an example, tells only where nothing else does.
        """
        names = self._tree.names.keys()
        found = self._naming((self._tree.imported | self._roots.keys()) & names)
        return self._naming(self._evaluator.bare.keys() & names) | found

    def _naming(self, names: Iterable[str]) -> dict[ast.AST | None, set[Framework]]:
        """The frameworks of the names, by the function or class that has them."""
        found: dict[ast.AST | None, set[Framework]] = {}
        for name in names:
            for load in self._tree.names[name]:
                if sides := self._named(load):
                    found.setdefault(self._units.around(load), set()).update(sides)
        return found

    @cached_property
    def _whole(self) -> dict[ast.AST | None, set[Framework]]:
        """The same with those in them."""
        found: dict[ast.AST | None, set[Framework]] = {}
        for unit, sides in self._own.items():
            around = unit
            while around is not None:
                found.setdefault(around, set()).update(sides)
                around = self._around(around)
        return found

    def _around(self, unit: ast.AST) -> ast.AST | None:
        parent = self._tree.parents.get(unit)
        return self._units.around(parent) if parent is not None else None

    def _named(self, load: ast.Name) -> Iterable[Framework]:
        """The frameworks of which an import, or nothing at all, gives this name."""
        bindings = self._tree.scopes[load].lookup(load.id)
        if bindings:
            names: Iterable[str] = [b.qualified for b in bindings if b.qualified is not None]
        else:
            names = self._evaluator.bare.get(load.id, (load.id,))
        roots = [name.partition(".")[0] for name in names]
        return [self._roots[root] for root in roots if root in self._roots]

    def _of_unit(self, unit: _Unit) -> _Found:
        if unit not in self._of_units:
            self._of_units[unit] = _NOTHING  # what calls itself says nothing of itself
            self._of_units[unit] = self._found_of_unit(unit)
        return self._of_units[unit]

    def _found_of_unit(self, unit: _Unit) -> _Found:
        if unit is None:
            return frozenset(self._own.get(None, ())) or self._of_module
        if isinstance(unit, ast.ClassDef):
            found = frozenset(self._own.get(unit, ())) or self._of_bases(unit) or frozenset(self._whole.get(unit, ()))
        else:
            found = frozenset(self._whole.get(unit, ()))
        if found := found | self._by_names(unit, with_code=not found):
            return found
        around = self._around(unit)
        if isinstance(around, _UNITS):
            return self._of_unit(around)
        return self._of_readers(unit) or self._of_module

    def _of_bases(self, unit: ast.ClassDef) -> _Found:
        return frozenset(side for base in unit.bases for side in self._of_named(base))

    def _of_named(self, node: ast.expr, *, with_code: bool = True) -> _Found:
        """The frameworks of what the expression names: an API, an object or, ``with_code``, code of the module."""
        found: set[Framework] = set()
        for value in self._evaluator.values(node):
            if isinstance(value, Qualified):
                side = self._roots.get(value.name.partition(".")[0])
                found |= {side} if side is not None else set()
            elif isinstance(value, Local):
                found |= self._of_unit(value.node) if with_code and isinstance(value.node, _UNITS) else _NOTHING
            else:
                found |= self._of_values((value,))
        return frozenset(found)

    def _by_names(self, unit: _Unit, *, with_code: bool) -> _Found:
        """The frameworks of what a function names that it does not bind itself, also through names of the module."""
        found: set[Framework] = set()
        own = self._tree.own[unit].bindings if unit is not None else {}
        for load in self._loads.get(unit, ()):
            if load.id not in own and self._tree.scopes[load].lookup(load.id):
                found |= self._of_named(load, with_code=with_code)
        return frozenset(found)

    @cached_property
    def _loads(self) -> dict[ast.AST | None, list[ast.Name]]:
        found: dict[ast.AST | None, list[ast.Name]] = {}
        for load in self._tree.loads:
            found.setdefault(self._units.around(load), []).append(load)
        return found

    def _of_readers(self, unit: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> _Found:
        """The frameworks of the code that names a function or class, outside of all that have its name."""
        scope = self._tree.own[unit].parent
        bindings: list[Binding] = scope.lookup(unit.name) if scope is not None else []
        if id(bindings) not in self._of_named_units:
            self._of_named_units[id(bindings)] = _NOTHING  # while it is looked up
            readers = {self._units.around(load) for load in self._tree.reads(bindings)} - {b.node for b in bindings}
            found = (self._of_unit(one if isinstance(one, _UNITS) else None) for one in readers)
            self._of_named_units[id(bindings)] = frozenset(side for sides in found for side in sides)
        return self._of_named_units[id(bindings)]

    @cached_property
    def _of_module(self) -> _Found:
        """The framework that the module imports for all of its code, or else that of most functions and classes."""
        names = (b.qualified for bindings in self._tree.scope.bindings.values() for b in bindings if b.qualified)
        modules = (*names, *(star.module or "" for star in self._tree.stars))
        roots = {name.partition(".")[0] for name in modules}
        imported = frozenset(self._roots[root] for root in roots if root in self._roots)
        if len(imported) == 1:
            return imported
        named = [frozenset(sides) for sides in (*self._whole.values(), self._own.get(None, ()))]
        counts = {side: named.count(frozenset({side})) for side in (self._source, self._target)}
        most = [side for side, count in counts.items() if count > sum(counts.values()) - count]
        return frozenset(most) if most or imported else frozenset(side for sides in named for side in sides)
