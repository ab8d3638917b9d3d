"""Which object an expression is: the calls that made it and the variable that holds it, never its name."""

from __future__ import annotations

import ast
from collections.abc import Collection, Hashable, Iterator, Sequence

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding, Instance, NoneValue, Qualified, Scope, Unknown
from paddletorch.resolve.values import Local

Makers = frozenset[ast.Call]

_STEPS = frozenset({"step", "minimize", "unscale_"})
"""Methods of a scaler that take an optimizer and do not keep it."""


class Allocations:
    """The objects of one file: two functions with an ``optimizer`` have two, as have two classes with ``self.opt``."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._tree = view.tree
        self._owners: dict[tuple[Scope, str], Scope] = {}
        self._escaping: dict[ast.Call, bool] = {}

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
            owner = self._class_of_self(node.value)
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
            stores = self._view.evaluator.stores(node.attr)
            variable = self.variable(node)
            own = [s for s in stores if variable is None or self.variable(s.target) == variable]
            values = [s.value if s.value is not None else self._unpacked(s.target) for s in own]
        for value in values:
            yield from (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)

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
        loads = (n for n in self._tree.members.get(target.attr, ()) if isinstance(n.ctx, ast.Load))
        return [load for load in loads if self._may_read(load, target)]

    def _may_read(self, load: ast.Attribute, target: ast.Attribute) -> bool:
        if self.variable(load) == self.variable(target):
            return True
        owner, other = self._class_of_self(target.value), self._class_of_self(load.value)
        if owner is not None and other is not None:
            return False
        made, values = self.makers(target), self._view.evaluator.objects(load)
        known = bool(values) and all(isinstance(v, Qualified) or getattr(v, "call", None) is not None for v in values)
        return not known or made is None or any(isinstance(v, Instance) and v.call in made for v in values)

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
        if isinstance(
            user, ast.Attribute | ast.Expr | ast.Compare | ast.BoolOp | ast.If | ast.UnaryOp | ast.FormattedValue
        ):
            return False
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

    def _class_of_self(self, node: ast.expr) -> Scope | None:
        """The class in whose method ``node`` is the first parameter."""
        bindings = self._bindings(node) if isinstance(node, ast.Name) else []
        if len(bindings) != 1 or bindings[0].kind != "parameter":
            return None
        scope = bindings[0].scope
        arguments = getattr(scope.node, "args", None)
        first = next(iter([*arguments.posonlyargs, *arguments.args]), None) if arguments is not None else None
        is_first = first is bindings[0].node and scope.parent is not None and scope.parent.kind == "class"
        return scope.parent if is_first else None

    def _owner(self, scope: Scope, name: str) -> Scope:
        """The topmost class among this one and its bases in this file that stores to the attribute, or this one."""
        key = scope, name
        if key not in self._owners:
            self._owners[key] = scope  # of classes that inherit from themselves
            for base in getattr(scope.node, "bases", ()):
                for value in self._view.evaluator.values(base):
                    inner = self._tree.own.get(value.node) if isinstance(value, Local) else None
                    if inner is not None and inner.kind == "class":
                        above = self._owner(inner, name)
                        if any(self._class_of_self(s.target.value) is above for s in self._view.evaluator.stores(name)):
                            self._owners[key] = above
        return self._owners[key]


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
