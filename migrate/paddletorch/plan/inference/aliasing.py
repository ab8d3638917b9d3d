"""What else holds the tensor that a name, an attribute or an element holds, and is read after a statement changes it.

torch's operators in place change the tensor itself, Paddle's bind the name to a new one. That makes a difference only
where another name, a container, an object or the caller holds the tensor too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Literal, NamedTuple, TypeGuard

from paddletorch_rules.facts import facts

from paddletorch.plan.inference.reads import Reads
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.control_flow import exclusive, loops_around
from paddletorch.resolve import Binding, Instance, Qualified
from paddletorch.resolve.evaluator.call_index import argument_of, is_method
from paddletorch.resolve.scopes.bindings import Scope
from paddletorch.resolve.scopes.reaching import ReachingDefinitions
from paddletorch.resolve.values import Container, Local, Value

Kind = Literal["parameter", "element", "name", "object"]
Memory = Literal["same", "view", "copied"]

_KEEPING = frozenset("add append appendleft extend insert put put_nowait register_buffer send setdefault".split())
"""Methods of containers and objects that keep what they are given."""

_KEEPERS = (
    *(ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Yield),
    *(ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp),
)
"""Expressions that may keep what stands in them."""

_PASSING_NAMES = ("drop", "identity")
"""What is in the names of modules that may give back their input: ``self.drop_path``."""

_WITHOUT_GRADIENTS = frozenset({"data", "detach"})
"""Views through which no gradients flow."""

_MANY_STEPS = 32
"""How many bindings a value is followed through; behind more, something else is taken to hold it."""

_MANY_READS = 64
"""How many reads of one value, or values of one attribute or element, are looked at for one statement."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Seen = frozenset[ast.AST]


class Holder(NamedTuple):
    """What holds a tensor besides the expression that was asked about."""

    kind: Kind
    text: str
    """How it is written, for messages; the name of a parameter."""
    memory: Memory = "same"
    """Whether both are one tensor, or one is a view of the other; ``copied`` where the target copies instead."""


_NOT_FOLLOWED = Holder("name", "another name, perhaps", "copied")
"""The answer where too much would have to be looked at: what holds the tensor is not known to see what is written."""


