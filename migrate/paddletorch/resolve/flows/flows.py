"""The consumers of a value: what is done with it wherever it goes in one module."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import Literal, NamedTuple

from paddletorch.resolve.evaluator.call_index import is_method, is_static
from paddletorch.resolve.evaluator.evaluator import Evaluator
from paddletorch.resolve.flows.shapes import VALUE, Shape, element, listed, mapped, method_result, part, within
from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.values import Instance, Local

Kind = Literal[
    "member", "index", "argument", "call", "operand", "compare", "test", "format", "keep", "return", "walk", "drop"
]
"""What takes the value.

A member is read or stored to, a part of it is read or written; it is passed to what the module does not define,
called, an operand (also of an assignment in place), compared, tested, formatted, kept in an attribute or under a key,
given back to a caller that is not seen, walked over, or nothing is done with it.
"""


class Consumer(NamedTuple):
    """One use of a value, or of what holds it."""

    kind: Kind
    node: ast.expr
    """The expression that is the value, or holds it, there."""
    user: ast.AST
    """What takes it: the member, subscript, call, operator or statement."""
    shape: Shape
    """How ``node`` holds it."""


_State = tuple[ast.expr, Shape]
_Called = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LISTS = frozenset({"filter", "frozenset", "iter", "list", "reversed", "set", "sorted", "tuple"})
_DICTS = frozenset({"OrderedDict", "dict"})
_ADDING = {"add": "each", "append": "each", "appendleft": "each", "insert": "each", "setdefault": "any"}
_JOINING = frozenset({"extend", "update"})


class Flows:
    """Answers for one module; what is asked for twice is found twice."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._tree = evaluator.tree

    def consumers(
        self,
        origin: ast.expr,
        shape: Shape = VALUE,
        through: Collection[str] = (),
        *,
        key: str = "",
        at_calls: bool = True,
    ) -> list[Consumer]:
        """What takes the value that ``origin`` is, or holds in this ``shape``.

        ``through`` are members and functions whose result counts as the value too, such as ``detach``. Of a mapping,
        only what is under keys that end in ``key`` counts, where the key is written out. With
        ``at_calls`` it is followed into the functions of the module that get it, and back to their calls.
        """
        walk = _Walk(self._evaluator, frozenset(through), key, at_calls)
        walk.follow(origin, shape)
        return walk.found


