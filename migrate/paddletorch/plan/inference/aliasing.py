"""What else holds the tensor that a name, an attribute or an element holds, and is read after a statement changes it.

torch's operators in place change the tensor itself, Paddle's bind the name to a new one. That makes a difference only
where another name, a container, an object or the caller holds the tensor too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Literal, NamedTuple, TypeGuard

from paddletorch.model import Ask
from paddletorch.plan.inference.bound_elements import (
    elements_at,
    is_collected,
    is_looped,
    looped_over,
    opposite,
    rebinds,
    targets_of,
)
from paddletorch.plan.inference.in_place_calls import asks_in_place, writes_in_place
from paddletorch.plan.inference.reads import Reads
from paddletorch.plan.inference.shared_memory import Memory, SharedMemory
from paddletorch.plan.inference.stored_values import KEEPING, StoredValues
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.control_flow import exclusive, loops_around
from paddletorch.plan.syntax.positions import end_of, holds, is_between, start_of
from paddletorch.resolve import Binding, Instance, Qualified
from paddletorch.resolve.evaluator.call_index import argument_of, is_method
from paddletorch.resolve.facts.tensors import tensorhood
from paddletorch.resolve.scopes.reaching import ReachingDefinitions
from paddletorch.resolve.values import Local, Value

Kind = Literal["parameter", "element", "name", "object"]

_KEEPERS = (
    *(ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Yield),
    *(ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp),
)
"""Expressions that may keep what stands in them."""

_PASSING_NAMES = ("drop", "identity")
"""What is in the names of modules that may give back their input: ``self.drop_path``."""

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


_UNSHARED = frozenset({"no"})
"""The answer of recorded runs in which nothing else held the tensor."""

_NOT_FOLLOWED = Holder("name", "another name, perhaps", "copied")
"""The answer where too much would have to be looked at: what holds the tensor is not known to see what is written."""


class Aliasing:
    """Answers for one file what else holds a tensor and is read after a statement."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._tree = view.tree
        reaching = ReachingDefinitions(view.tree)
        self._reads = Reads(view, reaching)
        self.shared_memory = SharedMemory(view, self._reads)
        self._stored_values = StoredValues(view, self.shared_memory)
        self._stored_reads = Reads(view, reaching, partial(_may_be_stored, view, self.shared_memory))

    def holder(self, target: ast.expr, statement: ast.AST) -> Holder | None:
        """What holds the tensor besides ``target`` and can be read after ``statement``; None for a tensor of its own.

        A module in a framework or of unknown class gives a new tensor, unless its class or name says that it can give
        its input; so does a function that is not in sight.
        """
        if self._view.seen(Ask.SHARED, target) == _UNSHARED:
            return None
        if isinstance(target, ast.Name):
            return self._of_name(target, statement, frozenset())
        if isinstance(target, ast.Attribute):
            return self._of_attribute(target, statement)
        if isinstance(target, ast.Subscript):
            return self._of_element(target, statement)
        return self._held(target, statement, frozenset())

    def of_value(self, node: ast.expr, statement: ast.AST) -> Holder | None:
        """What holds the tensor that an expression gives, be it the name there, and can be read after ``statement``."""
        return self._held(node, statement, frozenset())

    def is_read_again(self, node: ast.expr, call: ast.Call, *, by_caller: bool) -> bool:
        """Whether the tensor that is given to a call can be read again, by any name, after the call.

        ``by_caller``: also by the caller of the function, who passed it.
        """
        if self._view.seen(Ask.SHARED, node) == _UNSHARED:
            return False
        if not isinstance(node, ast.Name):
            return True
        bindings = self._reads.bindings(node)
        if self._is_operand_too(bindings, call) or (
            not rebinds(self._view.statement(call), node.id) and self._is_read_after(node, bindings, call)
        ):
            return True
        found = self._of_name(node, call, frozenset())
        return found is not None and (by_caller or found.kind != "parameter")

    def stored_elements(self, container: ast.Name) -> Sequence[ast.expr]:
        """What the file assigns to elements of a container of that name, or appends to it."""
        return self._stored_values.in_elements(container.id)

    def reaches(self, node: ast.expr, place: ast.AST) -> bool:
        """Whether what holds the tensor is no view of it, so that it sees what is written, and gradients flow."""
        found = self._of_name(node, place, frozenset()) if isinstance(node, ast.Name) else None
        return found is None or found.memory == "same"

    def kept(self, node: ast.expr, place: ast.AST) -> Holder | None:
        """Where what the expression gives is stored before ``place`` is evaluated, if it can be read afterwards."""
        return self._stored(node, place, frozenset()) if self._runs_before(node, place) else None

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
        looped = looped_over(binding.value, binding.path, self._assigned)
        if isinstance(looped, ast.Call) and self.shared_memory.memory(looped) == "copied":
            return self._held(looped, statement, seen, binding.name)
        rows = tensorhood(values).is_seen
        return Holder("element", self._view.text(binding.value), "view" if rows else "same")

    def _assigned(self, name: ast.Name) -> ast.expr | None:
        """The value of a variable that one assignment gives."""
        given = self._reads.bindings(name)
        return given[0].value if len(given) == 1 and given[0].kind == "assign" else None

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
        node, parent = self.shared_memory.outermost_view(load)
        found = self._stored_in(node, parent, statement, seen)
        return found if found is None or node is load else _as_view(found, self.shared_memory.memory(node))

    def _stored_in(self, node: ast.expr, parent: ast.AST | None, statement: ast.AST, seen: _Seen) -> Holder | None:
        if isinstance(parent, ast.List | ast.Tuple | ast.Set | ast.Dict):
            targets = opposite(self._view, parent, node)
            if targets is None:
                return self._stored_display(parent, statement, seen)
            return self._in_targets(targets, statement, seen)
        if isinstance(parent, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            kept = node in (getattr(parent, "elt", None), getattr(parent, "value", None))
            return self._stored_display(parent, statement, seen) if kept else None
        if isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr) and parent.value is node:
            return self._in_targets(targets_of(parent), statement, seen)
        return self._passed(node, parent, statement)

    def _stored_display(self, display: ast.expr, statement: ast.AST, seen: _Seen) -> Holder | None:
        """What keeps a list, tuple or dict in which the tensor is."""
        parent = self._view.parent(display)
        while isinstance(parent, ast.List | ast.Tuple | ast.Set | ast.Dict) or is_collected(parent, display):
            assert isinstance(parent, ast.expr)
            display, parent = parent, self._view.parent(parent)
        if isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr) and parent.value is display:
            found = self._in_targets(targets_of(parent), statement, seen)
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
        if _is_keeping(function):
            into = function.value
            kept = not isinstance(into, ast.Name) or self._is_read_after(into, self._reads.bindings(into), statement)
            return Holder("element", self._view.text(into)) if kept else None
        return Holder("object", self._view.text(parent)) if _is_class(self._view, function) else None

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
            if load is name or all(is_between(b.node, statement, load) for b in bound):
                continue
            if self._tree.scopes[load].function() is not self._tree.scopes[name].function():
                return True  # a function that may run later
            if exclusive(self._view, statement, load):
                continue
            within = self._view.statement(statement)
            if start_of(load) >= end_of(statement) and not (isinstance(within, ast.Return) and not holds(within, load)):
                return True
            loops = [loop for loop in loops_around(self._view, statement) if holds(loop, load)]
            if any(not holds(loop, b.node) for loop in loops for b in bindings) and not holds(statement, load):
                return True
        return self._is_operand_too(bindings, statement)

    def _is_operand_too(self, bindings: Sequence[Binding], place: ast.AST) -> bool:
        """Whether the statement around a call reads the name outside of the call too: ``x + self.res(x)``."""
        loads = self._reads.in_statement(bindings, self._view.statement(place))
        return any(not holds(place, load) for load in loads)

    def _runs_before(self, load: ast.expr, statement: ast.AST) -> bool:
        """Whether the expression can be evaluated before the statement runs."""
        if exclusive(self._view, statement, load):
            return False
        if end_of(load) <= start_of(statement):
            return True
        return any(holds(loop, load) for loop in loops_around(self._view, statement)) and not holds(statement, load)

    def _of_attribute(self, target: ast.Attribute, statement: ast.AST) -> Holder | None:
        """What holds an attribute's tensor besides its object: a name, or what was stored to it before."""
        name = target.attr
        for node, text in self._stored_values.members_kept(name):
            if node is not target:
                return Holder("name", text)
        return self._of_values(self._stored_values.of_attribute(name), statement)

    def _of_values(self, values: Sequence[ast.expr], statement: ast.AST) -> Holder | None:
        if len(values) > _MANY_READS:
            return _NOT_FOLLOWED
        return self._first_held(values, statement, frozenset())

    def _of_element(self, target: ast.Subscript, statement: ast.AST) -> Holder | None:
        """What holds an element of a local container besides the container."""
        if not isinstance(target.value, ast.Name):
            return None
        bindings = self._reads.bindings(target.value)
        if any(b.kind == "parameter" for b in bindings):
            return Holder("parameter", target.value.id)
        given = [e for b in bindings if b.value is not None for e in elements_at(b.value, target.slice)]
        parts = [b.value for b in bindings if isinstance(b.value, ast.Call) and b.kind == "assign"]
        copied = [one for one in parts if self.shared_memory.memory(one) == "copied"]
        held = self._first_held(copied, statement, frozenset(), target.value.id)
        return held or self._of_values([*given, *self._stored_values.in_elements(target.value.id)], statement)

    def _held(self, node: ast.expr, statement: ast.AST, seen: _Seen, bound: str = "") -> Holder | None:
        """What holds the tensor that an expression gives, or the memory of which that is a view.

        ``bound`` is the name that the expression is assigned to, which then means nothing else any more.
        """
        if isinstance(node, ast.Name):
            if node.id != bound and self._is_read_after(node, self._reads.bindings(node), statement):
                return Holder("name", node.id)
            return self._of_name(node, statement, seen)
        if isinstance(node, ast.Attribute):
            if node.attr in self.shared_memory.shared or isinstance(node.value, ast.Call):
                return _as_view(self._held(node.value, statement, seen, bound), self.shared_memory.memory(node))
            return None if self._view.qualified(node) is not None else Holder("object", self._view.text(node))
        if isinstance(node, ast.Subscript):
            if not self.shared_memory.is_view(node):
                return None
            return _as_view(self._held(node.value, statement, seen, bound), self.shared_memory.memory(node))
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
        memory = self.shared_memory.memory(call)
        if any(isinstance(v, Qualified) for v in callees):
            shares = name in self.shared_memory.shared or writes_in_place(name) or asks_in_place(call)
            return _as_view(self._held(given[0], statement, seen, bound), memory) if shares and given else None
        modules = [v for v in callees if isinstance(v, Instance) and _is_module(v)]
        if modules:
            passing = next((v for v in modules if self.shared_memory.passes_input(v, function)), None)
            found = self._first_held(given, statement, seen, bound) if passing is not None else None
            return found if passing is None else _as_view(found, self.shared_memory.memory_of_module(passing))
        if isinstance(function, ast.Attribute) and self.shared_memory.gives_receiver(name):
            return _as_view(self._held(function.value, statement, seen, bound), memory)
        passes = any(word in name.lower() for word in _PASSING_NAMES)
        return self._first_held(given, statement, seen, bound) if passes else None

    def _first_held(self, nodes: Iterable[ast.expr], statement: ast.AST, seen: _Seen, bound: str = "") -> Holder | None:
        return next((h for node in nodes if (h := self._held(node, statement, seen, bound)) is not None), None)

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
                return _as_view(held, found.memory)
        return None


def _as_view(holder: Holder | None, memory: Memory) -> Holder | None:
    """The holder of what an operation was applied to, as that of its result."""
    if holder is None or memory == "same" or holder.memory == "copied":
        return holder
    return holder._replace(memory=memory)


def _is_module(value: Value) -> bool:
    return isinstance(value, Instance) and value.type not in ("", "foreign", "tensor", "loader", "shape")


def _may_be_stored(view: FileView, shared_memory: SharedMemory, load: ast.Name) -> bool:
    """Whether ``Aliasing._stored`` can find something that keeps the value, whatever it is asked for."""
    node, parent = shared_memory.outermost_view(load)
    if isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr):
        return parent.value is node
    if isinstance(parent, ast.Call):
        return node is not parent.func and (_is_keeping(parent.func) or _is_class(view, parent.func))
    return isinstance(parent, _KEEPERS)


def _is_keeping(function: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(function, ast.Attribute) and function.attr in KEEPING


def _is_class(view: FileView, function: ast.expr) -> bool:
    """Whether the file defines the class that is called."""
    values = view.evaluator.values(function)
    return any(isinstance(v, Local) and isinstance(v.node, ast.ClassDef) for v in values)
