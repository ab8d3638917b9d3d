"""Which object an expression is: the calls that made it and the variable that holds it, never its name."""

from __future__ import annotations

import ast
from collections.abc import Collection, Hashable, Iterator, Sequence
from functools import cached_property

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding, Instance, NoneValue, Scope, Unknown
from paddletorch.resolve.evaluator.call_index import argument_of, is_method
from paddletorch.resolve.values import Local

_FOLLOWED = 64
"""After so many expressions none is followed any more."""

_COPIES = frozenset({"copy.copy", "copy.deepcopy", "dict"})

Makers = frozenset[ast.Call]

_STEPS = frozenset({"step", "minimize", "unscale_"})
"""Methods of a scaler that take an optimizer and do not keep it."""


class Allocations:
    """The objects of one file: two functions with an ``optimizer`` have two, as have two classes with ``self.opt``."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._tree = view.tree
        self._owners: dict[tuple[ast.ClassDef, str], ast.ClassDef] = {}
        self._escaping: dict[ast.Call, bool] = {}
        self._origins: dict[ast.expr, list[ast.expr]] = {}

    def makers(self, node: ast.expr) -> Makers | None:
        """The calls of this file that made what ``node`` is; None if it may be made elsewhere."""
        values = [v for v in self._view.evaluator.objects(node) if not isinstance(v, NoneValue)]
        calls = [v.call if isinstance(v, Instance) else None for v in values]
        return frozenset(call for call in calls if call is not None) if calls and None not in calls else None

    def variable(self, node: ast.expr) -> Hashable | None:
        """What holds the object, the same for all expressions that read it; None if that is no variable.

        An attribute of ``self`` is one of the class, or of the class of this file that it inherits the attribute from.
        """
        if isinstance(node, ast.Name):
            return id(self._bindings(node)) if self._bindings(node) else node.id
        if isinstance(node, ast.Attribute):
            owner = self._view.evaluator.class_of_self(node)
            base = self._owner(owner, node.attr) if owner is not None else self.variable(node.value)
            return None if base is None else (base, node.attr)
        if isinstance(node, ast.Subscript):
            base = self.variable(node.value)
            return None if base is None else (base, ast.dump(node.slice))
        return None

    def is_same(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether both certainly are one object: they read one variable, which is not bound anew between them."""
        variable = self.variable(one)
        return variable is not None and variable == self.variable(other) and self._values(one) == self._values(other)

    def may_be_same(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether both may be one object; what nobody sees may be any object that leaves its function."""
        made, other_made = self.makers(one), self.makers(other)
        if made is not None and other_made is not None:
            return not made.isdisjoint(other_made) or (
                (self._is_given(other) and any(map(self.escapes, made)))
                or (self._is_given(one) and any(map(self.escapes, other_made)))
            )
        variable = self.variable(one)
        if variable is not None and variable == self.variable(other):
            return True
        return any(map(self.escapes, made or other_made or ())) or (made is None and other_made is None)

    def identities(self, node: ast.expr) -> frozenset[Hashable]:
        """The variable and the calls by which the file shows what the object is; two that share one can be the same."""
        variable = self.variable(node)
        return (self.makers(node) or frozenset()) | (frozenset() if variable is None else {variable})

    def _is_given(self, node: ast.expr, level: int = 4) -> bool:
        """Whether callers of a function, of which other files may have more, pass the object."""
        bound = self._view.evaluator.reaching(node) if isinstance(node, ast.Name) else ()
        if any(b.kind == "parameter" for b in bound):
            return not all(self._is_closed(b.scope) for b in bound)
        return bool(level) and any(v is None or self._is_given(v, level - 1) for v in self.assigned(node))

    def _is_closed(self, function: Scope) -> bool:
        """Whether this is a function inside another one that is only called by its name."""
        inside, name = function.parent, getattr(function.node, "name", "")
        if inside is None or inside.kind != "function" or not name:
            return False
        reads = self._tree.reads(inside.bindings.get(name, ()))
        return all(getattr(self._view.parent(read), "func", None) is read for read in reads)

    def assigned(self, node: ast.expr) -> Iterator[ast.expr | None]:
        """The expressions that the variable can hold where it is read, the branches of conditions one by one.

        Of what is unpacked, the whole; None for what is bound otherwise.
        """
        values: Sequence[ast.expr | None] = ()
        if isinstance(node, ast.Name):
            bound = self._view.evaluator.reaching(node)
            values = [b.value if b.kind in ("assign", "unpack") else None for b in bound if b.kind != "delete"]
        elif isinstance(node, ast.Attribute):
            stores = self._view.evaluator.stores_of(node)
            values = [s.value if s.value is not None else self._unpacked(s.target) for s in stores]
        for value in values:
            yield from (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)

    def origins(self, node: ast.expr) -> list[ast.expr]:
        """The expressions whose value this one may be: by names, attributes, branches, copies, arguments and results.

        What cannot be followed further stands for itself.
        """
        if node in self._origins:
            return self._origins[node]
        self._origins[node] = [node]  # while it is looked up: an element may be put where it comes from
        found: dict[ast.expr, None] = {}
        seen: set[ast.expr] = set()
        waiting = [node]
        while waiting and len(seen) < _FOLLOWED:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            before = self._before(one)
            found.update({} if before else {one: None})
            waiting += before
        self._origins[node] = list(found)
        return self._origins[node]

    def _before(self, node: ast.expr) -> list[ast.expr]:
        match node:
            case ast.NamedExpr() | ast.Starred():
                return [node.value]
            case ast.IfExp():
                return [node.body, node.orelse]
            case ast.BoolOp():
                return node.values
            case ast.Name():
                bound = self._view.evaluator.reaching(node)
                given = [one for b in bound if b.kind == "parameter" for one in self._arguments(b)]
                return [b.value for b in bound if b.kind == "assign" and b.value is not None] + given
            case ast.Attribute():
                return [one for one in self.assigned(node) if one is not None]
            case ast.Subscript():
                return self._element(node)
            case ast.Call():
                if node.args and (node.func.__class__ is ast.Name or isinstance(node.func, ast.Attribute)):
                    name = self._view.qualified(node.func) or getattr(node.func, "id", "")
                    if name in _COPIES:
                        return node.args[:1]
                functions = (v.node for v in self._view.evaluator.values(node.func) if isinstance(v, Local))
                scopes = (self._tree.own.get(f) for f in functions if not isinstance(f, ast.ClassDef))
                return [one for scope in scopes if scope is not None for one in scope.returns if one is not None]
        return []

    def _element(self, node: ast.Subscript) -> list[ast.expr]:
        """What the file puts at the key: in a display, or by an assignment to it."""
        if not isinstance(node.slice, ast.Constant):
            return []
        found = list(self._set_elements.get(self.variable(node), ()))
        for held in self.origins(node.value) if isinstance(node.value, ast.Name | ast.Attribute) else (node.value,):
            if isinstance(held, ast.Dict):
                keys = [isinstance(k, ast.Constant) and k.value == node.slice.value for k in held.keys]
                found += [value for value, is_it in zip(held.values, keys, strict=True) if is_it]
        return found

    @cached_property
    def _set_elements(self) -> dict[Hashable, list[ast.expr]]:
        found: dict[Hashable, list[ast.expr]] = {}
        for node in self._tree.of_kind(ast.Subscript):
            parent = self._view.parent(node) if isinstance(node.ctx, ast.Store) else None
            if isinstance(parent, ast.Assign) and (variable := self.variable(node)) is not None:
                found.setdefault(variable, []).append(parent.value)
        return found

    def _arguments(self, parameter: Binding) -> Iterator[ast.expr]:
        """What the calls of this file pass for the parameter of a function or method."""
        function = parameter.scope.node
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for call in self._view.evaluator.calls.of(function):
                given = argument_of(call, function, parameter.name, is_method(parameter.scope))
                yield from () if given is None else (given,)

    def _unpacked(self, target: ast.expr) -> ast.expr | None:
        """What is unpacked into the target."""
        parent = self._view.parent(target)
        while isinstance(parent, ast.Tuple | ast.List | ast.Starred):
            parent = self._view.parent(parent)
        return parent.value if isinstance(parent, ast.Assign) else None

    def reads(self, target: ast.expr) -> Sequence[ast.expr]:
        """Every expression of the file that reads, or may read, what is assigned to the name or attribute."""
        if isinstance(target, ast.Name):
            return self._tree.reads(self._bindings(target))
        if not isinstance(target, ast.Attribute):
            return ()
        same = (node for node in self._view.evaluator.same_attribute(target) if isinstance(node.ctx, ast.Load))
        return [node for node in same if self._view.qualified(node) is None]

    def escapes(self, call: ast.Call) -> bool:
        """Whether code that this file does not show may get what ``call`` makes."""
        if call not in self._escaping:
            self._escaping[call] = True  # while it is looked up
            self._escaping[call] = self._is_passed_on(call, 4)
        return self._escaping[call]

    def _is_passed_on(self, node: ast.expr, level: int) -> bool:
        """Whether the expression is stored, returned or passed where its uses are not seen."""
        user = self._view.parent(node)
        if isinstance(user, ast.keyword):
            user = self._view.parent(user)
        if isinstance(user, ast.Attribute | ast.Expr | ast.Compare | ast.If | ast.UnaryOp | ast.FormattedValue):
            return False
        if isinstance(user, ast.BoolOp) and level:
            return self._is_passed_on(user, level - 1)
        if isinstance(user, ast.Assign) and level:
            names = [target for target in user.targets if isinstance(target, ast.Name)]
            local = all(self._tree.scopes[n].function().kind == "function" for n in names)
            if not local or len(names) < len(user.targets):
                return True
            return any(self._is_passed_on(r, level - 1) for n in names for r in self._tree.reads(self._bindings(n)))
        if isinstance(user, ast.Call) and level and node is not user.func:
            if isinstance(user.func, ast.Attribute) and user.func.attr in _STEPS:
                return False
            made = self._view.evaluator.values(user)
            if made and all(isinstance(v, Instance) and v.type == "scheduler" and v.call is user for v in made):
                return self._is_passed_on(user, level - 1)  # it keeps the optimizer
            parameters = self.parameters(user, node)
            return parameters is None or any(
                self._is_passed_on(read, level - 1) for b in parameters for read in self._tree.reads(b)
            )
        return True

    def parameters(self, call: ast.Call, argument: ast.expr) -> list[list[Binding]] | None:
        """The bindings of the parameters of this file's functions that get the argument; None if others may get it."""
        values = self._view.evaluator.values(call.func)
        found: list[list[Binding]] = []
        for value in values:
            function = value.node if isinstance(value, Local) else None
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or isinstance(value, Unknown):
                return None
            name = _parameter(call, argument, function)
            if name is None:
                return None
            found.append(self._tree.own[function].bindings.get(name, []))
        return found or None

    def _values(self, node: ast.expr) -> Collection[object]:
        root = node
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        return frozenset(map(id, self._view.evaluator.reaching(root))) if isinstance(root, ast.Name) else ()

    def _bindings(self, name: ast.Name) -> list[Binding]:
        scope = self._tree.scopes.get(name)
        return scope.lookup(name.id) if scope is not None else []

    def _owner(self, around: ast.ClassDef, name: str) -> ast.ClassDef:
        """The class of the family that stores to the attribute, the first of several; this one if none does."""
        if (around, name) not in self._owners:
            evaluator, found = self._view.evaluator, [around]
            family = {scope.node for scope in evaluator.families.of(self._tree.own[around])}
            storing = (evaluator.class_of_self(store.target) for store in evaluator.stores(name))
            found += [one for one in storing if one is not None and one in family]
            self._owners[around, name] = min(found[1:] or found, key=lambda one: one.lineno)
        return self._owners[around, name]


def _parameter(call: ast.Call, argument: ast.expr, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """The parameter of a plain function that gets the argument of the call."""
    named = next((k.arg for k in call.keywords if k.value is argument), None)
    if named is not None:
        return named
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if argument not in call.args or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    place = call.args.index(argument)
    return names[place] if place < len(names) else None