class Aliasing:
    """Answers for one file what else holds a tensor and is read after a statement."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._tree = view.tree
        reaching = ReachingDefinitions(view.tree)
        self._reads = Reads(view, reaching)
        self._stored_reads = Reads(view, reaching, self._may_be_stored)
        self._kept_members: dict[str, list[tuple[ast.Attribute, str]]] = {}
        self._attribute_values: dict[str, list[ast.expr]] = {}
        self._element_values: dict[str, list[ast.expr]] = {}
        self._shared = facts().views[view.settings.source] | facts().may_share.get(view.settings.source, frozenset())

    def holder(self, target: ast.expr, statement: ast.AST) -> Holder | None:
        """What holds the tensor besides ``target`` and can be read after ``statement``; None for a tensor of its own.

        A module in a framework or of unknown class gives a new tensor, unless its class or name says that it can give
        its input; so does a function that is not in sight.
        """
        if isinstance(target, ast.Name):
            return self._of_name(target, statement, frozenset())
        if isinstance(target, ast.Attribute):
            return self._of_attribute(target, statement)
        if isinstance(target, ast.Subscript):
            return self._of_element(target, statement)
        return self._held(target, statement, frozenset())

    def is_read_again(self, node: ast.expr, call: ast.Call, *, by_caller: bool) -> bool:
        """Whether the tensor that is given to a call can be read again, by any name, after the call.

        ``by_caller``: also by the caller of the function, who passed it.
        """
        if not isinstance(node, ast.Name):
            return True
        bindings = self._reads.bindings(node)
        if self._is_operand_too(bindings, call) or (
            not _rebinds(self._view.statement(call), node.id) and self._is_read_after(node, bindings, call)
        ):
            return True
        found = self._of_name(node, call, frozenset())
        return found is not None and (by_caller or found.kind != "parameter")

    def reaches(self, node: ast.expr, place: ast.AST) -> bool:
        """Whether what holds the tensor is no view of it, so that it sees what is written, and gradients flow."""
        found = self._of_name(node, place, frozenset()) if isinstance(node, ast.Name) else None
        return found is None or found.memory == "same"

    def kept(self, node: ast.expr, place: ast.AST) -> Holder | None:
        """Where what the expression gives is stored before ``place`` is evaluated, if it can be read afterwards."""
        return self._stored(node, place, frozenset()) if self._runs_before(node, place) else None

    # names -------------------------------------------------------------------------------------------

    def _of_name(self, name: ast.Name, statement: ast.AST, seen: _Seen) -> Holder | None:
        """What holds the value of a name besides the name."""
        reached = self._reads.bindings(name)
        if len(reached) + len(seen) > _MANY_STEPS:
            return _NOT_FOLLOWED
        bindings = [b for b in reached if b.node not in seen]
        seen = seen.union(b.node for b in bindings)
        for binding in bindings:
            found = self._of_binding(binding, statement, seen)
            if found is not None:
                return found
        return self._kept(name, bindings, statement, seen) if bindings else None

    def _of_binding(self, binding: Binding, statement: ast.AST, seen: _Seen) -> Holder | None:
        """What holds the value already when it is bound."""
        if binding.kind == "parameter":
            return Holder("parameter", binding.name)
        if binding.kind not in ("assign", "unpack", "iterate") or binding.value is None:
            return None
        if not is_looped(self._view, binding):
            return self._held(binding.value, statement, seen, binding.name)
        values = self._view.evaluator.values(binding.value)
        if any(isinstance(v, Instance) and v.type == "loader" for v in values):
            return None  # a new batch for each step
        rows = any(isinstance(v, Instance) and v.type == "tensor" for v in values)
        return Holder("element", self._view.text(binding.value), "view" if rows else "same")

    def _kept(self, name: ast.Name, bindings: Sequence[Binding], statement: ast.AST, seen: _Seen) -> Holder | None:
        """What the value of the name was stored in before the statement."""
        loads = list(islice(self._stored_reads.of(bindings), _MANY_READS + 1))
        if len(loads) > _MANY_READS:
            return _NOT_FOLLOWED
        for load in sorted(loads, key=self._stored_reads.number):
            if load is name or self._tree.scopes[load].function() is not self._tree.scopes[name].function():
                continue
            if self._runs_before(load, statement):
                found = self._stored(load, statement, seen)
                if found is not None:
                    return found
        return None

    def _stored(self, load: ast.expr, statement: ast.AST, seen: _Seen) -> Holder | None:
        """What keeps the value of the expression, or a view of it."""
        node, parent = self._outermost_view(load)
        found = self._stored_in(node, parent, statement, seen)
        return found if found is None or node is load else _as_view(found, self._memory(node))

    def _stored_in(self, node: ast.expr, parent: ast.AST | None, statement: ast.AST, seen: _Seen) -> Holder | None:
        if isinstance(parent, ast.List | ast.Tuple | ast.Set | ast.Dict):
            targets = _opposite(self._view, parent, node)
            if targets is None:
                return self._stored_display(parent, statement, seen)
            return self._in_targets(targets, statement, seen)
        if isinstance(parent, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            kept = node in (getattr(parent, "elt", None), getattr(parent, "value", None))
            return self._stored_display(parent, statement, seen) if kept else None
        if isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr) and parent.value is node:
            return self._in_targets(_targets(parent), statement, seen)
        return self._passed(node, parent, statement)

    def _may_be_stored(self, load: ast.Name) -> bool:
        """Whether ``_stored`` can find something that keeps the value, whatever it is asked for."""
        node, parent = self._outermost_view(load)
        if isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            return parent.value is node
        if isinstance(parent, ast.Call):
            return node is not parent.func and (self._is_keeping(parent.func) or self._is_class(parent.func))
        return isinstance(parent, _KEEPERS)

    def _stored_display(self, display: ast.expr, statement: ast.AST, seen: _Seen) -> Holder | None:
        """What keeps a list, tuple or dict in which the tensor is."""
        parent = self._view.parent(display)
        while isinstance(parent, ast.List | ast.Tuple | ast.Set | ast.Dict) or _is_collected(parent, display):
            assert isinstance(parent, ast.expr)
            display, parent = parent, self._view.parent(parent)
        if isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr) and parent.value is display:
            found = self._in_targets(_targets(parent), statement, seen)
            return found and Holder("element", found.text)
        if isinstance(parent, ast.AugAssign) and parent.value is display and parent is not statement:
            return Holder("element", self._view.text(parent.target))
        return self._passed(display, parent, statement)

    def _passed(self, node: ast.expr, parent: ast.AST | None, statement: ast.AST) -> Holder | None:
        """What keeps an argument or a yielded value."""
        if isinstance(parent, ast.Yield):
            return Holder("object", "the caller")
        if not isinstance(parent, ast.Call) or node is parent.func:
            return None
        function = parent.func
        if self._is_keeping(function):
            into = function.value
            kept = not isinstance(into, ast.Name) or self._is_read_after(into, self._reads.bindings(into), statement)
            return Holder("element", self._view.text(into)) if kept else None
        return Holder("object", self._view.text(parent)) if self._is_class(function) else None

    def _is_keeping(self, function: ast.expr) -> TypeGuard[ast.Attribute]:
        return isinstance(function, ast.Attribute) and function.attr in _KEEPING

    def _is_class(self, function: ast.expr) -> bool:
        """Whether the file defines the class that is called."""
        values = self._view.evaluator.values(function)
        return any(isinstance(v, Local) and isinstance(v.node, ast.ClassDef) for v in values)

    def _in_targets(self, targets: Iterable[ast.expr], statement: ast.AST, seen: _Seen) -> Holder | None:
        """The target that keeps a value beyond the statement."""
        for target in targets:
            if isinstance(target, ast.Attribute):
                return Holder("object", self._view.text(target))
            if isinstance(target, ast.Subscript):
                return Holder("element", self._view.text(target))
            if not isinstance(target, ast.Name) or target in seen:
                continue
            if len(seen) > _MANY_STEPS:
                return _NOT_FOLLOWED
            bindings = self._reads.bound_by(target)
            if self._is_read_after(target, bindings, statement):
                return Holder("name", target.id)
            found = self._kept(target, bindings, statement, seen | {target})
            if found is not None:
                return found
        return None

    def _is_read_after(self, name: ast.Name, bindings: Sequence[Binding], statement: ast.AST) -> bool:
        """Whether what one of the bindings binds can be read by its name after the statement."""
        if len(bindings) > _MANY_READS:
            return True
        wanted = set(bindings)
        for number, load in enumerate(self._reads.of(bindings)):
            if number == _MANY_READS:
                return True
            bound = (b for b in self._reads.bindings(load) if b in wanted)
            if load is name or all(_is_between(b.node, statement, load) for b in bound):
                continue
            if self._tree.scopes[load].function() is not self._tree.scopes[name].function():
                return True  # a function that may run later
            if exclusive(self._view, statement, load):
                continue
            within = self._view.statement(statement)
            if _start(load) >= _end(statement) and not (isinstance(within, ast.Return) and not _holds(within, load)):
                return True
            loops = [loop for loop in loops_around(self._view, statement) if _holds(loop, load)]
            if any(not _holds(loop, b.node) for loop in loops for b in bindings) and not _holds(statement, load):
                return True
        return self._is_operand_too(bindings, statement)

    def _is_operand_too(self, bindings: Sequence[Binding], place: ast.AST) -> bool:
        """Whether the statement around a call reads the name outside of the call too: ``x + self.res(x)``."""
        loads = self._reads.in_statement(bindings, self._view.statement(place))
        return any(not _holds(place, load) for load in loads)

    def _runs_before(self, load: ast.expr, statement: ast.AST) -> bool:
        """Whether the expression can be evaluated before the statement runs."""
        if exclusive(self._view, statement, load):
            return False
        if _end(load) <= _start(statement):
            return True
        return any(_holds(loop, load) for loop in loops_around(self._view, statement)) and not _holds(statement, load)

    # attributes and elements -------------------------------------------------------------------------

    def _of_attribute(self, target: ast.Attribute, statement: ast.AST) -> Holder | None:
        """What holds an attribute's tensor besides its object: a name, or what was stored to it before."""
        name = target.attr
        if name not in self._kept_members:
            self._kept_members[name] = list(self._members_kept(name))
        for node, text in self._kept_members[name]:
            if node is not target:
                return Holder("name", text)
        if name not in self._attribute_values:
            stores = self._tree.stores_by_name.get(name, ())
            self._attribute_values[name] = [store.value for store in stores if store.value is not None]
        return self._of_values(self._attribute_values[name], statement)

    def _of_values(self, values: Sequence[ast.expr], statement: ast.AST) -> Holder | None:
        if len(values) > _MANY_READS:
            return _NOT_FOLLOWED
        return self._first_held(values, statement, frozenset())

    def _members_kept(self, name: str) -> Iterator[tuple[ast.Attribute, str]]:
        """The attributes of a name that are returned or kept elsewhere, and how what is kept is written."""
        for node in self._tree.members.get(name, ()):
            if not isinstance(node.ctx, ast.Load):
                continue
            view, parent = self._outermost_view(node)
            if isinstance(parent, ast.Return) or self._stored_anywhere(view, parent):
                yield node, self._view.text(view)

    def _stored_anywhere(self, node: ast.expr, parent: ast.AST | None) -> bool:
        """Whether the expression is kept under another name, in an object or in a container."""
        if isinstance(parent, ast.Assign) and parent.value is node:
            return True
        function = parent.func if isinstance(parent, ast.Call) else None
        return isinstance(function, ast.Attribute) and function is not node and function.attr in _KEEPING

    def _of_element(self, target: ast.Subscript, statement: ast.AST) -> Holder | None:
        """What holds an element of a local container besides the container."""
        if not isinstance(target.value, ast.Name):
            return None
        bindings = self._reads.bindings(target.value)
        if any(b.kind == "parameter" for b in bindings):
            return Holder("parameter", target.value.id)
        given = [e for b in bindings if b.value is not None for e in _elements(b.value, target.slice)]
        name = target.value.id
        if name not in self._element_values:
            self._element_values[name] = list(self._elements_set(name))
        return self._of_values([*given, *self._element_values[name]], statement)

    def _elements_set(self, name: str) -> Iterator[ast.expr]:
        """What is assigned to elements of a container of this name."""
        for load in self._tree.names.get(name, ()):
            parent = self._view.parent(load)
            stored = self._view.parent(parent) if isinstance(parent, ast.Subscript) and parent.value is load else None
            if isinstance(stored, ast.Assign) and parent in stored.targets:
                yield stored.value

    # expressions -------------------------------------------------------------------------------------

    def _held(self, node: ast.expr, statement: ast.AST, seen: _Seen, bound: str = "") -> Holder | None:
        """What holds the tensor that an expression gives, or the memory of which that is a view.

        ``bound`` is the name that the expression is assigned to, which then means nothing else any more.
        """
        if isinstance(node, ast.Name):
            if node.id != bound and self._is_read_after(node, self._reads.bindings(node), statement):
                return Holder("name", node.id)
            return self._of_name(node, statement, seen)
        if isinstance(node, ast.Attribute):
            if node.attr in self._shared or isinstance(node.value, ast.Call):
                return _as_view(self._held(node.value, statement, seen, bound), self._memory(node))
            return None if self._view.qualified(node) is not None else Holder("object", self._view.text(node))
        if isinstance(node, ast.Subscript):
            if not self._is_view(node):
                return None
            return _as_view(self._held(node.value, statement, seen, bound), self._memory(node))
        if isinstance(node, ast.Call):
            return self._of_result(node, statement, seen, bound)
        parts: Sequence[ast.expr] = ()
        if isinstance(node, ast.IfExp):
            parts = (node.body, node.orelse)
        elif isinstance(node, ast.BoolOp):
            parts = node.values
        elif isinstance(node, ast.NamedExpr | ast.Await):
            parts = (node.value,)
        return self._first_held(parts, statement, seen, bound)

    def _of_result(self, call: ast.Call, statement: ast.AST, seen: _Seen, bound: str) -> Holder | None:
        """What holds the result of a call: what holds an argument that it gives back, or gives a view of."""
        function = call.func
        callees = self._view.evaluator.values(function)
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        given = [*call.args, *(k.value for k in call.keywords)]
        functions = [v.node for v in callees if isinstance(v, Local) and not isinstance(v.node, ast.ClassDef)]
        if functions:
            return self._of_function(functions[0], call, statement, seen)
        memory = self._memory(call)
        if any(isinstance(v, Qualified) for v in callees):
            shares = name in self._shared or _is_in_place(name) or asks_in_place(call)
            return _as_view(self._held(given[0], statement, seen, bound), memory) if shares and given else None
        modules = [v for v in callees if isinstance(v, Instance) and _is_module(v)]
        if modules:
            passing = next((v for v in modules if self._passes_input(v, function)), None)
            found = self._first_held(given, statement, seen, bound) if passing is not None else None
            return found if passing is None else _as_view(found, self._memory_of_module(passing))
        if isinstance(function, ast.Attribute) and self._gives_receiver(name):
            return _as_view(self._held(function.value, statement, seen, bound), memory)
        passes = any(word in name.lower() for word in _PASSING_NAMES)
        return self._first_held(given, statement, seen, bound) if passes else None

    def _gives_receiver(self, name: str) -> bool:
        """Whether a method gives what it is called on, a view or an element of it."""
        moved = facts().conversions - facts().fresh[self._view.settings.source]
        return name in self._shared or name in moved or _is_in_place(name) or name == "get"

    def _passes_input(self, module: Instance, function: ast.expr) -> bool:
        """Whether a module of the framework can give back its input: ``nn.Identity``, ``nn.ReLU(inplace=True)``."""
        if module.node is not None or module.external_class:
            return False
        name = module.api.rpartition(".")[2]
        if name == "Sequential":
            return any(self._is_passing_chain(call) for call in self.constructors(function))
        if name in facts().passing_modules["torch"]:
            return True
        return name in facts().inplace_modules["torch"] and any(map(asks_in_place, self.constructors(function)))

    def constructors(self, function: ast.expr) -> list[ast.Call]:
        """The calls that make the module that is called: ``nn.ReLU(inplace=True)`` for ``self.relu``."""
        if isinstance(function, ast.Name):
            return [b.value for b in self._reads.bindings(function) if isinstance(b.value, ast.Call)]
        if not isinstance(function, ast.Attribute):
            return [function] if isinstance(function, ast.Call) else []
        owner = self._tree.scopes[function].enclosing_class()
        own = self._made.get((function.attr, owner)) if owner is not None else None
        return self._made.get((function.attr, None), []) if own is None else own

    @cached_property
    def _made(self) -> dict[tuple[str, Scope | None], list[ast.Call]]:
        """The calls that make what is set to an attribute, by its name and the class in which; by None in all."""
        found: dict[tuple[str, Scope | None], list[ast.Call]] = {}
        for store in self._tree.stores:
            calls = [store.value] if isinstance(store.value, ast.Call) else []
            for owner in {None, store.scope.enclosing_class()}:
                found.setdefault((store.target.attr, owner), []).extend(calls)
        return found

    def _memory_of_module(self, module: Instance) -> Memory:
        """How a module's result shares memory with its input: Paddle's activations and dropouts make a new tensor."""
        name = module.api.rpartition(".")[2]
        return "copied" if name in facts().inplace_modules["torch"] else "view" if name.endswith("latten") else "same"

    def _is_passing_chain(self, call: ast.Call) -> bool:
        """Whether every layer of ``nn.Sequential(...)`` can give back its input."""
        return all(
            any(isinstance(v, Instance) and self._passes_input(v, layer) for v in self._view.evaluator.values(layer))
            for layer in call.args
        )

    def _first_held(self, nodes: Iterable[ast.expr], statement: ast.AST, seen: _Seen, bound: str = "") -> Holder | None:
        return next((h for node in nodes if (h := self._held(node, statement, seen, bound)) is not None), None)

    def _memory(self, node: ast.expr) -> Memory:
        """How the outermost operation of an expression shares memory with what it is applied to."""
        function = node.func if isinstance(node, ast.Call) else node
        name = function.attr if isinstance(function, ast.Attribute) else ""
        if name in facts().copied_views["torch"] or name == "dropout":
            return "copied"
        if isinstance(node, ast.Subscript):
            container = any(isinstance(v, Container) for v in self._view.evaluator.values(node.value))
            return "same" if container else "view"
        recorded = name in facts().views["torch"] - _WITHOUT_GRADIENTS or name in facts().may_share["torch"]
        return "view" if recorded else "same"

    def _of_function(self, function: ast.AST, call: ast.Call, statement: ast.AST, seen: _Seen) -> Holder | None:
        """What holds the result of a function of the file: a parameter that it gives back, or an attribute."""
        scope = self._tree.own.get(function)
        if scope is None or function in seen or not isinstance(function, _Function):
            return None
        seen = seen | {function}
        for value in scope.returns:
            within = self._view.statement(value) if value is not None else None
            found = self._held(value, within, seen) if value is not None and within is not None else None
            if found is None:
                continue
            if found.kind != "parameter":
                return found if found.kind == "object" else None
            argument = argument_of(call, function, found.text, is_method(scope))
            held = self._held(argument, statement, seen) if argument is not None else None
            if held is not None:
                return held
        return None

    def _outermost_view(self, node: ast.expr) -> tuple[ast.expr, ast.AST | None]:
        """The outermost view of the expression, ``x.view(-1)[0]`` for ``x``, and what it stands in."""
        parent = self._view.parent(node)
        while True:
            if isinstance(parent, ast.Attribute) and parent.value is node and parent.attr in self._shared:
                called = self._view.parent(parent)
                node = called if isinstance(called, ast.Call) and called.func is parent else parent
            elif self._passes_on(parent, node):
                node = parent
            else:
                return node, parent
            parent = self._view.parent(node)

    def _passes_on(self, parent: ast.AST | None, node: ast.expr) -> TypeGuard[ast.expr]:
        """Whether a parent gives ``node`` itself, a part of it or an element."""
        if isinstance(parent, ast.Subscript):
            return parent.value is node and self._is_view(parent)
        if isinstance(parent, ast.IfExp):
            return parent.test is not node
        return isinstance(parent, ast.BoolOp | ast.Starred)

    def _is_view(self, node: ast.Subscript) -> bool:
        """Whether the subscript gives a view of a tensor, or an element of a container."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if all(isinstance(p, ast.Slice | ast.Constant | ast.UnaryOp) for p in parts):
            return True
        return any(isinstance(v, Container) for v in self._view.evaluator.values(node.value))


def is_looped(view: FileView, binding: Binding) -> bool:
    """Whether a loop binds the name to the elements of what it iterates over."""
    if binding.kind == "iterate":
        return True
    current: ast.AST | None = binding.node
    while isinstance(current, ast.Name | ast.Tuple | ast.List | ast.Starred):
        child, current = current, view.parent(current)
        if isinstance(current, ast.For | ast.AsyncFor):
            return current.target is child
    return False


def _is_in_place(name: str) -> bool:
    """Whether a function or method gives back what it writes into: ``add_``."""
    return name.endswith("_") and not name.endswith("__")


def asks_in_place(call: ast.Call) -> bool:
    """Whether a function or a constructor can be told to write into the input: ``inplace=True``, ``nn.ReLU(True)``."""
    given = _inplace(call)
    return given is not None and not (isinstance(given, ast.Constant) and given.value is False)


def is_in_place(call: ast.Call) -> bool:
    """Whether a function or a constructor is told so by a literal."""
    given = _inplace(call)
    return isinstance(given, ast.Constant) and given.value is True


def _inplace(call: ast.Call) -> ast.expr | None:
    """The argument ``inplace``; where it is the only parameter, it may be positional."""
    first = call.args[0] if len(call.args) == 1 else None
    positional = first if isinstance(first, ast.Constant) and isinstance(first.value, bool) else None
    return next((k.value for k in call.keywords if k.arg == "inplace"), positional)


def _is_module(value: Value) -> bool:
    return isinstance(value, Instance) and value.type not in ("", "foreign", "tensor", "loader", "shape")


def _as_view(holder: Holder | None, memory: Memory) -> Holder | None:
    """The holder of what an operation was applied to, as that of its result."""
    if holder is None or memory == "same" or holder.memory == "copied":
        return holder
    return holder._replace(memory=memory)


def _is_between(node: ast.AST, first: ast.AST, last: ast.AST) -> bool:
    """Whether a node stands between two others, so that what it binds is bound anew."""
    return _end(first) <= _start(node) < _start(last)


def _is_collected(parent: ast.AST | None, node: ast.expr) -> bool:
    """Whether a builtin makes a container of the elements: ``list(p.grad for p in params)``."""
    name = getattr(parent.func, "id", "") if isinstance(parent, ast.Call) else ""
    return isinstance(parent, ast.Call) and node in parent.args and name in ("dict", "list", "set", "tuple")


def _rebinds(statement: ast.stmt | None, name: str) -> bool:
    """Whether an assignment gives the name another value."""
    targets = statement.targets if isinstance(statement, ast.Assign) else ()
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _targets(node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _opposite(view: FileView, display: ast.expr, part: ast.expr) -> list[ast.expr] | None:
    """``a`` for the part ``x`` of ``a, b = x, y``; None if the display is not unpacked."""
    assign = view.parent(display)
    if not isinstance(assign, ast.Assign) or not isinstance(display, ast.Tuple | ast.List):
        return None
    given = display.elts.index(part) if part in display.elts else -1
    pairs = [t for t in assign.targets if isinstance(t, ast.Tuple | ast.List) and len(t.elts) == len(display.elts)]
    return [t.elts[given] for t in pairs] if pairs and given >= 0 else None


def _elements(value: ast.expr, index: ast.expr) -> list[ast.expr]:
    """The elements of a display that the index can select."""
    if isinstance(value, ast.Dict):
        wanted = ast.dump(index) if isinstance(index, ast.Constant) else ""
        pairs = zip(value.keys, value.values, strict=True)
        return [v for k, v in pairs if not (wanted and isinstance(k, ast.Constant)) or ast.dump(k) == wanted]
    return list(value.elts) if isinstance(value, ast.List | ast.Tuple) else []


def _start(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def _holds(outer: ast.AST, inner: ast.AST) -> bool:
    """Whether a node lies inside another one."""
    return _start(outer) <= _start(inner) and _end(inner) <= _end(outer)
