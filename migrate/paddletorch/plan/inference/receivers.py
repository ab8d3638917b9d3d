"""Decides how certain it is that a receiver is of a type that the tables track."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Iterator
from copy import copy

from paddletorch_rules import Form, Row
from paddletorch_rules.facts import facts
from paddletorch_rules.name_patterns import matches_name, without_anchors

from paddletorch.plan.inference.allocations import Allocations
from paddletorch.plan.inference.file_facts import FileFacts, scope_of
from paddletorch.plan.inference.isinstance_checks import is_tested_as_no_tensor
from paddletorch.plan.inference.named_tuples import shows_fields
from paddletorch.plan.inference.overloads import Fit, fit, kinds
from paddletorch.plan.model.use import Uses
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.resolve import Binding, Instance, NoneValue, Partial, Qualified, Unknown
from paddletorch.resolve.evaluator.tensor_calls import is_tensor_call, shows_tensor
from paddletorch.resolve.facts.tensors import Certainty as Certainty
from paddletorch.resolve.values import UNKNOWN, Container, Local, Value

_TYPES_SHOWN_BY_NAME = ("optimizer", "scheduler")
"""Types that a variable's usual name is enough evidence for."""


_OF_STRINGS = frozenset(dir(str))
"""Methods of strings; with a string argument such a call is a string's."""

_WITHOUT_MEMBERS = frozenset({"torch.nn.Identity", "paddle.nn.Identity"})
"""Layers that stand where others were, and have none of their members."""

_OF_CONTAINERS = frozenset(name for kind in (list, tuple, dict, set) for name in dir(kind))
"""Members of Python's containers."""