class _Walk:
    """One question: a worklist of expressions, each with how it holds the value."""

    def __init__(self, evaluator: Evaluator, through: frozenset[str], key: str, at_calls: bool) -> None:
        self._evaluator = evaluator
        self._tree = evaluator.tree
        self._through = through
        self._key = key
        self._at_calls = at_calls
        self._seen: set[_State] = set()
        self._pending: list[_State] = []
        self._bound: set[tuple[ast.AST, Shape]] = set()
        self.found: list[Consumer] = []

    def follow(self, origin: ast.expr, shape: Shape) -> None:
        """Find what takes the value of the expression."""
        self._go(origin, shape)
        while self._pending:
            self._evaluator.limit.check()
            self._step(*self._pending.pop())

    def _go(self, node: ast.AST | None, shape: Shape | None) -> None:
        if isinstance(node, ast.expr) and shape is not None and (node, shape) not in self._seen:
            self._seen.add((node, shape))
            self._pending.append((node, shape))

    def _take(self, kind: Kind, node: ast.expr, user: ast.AST, shape: Shape) -> None:
        self.found.append(Consumer(kind, node, user, shape))

    def _step(self, node: ast.expr, shape: Shape) -> None:
        """Find what takes the value from one expression, and where it goes from there."""
        user = self._tree.parents.get(node)
        if isinstance(user, ast.keyword):
            user = self._tree.parents.get(user)
        if isinstance(user, ast.Attribute):
            self._member(node, user, shape)
        elif isinstance(user, ast.Subscript):
            self._subscript(node, user, shape)
        elif isinstance(user, ast.Call):
            self._call(node, user, shape)
        elif isinstance(user, ast.expr):
            self._expression(node, user, shape)
        elif isinstance(user, ast.comprehension):
            if user.iter is node:
                self._walked(node, user, user.target, shape)
            else:
                self._take("test", node, user, shape)
        elif user is not None:
            self._statement(node, user, shape)

    # expressions -------------------------------------------------------------------------------------

    def _member(self, node: ast.expr, member: ast.Attribute, shape: Shape) -> None:
        call = self._tree.parents.get(member)
        is_called = isinstance(call, ast.Call) and call.func is member
        if not shape and member.attr in self._through and isinstance(member.ctx, ast.Load):
            return self._go(call if is_called else member, VALUE)
        result = method_result(shape, member.attr) if shape and is_called else None
        if result is None:
            self._take("member", node, member, shape)
        return self._go(call, result)

    def _subscript(self, node: ast.expr, subscript: ast.Subscript, shape: Shape) -> None:
        if subscript.value is not node:
            self._take("argument", node, subscript, shape)
        elif not shape:
            self._take("index", node, subscript, shape)
        elif isinstance(subscript.ctx, ast.Load):
            if not self._is_other_key(subscript.slice):
                self._go(subscript, part(shape, subscript.slice))
        else:
            self._take("keep", node, subscript, shape)

    def _is_other_key(self, index: ast.expr) -> bool:
        key = index.value if isinstance(index, ast.Constant) else None
        return isinstance(key, str) and not key.endswith(self._key)

    def _expression(self, node: ast.expr, user: ast.expr, shape: Shape) -> None:
        if isinstance(user, ast.IfExp | ast.BoolOp | ast.Await | ast.NamedExpr):
            if isinstance(user, ast.IfExp) and user.test is node:
                return self._take("test", node, user, shape)
            if isinstance(user, ast.NamedExpr):
                self._bind(user.target, shape)
            return self._go(user, shape)
        if isinstance(user, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return self._go(user, within("each", shape))
        if isinstance(user, ast.DictComp | ast.Dict):
            if isinstance(user, ast.Dict) and node in user.values and user.keys[user.values.index(node)] is None:
                return self._go(user, mapped(shape))
            values = user.values if isinstance(user, ast.Dict) else [user.value]
            return self._go(user, within("entry", shape)) if node in values else self._take("keep", node, user, shape)
        if isinstance(user, ast.List | ast.Tuple | ast.Set):
            place = user.elts.index(node)
            fixed = isinstance(user, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in user.elts[:place])
            return self._go(user, within(place if fixed else "each", shape))
        if isinstance(user, ast.Starred):
            return self._starred(node, user, shape)
        if isinstance(user, ast.Lambda):
            self._given_back(user, shape)
            return self._take("return", node, user, shape)
        if isinstance(user, ast.Yield | ast.YieldFrom):
            return self._returned(node, user, within("each", shape) if isinstance(user, ast.Yield) else listed(shape))
        if isinstance(user, ast.BinOp) and shape:
            return self._go(user, shape)  # lists that are added
        kind: Kind = "compare" if isinstance(user, ast.Compare) else "operand"
        return self._take("format" if isinstance(user, ast.FormattedValue) else kind, node, user, shape)

    def _starred(self, node: ast.expr, starred: ast.Starred, shape: Shape) -> None:
        around = self._tree.parents.get(starred)
        if isinstance(around, ast.List | ast.Tuple | ast.Set):
            self._go(around, listed(shape))
        elif isinstance(around, ast.Call):
            self._take("argument", node, around, shape)

    # calls -------------------------------------------------------------------------------------------

    def _call(self, node: ast.expr, call: ast.Call, shape: Shape) -> None:
        if call.func is node:
            return self._take("call", node, call, shape)
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        is_builtin = isinstance(call.func, ast.Name) and not self._tree.scopes[call.func].lookup(name)
        if not shape and name in self._through:
            return self._go(call, VALUE)
        if shape and (is_builtin or name in _DICTS) and self._by_builtin(node, call, name, shape):
            return None
        if isinstance(call.func, ast.Attribute) and name in _ADDING | dict.fromkeys(_JOINING):
            return self._added(node, call, call.func, shape)
        functions = (
            [v.node for v in self._evaluator.values(call.func) if isinstance(v, Local)] if self._at_calls else []
        )
        if not functions or not all(self._passed(node, call, function, shape) for function in functions):
            self._take("argument", node, call, shape)
        return None

    def _by_builtin(self, node: ast.expr, call: ast.Call, name: str, shape: Shape) -> bool:
        """Whether it is a function of Python's own that gives what the holder has."""
        if name in ("map", "filter") and node in call.args[1:]:
            place = call.args.index(node) - 1
            self._take("walk", node, call, shape)
            for function in _functions(self._evaluator, call.args[0]):
                self._into(function, place, element(shape))
            if name == "filter":
                self._go(call, listed(shape))
        elif name in _LISTS:
            self._go(call, listed(shape))
        elif name in _DICTS:
            self._go(call, mapped(shape))
        elif name == "enumerate":
            self._go(call, _in_pair(1, shape))
        elif name == "zip":
            self._go(call, _in_pair(call.args.index(node), shape) if node in call.args else None)
        elif name == "next":
            self._go(call, element(shape))
        else:
            return False
        return True

    def _added(self, node: ast.expr, call: ast.Call, method: ast.Attribute, shape: Shape) -> None:
        """``kept.append(p)``: whatever reads the list has it."""
        name = method.attr
        if name in _JOINING:
            held = mapped(shape) if name == "update" else listed(shape)
            held = held or (("each", *shape[1:]) if shape else None)
        else:
            held = within("any" if name == "setdefault" else "each", shape)
        self._take("keep", node, call, shape)
        if held is not None:
            self._reads_of(method.value, held)

    def _passed(self, node: ast.expr, call: ast.Call, function: ast.AST, shape: Shape) -> bool:
        """Whether a function of the module gets the value in a parameter that is known."""
        bound = False
        if isinstance(function, ast.ClassDef):
            methods = [s for s in function.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"]
            if not methods:
                return False
            function, bound = methods[0], True
        if not isinstance(function, _FUNCTIONS) or function not in self._tree.own:
            return False
        for keyword in call.keywords:
            if keyword.value is node:
                return keyword.arg is not None and self._into(function, keyword.arg, shape)
        if any(isinstance(one, ast.Starred) for one in call.args) or node not in call.args:
            return False
        method = is_method(self._tree.own[function]) and not is_static(function)
        return self._into(
            function, call.args.index(node) + (method and (bound or isinstance(call.func, ast.Attribute))), shape
        )

    def _into(self, function: ast.AST, parameter: int | str, shape: Shape | None) -> bool:
        """Follow the value in a parameter, by its place or name; whether there is one."""
        if shape is None or not isinstance(function, _FUNCTIONS):
            return False
        arguments = function.args
        places = [*arguments.posonlyargs, *arguments.args]
        named = [one for one in (*places, *arguments.kwonlyargs) if one.arg == parameter]
        if isinstance(parameter, int):
            named = places[parameter : parameter + 1]
        for one in named:
            self._bindings((b for b in self._tree.own[function].bindings.get(one.arg, ()) if b.node is one), shape)
        return bool(named)

    def _returned(self, node: ast.expr, user: ast.AST, shape: Shape | None) -> None:
        if shape is None:
            return
        function: ast.AST | None = user
        while function is not None and not isinstance(function, _FUNCTIONS):
            function = self._tree.parents.get(function)
        if function is not None:
            self._given_back(function, shape)
        self._take("return", node, user, shape)

    def _given_back(self, function: _Called, shape: Shape) -> None:
        """Follow what a function of the module gives to its calls, and to ``map``."""
        if not self._at_calls:
            return
        calls = self._evaluator.calls
        found = calls.of_lambda(function) if isinstance(function, ast.Lambda) else calls.of(function)
        by_name = is_method(self._tree.own[function])
        for call in found:
            if not by_name or function in _functions(self._evaluator, call.func):
                self._go(call, shape)
        for call in calls.mapped(function):
            self._go(call, within("each", shape))

    # statements --------------------------------------------------------------------------------------

    def _statement(self, node: ast.expr, user: ast.AST, shape: Shape) -> None:
        if isinstance(user, ast.Assign | ast.AnnAssign):
            for target in user.targets if isinstance(user, ast.Assign) else [user.target]:
                self._bind(target, shape, node)
        elif isinstance(user, ast.For | ast.AsyncFor) and user.iter is node:
            self._walked(node, user, user.target, shape)
        elif isinstance(user, ast.AugAssign):
            if shape and isinstance(user.target, ast.Name | ast.Attribute):
                self._reads_of(user.target, shape)
            else:
                self._take("operand", node, user, shape)
        elif isinstance(user, ast.Return):
            self._returned(node, user, shape)
        elif isinstance(user, ast.withitem):
            if user.optional_vars is not None:
                self._bind(user.optional_vars, shape)
        elif isinstance(user, ast.If | ast.While | ast.Assert):
            self._take("test", node, user, shape)
        else:
            self._take("drop", node, user, shape)

    def _walked(self, node: ast.expr, walk: ast.AST, target: ast.expr, shape: Shape) -> None:
        self._take("walk", node, walk, shape)
        found = element(shape)
        if found is not None:
            self._bind(target, found)

    def _bind(self, target: ast.expr, shape: Shape, value: ast.expr | None = None) -> None:
        """Follow what a target is bound to."""
        if isinstance(target, ast.Tuple | ast.List):
            if value is not None and shape:
                self._take("walk", value, target, shape)
            for place, one in enumerate(target.elts):
                if isinstance(one, ast.Starred):
                    self._bind_found(one.value, listed(shape))
                else:
                    self._bind_found(one, part(shape, ast.Constant(place)) if element(shape) is not None else None)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, shape)
        elif isinstance(target, ast.Name):
            scope = self._tree.scopes.get(target)
            bindings = scope.lookup(target.id) if scope is not None else []
            self._bindings((b for b in bindings if b.node is target), shape)
        elif isinstance(target, ast.Attribute):
            if value is not None:
                self._take("keep", value, target, shape)
            self._reads_of(target, shape)
        elif isinstance(target, ast.Subscript):
            if value is not None:
                self._take("keep", value, target, shape)
            held = within("any", shape)
            if held is not None:
                self._reads_of(target.value, held)

    def _bind_found(self, target: ast.expr, shape: Shape | None) -> None:
        if shape is not None:
            self._bind(target, shape)

    def _bindings(self, bindings: Iterable[Binding], shape: Shape) -> None:
        """Follow the reads that the bindings reach."""
        for binding in bindings:
            if (binding.node, shape) in self._bound:
                continue
            self._bound.add((binding.node, shape))
            every = binding.scope.bindings.get(binding.name, [])
            for load in self._tree.reads(every):
                if len(every) == 1 or any(one is binding for one in self._evaluator.reaching(load)):
                    self._go(load, shape)
            for other in every:
                statement = self._tree.parents.get(other.node) if other.kind == "augment" else None
                target = statement.target if isinstance(statement, ast.AugAssign) else None
                reached = self._evaluator.reaching(target) if isinstance(target, ast.Name) else ()
                if target is not None and statement is not None and any(one is binding for one in reached):
                    self._take("operand", target, statement, shape)

    def _reads_of(self, place: ast.expr, shape: Shape) -> None:
        """Follow what reads a variable or attribute, whatever else is bound to it."""
        if isinstance(place, ast.Name):
            scope = self._tree.scopes.get(place)
            for load in self._tree.reads(scope.lookup(place.id)) if scope is not None else ():
                self._go(load, shape)
        elif isinstance(place, ast.Attribute):
            for read in self._tree.members.get(place.attr, ()):
                if isinstance(read.ctx, ast.Load) and self._is_same_object(place, read):
                    self._go(read, shape)
        elif isinstance(place, ast.Subscript):
            held = within("any", shape)
            if held is not None:
                self._reads_of(place.value, held)

    def _is_same_object(self, stored: ast.Attribute, read: ast.Attribute) -> bool:
        """Whether two members may be of one object: of ``self`` in one class, of an instance of it, of one name."""
        first, second = stored.value, read.value
        owner = self._tree.scopes[first].enclosing_class() if _is_self(first) else None
        if _is_self(second):
            around = self._tree.scopes[second].enclosing_class()
            if owner is not None:
                return owner is around
            return around is not None and self._is_of(first, around.node)
        if owner is not None:
            return self._is_of(second, owner.node)
        return (
            ast.dump(first) == ast.dump(second)
            and self._tree.scopes[first].function() is self._tree.scopes[second].function()
        )

    def _is_of(self, node: ast.expr, owner: ast.AST) -> bool:
        return any(isinstance(v, Instance) and v.node is owner for v in self._evaluator.values(node))


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _in_pair(place: int, shape: Shape) -> Shape | None:
    found = element(shape)
    inner = within(place, found) if found is not None else None
    return None if inner is None else within("each", inner)


def _functions(evaluator: Evaluator, node: ast.expr) -> Iterator[ast.AST]:
    return (value.node for value in evaluator.values(node) if isinstance(value, Local))