class Receivers:
    """The types of one file's receivers: their values, the methods called on them, their names."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._file = view.provide(FileFacts)
        self._iterated_paths: dict[int, list[str]] = {}
        """By the identity of the variable's list of bindings."""
        self._uses = Uses()
        self._objects = view.provide(Allocations)
        self._optimizers: frozenset[Hashable] = frozenset()  # empty while the scalers' arguments are looked up
        self._optimizers = frozenset(self._stepped_by_scalers())

    def with_uses(self, uses: Uses) -> Receivers:
        """The same receivers, once the uses are planned: objects of APIs that are left are left too."""
        found = copy(self)
        found._uses = uses
        return found

    def _stepped_by_scalers(self) -> Iterator[Hashable]:
        """The variables of the optimizers that are passed to a scaler: ``scaler.step(optimizer)``."""
        for call in self._view.tree.calls_of("step", "unscale_", "minimize"):
            function = call.func
            if not isinstance(function, ast.Attribute) or not call.args:
                continue
            if self.certainty(function.value, "scaler") is Certainty.YES:
                yield self._objects.variable(call.args[0])

    def certainty(self, node: ast.expr, type_name: str, member: str = "") -> Certainty:
        """How certain it is that ``node`` is the source framework's instance of ``type_name``, which has ``member``."""
        if not self._view.origins.may_be_sources(node):
            return Certainty.NO
        values = _with_member(frozenset(v for v in self._view.evaluator.objects(node) if not _is_function(v)), member)
        instances = [v for v in values if isinstance(v, Instance)]
        if any(v.type != "foreign" for v in instances):
            if type_name == "tensor" and any(v.type == "foreign" and "." in v.api for v in instances):
                return Certainty.MAYBE  # an array or a tensor
            instances = [v for v in instances if v.type != "foreign"]  # such as a number in place of the object
        if type_name != "tensor" and instances and all(self._uses.leave(v) for v in instances):
            return Certainty.NO  # the object is left as the source's
        bases = self._view.settings.table.bases
        foreign = [v for v in instances if type_name not in bases(v.type) or self._is_target(v)]
        if foreign and "layer" in bases(type_name):
            bare = [v for v in foreign if v.api in _WITHOUT_MEMBERS and v.node is None]
            foreign, instances = ([v for v in vs if v not in bare] for vs in (foreign, instances))
            if not foreign and instances:
                return Certainty.YES
            apart = [v for v in foreign if not self._is_any_module(v)]
            if not apart and self._reads_like(node, type_name):
                return Certainty.YES
            other = len(apart) == len(instances) and not (UNKNOWN & values and self._is_named_for(node, type_name))
            return Certainty.NO if other else Certainty.MAYBE
        if len(foreign) == len(instances) and foreign:
            return Certainty.NO
        if foreign:
            return self._by_use(node, type_name, values_unknown=True)  # of this type or another one
        plain = Instance | NoneValue | Unknown | (Container if type_name == "tensor" else NoneValue)
        if instances and all(isinstance(v, plain) for v in values):
            return Certainty.YES
        if any(isinstance(v, Qualified) for v in values):
            return Certainty.NO
        unknown = not values or any(isinstance(v, Unknown) for v in values)
        return self._by_use(node, type_name, unknown)

    def _reads_like(self, node: ast.expr, type_name: str) -> bool:
        """Whether the attributes read beside this one are together those of the type: ``m.kernel_size * m.groups``."""
        path = path_of(node)
        if self._is_named_otherwise(path, type_name):
            return False  # of such objects there may be some with more members: optimizers that have an eval()
        spec = self._view.settings.table.types[type_name]
        read = self._file.attributes.get((scope_of(self._view, node), path), set()) if path and spec.protocol else set()
        return any(names <= read and not any(map(self._is_defined, names)) for names in spec.protocol)

    def _is_of_framework(self, value: Value) -> bool:
        """Whether it is an object of the source's own classes: only those of one type have a distinctive member."""
        if not isinstance(value, Instance) or value.node is not None or value.external_class:
            return False
        return value.api.partition(".")[0] == self._view.settings.source and "module" in self._bases(value)

    def framework_types(self, node: ast.expr) -> frozenset[str]:
        """The types of all that the expression can be; empty unless all of it is of the source's own classes."""
        values = self._view.evaluator.objects(node)
        own = [value for value in values if self._is_of_framework(value) and isinstance(value, Instance)]
        return frozenset(value.type for value in own) if own and len(own) == len(values) else frozenset()

    def _has_member(self, value: Instance, name: str) -> bool:
        """Whether a row is about this member of the object's own type."""
        return any(row.receiver == value.type for row, _ in self._view.settings.members(name))

    def _bases(self, value: Instance) -> tuple[str, ...]:
        return self._view.settings.table.bases(value.type)

    def _is_any_module(self, value: Value) -> bool:
        """Whether it is a module whose class is not known, such as an element of a list of modules."""
        if not isinstance(value, Instance) or value.type != "module" or value.node is not None or value.external_class:
            return False
        return not self._is_target(value) and value.api.rpartition(".")[2] in ("Module", "Layer")

    def certainty_for(
        self, node: ast.Attribute, call: ast.Call | None, type_name: str, options: list[tuple[Row, Form]]
    ) -> Certainty:
        """As ``certainty``, with the evidence of the use of the member itself.

        In a file that imports the target too, only an object that certainly comes from the source counts.
        """
        if not self._view.origins.may_be_sources(node.value):
            return Certainty.NO
        if type_name == "tensor" and self._is_no_tensor(node, call):
            return Certainty.NO
        found = self._shown_by_use(node, call, type_name, options)
        if found is Certainty.YES and not self._is_known(node.value):
            passed = call is None and all(row.kind == "method" for row, _ in options)
            forms = [f for row, _ in options for f in row.forms(self._view.target)]
            if self._is_unfit(call, options) or (passed and all(node.attr in f.names for f in forms)):
                return Certainty.NO  # only the name is evidence, and the use does not support it
        if found is Certainty.YES and call is not None and self._may_be_method_of_target(node, call, options):
            return Certainty.NO
        return self._if_from_source(found, node.value, [row for row, _ in options])

    def _is_unfit(self, call: ast.Call | None, options: list[tuple[Row, Form]]) -> bool:
        """Whether the arguments of the call fit none of the rows."""
        newest = self._view.settings.source_releases.newest
        return call is not None and all(fit(self._view, call, form.signature(newest)) is Fit.NO for _, form in options)

    def certainty_for_expression(self, receiver: ast.expr, row: Row) -> Certainty:
        """As ``certainty`` of the row's type, for an expression on ``receiver`` that the row writes as a template."""
        return self._if_from_source(self.certainty(receiver, row.receiver or ""), receiver, [row])

    def _if_from_source(self, found: Certainty, receiver: ast.expr, rows: list[Row]) -> Certainty:
        """The certainty that it is of this type and of the source: what converted code has is of the target."""
        if found is not Certainty.YES or self._view.is_sources(receiver) or not all(row.whole for row in rows):
            return found
        return Certainty.MAYBE if self._view.origins.may_be_sources(receiver) else Certainty.NO

    def _is_no_tensor(self, node: ast.Attribute, call: ast.Call | None) -> bool:
        """Whether the use, or a test around it, shows that it is no tensor: ``name.split(".")``, ``w, h = x.size``."""
        if call is not None:
            strings = node.attr in _OF_STRINGS and any(kinds(self._view, a) == {"str"} for a in call.args[:1])
            return strings or is_tested_as_no_tensor(self._view, node.value)
        parent = self._view.parent(node)
        if node.attr == "size":
            unpacked = isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple | ast.List)
            if unpacked or (isinstance(parent, ast.Subscript) and parent.value is node):
                return True  # a number in Paddle, a method in torch
        return is_tested_as_no_tensor(self._view, node.value)

    def _is_known(self, node: ast.expr) -> bool:
        """Whether all calls that create the object are known."""
        instances = [v for v in self._view.evaluator.objects(node) if isinstance(v, Instance)]
        return bool(instances) and all(v.type != "foreign" for v in instances)

    def _may_be_method_of_target(self, node: ast.Attribute, call: ast.Call, options: list[tuple[Row, Form]]) -> bool:
        """Whether this may be the target's method of the same name, in a file that uses neither framework."""
        if self._view.origins.of_code(node):
            return False
        target, newest = self._view.target, self._view.settings.target_releases.newest
        rows = {id(row) for row, _ in options}
        others = (pair for pair in self._view.settings.table.members(target, node.attr) if id(pair[0]) not in rows)
        return any(fit(self._view, call, form.signature(newest)) is not Fit.NO for _, form in others)

    def _shown_by_use(
        self,
        node: ast.Attribute,
        call: ast.Call | None,
        type_name: str,
        options: list[tuple[Row, Form]],
    ) -> Certainty:
        found = self.certainty(node.value, type_name, node.attr)
        source = self._view.settings.source
        if (
            type_name != "tensor"
            and found is not Certainty.YES
            and any(source in row.distinctive for row, _ in options)
        ):
            values = _with_member(self._view.evaluator.values(node.value), node.attr)
            unknown = all(isinstance(v, Unknown | NoneValue) or self._is_of_framework(v) for v in values)
            if any(isinstance(v, Instance) and self._has_member(v, node.attr) for v in values):
                return found  # another type's member of the same name
            shown = unknown and not self._is_defined(node.attr) and not self._names_another(node, type_name)
            if not shown and any(row.any_receiver for row, _ in options):
                own = all(isinstance(v, Instance) and (v.type == "foreign" or node.attr in v.overrides) for v in values)
                return found if values and own else max(found, Certainty.MAYBE)
            return Certainty.YES if shown else found
        by_class = found is Certainty.MAYBE and call is None and self._is_defined(node.attr)
        if by_class and not self._is_named_for(node.value, type_name):
            return Certainty.NO  # a class of the file has such an attribute
        if found is not Certainty.MAYBE or type_name != "tensor":
            return found
        if any(source in row.distinctive for row, _ in options):
            array = node.attr == "size" and call is None
            member = node.value.attr if isinstance(node.value, ast.Attribute) else ""
            private = any(row.report for row, _ in self._view.settings.members(member))  # its tensor is left too
            own = node.attr in self._file.class_members and (call is None or self._file.may_take(call, node.attr))
            return Certainty.NO if array or private or own else Certainty.YES
        if call is None:
            return Certainty.MAYBE if all(row.any_receiver for row, _ in options) else Certainty.NO
        sized = node.attr == "view" and any("int" in kinds(self._view, a) for a in call.args)
        if sized or is_tensor_call(call, source) or self._gives_tensor(call) or _is_cast_of_operation(node, call):
            return Certainty.YES
        target = [f for row, _ in options for f in row.forms(self._view.target) if f.results]
        if any(shows_fields(self._view, call, f) for f in target):
            return Certainty.YES
        unused = isinstance(self._view.parent(call), ast.Expr) and not node.attr.endswith("_")
        return Certainty.NO if unused or self._is_unfit(call, options) else Certainty.MAYBE

    def _is_defined(self, name: str) -> bool:
        """Whether a class of the file defines a member of this name, stores to one, or gives one to another module."""
        stores = self._view.evaluator.stores(name)
        own = (store.registered or path_of(store.target.value) in ("self", "cls") for store in stores)
        return name in self._file.class_members or any(own)

    def _names_another(self, node: ast.Attribute, type_name: str) -> bool:
        """Whether the receiver's name suggests another type that has the member: ``lr_scheduler.get_lr()``."""
        table, name = self._view.settings.table, path_of(node.value).rpartition(".")[2]
        if table.suggests(type_name, name):
            return False
        types = {row.receiver or "" for row, _ in self._view.settings.members(node.attr)} - {type_name}
        return any(table.suggests(other, name) for other in types)

    def _gives_tensor(self, call: ast.Call) -> bool:
        """Whether only a tensor has the method called on the result: ``x.astype('float32').cpu().numpy()``."""
        member = self._view.parent(call)
        after = self._view.parent(member) if isinstance(member, ast.Attribute) else None
        if not isinstance(member, ast.Attribute) or not isinstance(after, ast.Call) or after.func is not member:
            return False
        source = self._view.settings.source
        if getattr(call.func, "attr", "") not in facts().conversions | facts().views[source]:
            return False  # it gives anything
        rows = [row for row, _ in self._view.settings.members(member.attr) if row.receiver == "tensor"]
        if member.attr not in facts().of_modules_too and any(source in row.distinctive for row in rows):
            return True
        return shows_tensor(after, source) or self._gives_tensor(after)

    def overrides(self, node: ast.expr, method: str) -> bool:
        """Whether a local subclass defines, or may define, ``method`` of the receiver."""
        values = self._view.evaluator.objects(node)
        return any(isinstance(v, Instance) and method in v.overrides for v in values)

    def _is_target(self, instance: Instance) -> bool:
        return instance.api.partition(".")[0] in (self._view.target, "paddletorch_shim")

    def _by_use(self, node: ast.expr, type_name: str, values_unknown: bool) -> Certainty:
        spec = self._view.settings.table.types[type_name]
        path = path_of(node)
        names = [path, *self._iterated(node)]
        named = any(matches_name(spec.names, n.rpartition(".")[2].rstrip("[]")) for n in names)
        named = named or self._is_held_elsewhere(node, type_name)
        if path in ("self", "cls") or (type_name == "scaler" and self._file.names_shim):
            return Certainty.NO  # perhaps the shim's scaler, which has the source's methods
        if self._reads_like(node, type_name):
            return Certainty.YES
        if type_name == "tensor" and values_unknown:
            group = self._view.settings.table.suggests("group", path.rpartition(".")[2])
            return Certainty.NO if group else Certainty.MAYBE
        if not path:
            return Certainty.NO
        called = self._file.methods(node, by_name=named)  # a usual name has one meaning in a file
        used = any(methods <= called for methods in spec.protocol) and not self._is_named_otherwise(path, type_name)
        if type_name == "optimizer" and self._objects.variable(node) in self._optimizers:
            return Certainty.YES
        sure = used or (named and type_name in _TYPES_SHOWN_BY_NAME)
        if sure and not self._has_unknown_maker(node, spec.names):
            return Certainty.YES
        return Certainty.MAYBE if named or used else Certainty.NO

    def _is_held_elsewhere(self, node: ast.expr, type_name: str) -> bool:
        """Whether another class of the file keeps a module of the type under the name of this attribute."""
        evaluator, bases = self._view.evaluator, self._view.settings.table.bases
        if not isinstance(node, ast.Attribute) or "module" not in bases(type_name):
            return False
        held = (store.value for store in evaluator.stores(node.attr) if store.value is not None)
        found = (v for value in held for v in evaluator.objects(value) if isinstance(v, Instance))
        return any(type_name in bases(v.type) and not self._is_target(v) for v in found)

    def _is_named_for(self, node: ast.expr, type_name: str) -> bool:
        """Whether the last name of a path is usual for layers of this type and of no other: ``bn``, unlike ``m``."""
        table, name = self._view.settings.table, path_of(node).rpartition(".")[2]
        return "layer" in table.bases(type_name) and [t for t in table.types if table.suggests(t, name)] == [type_name]

    def _is_named_otherwise(self, path: str, type_name: str) -> bool:
        """Whether the last name of a path is the usual one of another type."""
        name = path.rpartition(".")[2]
        others = (one for one in _TYPES_SHOWN_BY_NAME if one != type_name)
        return any(self._view.settings.table.suggests(one, name) for one in others)

    def _iterated(self, node: ast.expr) -> list[str]:
        """Paths of what a loop variable iterates over: ``optimizers`` of ``for o in optimizers``."""
        scope = self._view.tree.scopes.get(node) if isinstance(node, ast.Name) else None
        bindings = scope.lookup(node.id) if scope is not None and isinstance(node, ast.Name) else []
        found = self._iterated_paths.get(id(bindings)) if bindings else []
        if found is None:
            found = self._iterated_paths[id(bindings)] = self._iterated_by(bindings)
        return found

    def _iterated_by(self, bindings: Iterable[Binding]) -> list[str]:
        found: list[str] = []
        for binding in bindings:
            value = binding.value if binding.kind == "iterate" else None
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "values":
                value = value.func.value
            if value is not None:
                found.append(path_of(value))
        return found

    def _has_unknown_maker(self, node: ast.expr, names: str) -> bool:
        """Whether this file creates the receiver by a call whose name does not show its type."""
        for value in self._objects.assigned(node):
            maker = path_of(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
            if maker == "deepcopy":
                continue  # of the type of what it copies
            if isinstance(value, ast.Call) and names and not matches_name(without_anchors(names), maker):
                return True
        return False


def _is_cast_of_operation(node: ast.Attribute, call: ast.Call) -> bool:
    """Whether a cast of what an operator gives is called, ``(a == b).float()``: modules have no operators."""
    computed = isinstance(node.value, ast.Compare | ast.BinOp) or (
        isinstance(node.value, ast.UnaryOp) and not isinstance(node.value.op, ast.Not)
    )
    return computed and not call.args and node.attr in facts().of_modules_too


def _with_member(values: frozenset[Value], member: str) -> frozenset[Value]:
    """The values without lists and dicts, which have no such member; all if nothing else is there."""
    if not member or member in _OF_CONTAINERS:
        return values
    return frozenset(v for v in values if not isinstance(v, Container)) or values


def _is_function(value: Value) -> bool:
    """Whether a value is a function: its result is meant, not the function, in ``d() if callable(d) else d``."""
    return isinstance(value, Partial) or (isinstance(value, Local) and not isinstance(value.node, ast.ClassDef))
