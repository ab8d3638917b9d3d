"""Attributes of tracked instances that are read or assigned: ``x.requires_grad``, ``x.is_cuda``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from paddletorch_rules import Form, ParameterPair, Row
from paddletorch_rules.adapters import readers

from paddletorch.model import Edit
from paddletorch.plan.calls.fill_template import fill
from paddletorch.plan.calls.translate import translate_edits
from paddletorch.plan.inference.leaf_tensors import is_computed, is_computed_element, may_be_computed
from paddletorch.plan.inference.rebound_data import is_kept_before_rebinding
from paddletorch.plan.inference.receivers import Receivers
from paddletorch.plan.inference.shapes import layer_size, shape
from paddletorch.plan.model.changes import NOTHING, Changes
from paddletorch.plan.model.findings import finding, refused
from paddletorch.plan.model.refusals import Assigned, NotLocated, Refused, StatedByTable
from paddletorch.plan.model.same_code import same_code
from paddletorch.plan.model.target_forms import target_form
from paddletorch.plan.model.template import Template
from paddletorch.plan.model.view import FileView
from paddletorch.plan.model.written_code import is_written
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.syntax.control_flow import catches
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.plan.syntax.operators import OPERATORS
from paddletorch.plan.syntax.statements import remove_statement
from paddletorch.plan.uses.linear_weights import is_linear_weight, linear_weight, other_weight
from paddletorch.resolve import Instance

_ABSENT = "API236"
"""The code for what the target lacks where the program asks whether it is there."""

_STOP = "paddle_stop_gradient"
"""The written function for ``y.stop_gradient = flag`` of a tensor that may be computed."""


def plan_attribute(view: FileView, aliases: Mapping[str, str], node: ast.Attribute, row: Row, form: Form) -> Changes:
    """Plan one use of an attribute of an instance of the row's type.

    ``aliases`` are the converted file's names of the target's modules.
    """
    name = f"{row.receiver}.{node.attr}"
    try:
        if row.report is not None and not row.forms(view.target):
            of_module = "module" in view.settings.table.bases(row.receiver or "")
            if of_module and _is_own(view, node) and not _is_of_framework(view, node.value):
                return NOTHING
            if row.hook == "may_be_none" and view.is_located(node) and _is_compared_with_none(view, node):
                return _as_absent(view, node, row, name)
            raise Refused(StatedByTable(row.report, (("method", node.attr),)))
        if not view.is_located(node):
            raise Refused(NotLocated())
        target = target_form(row, view)
        if row.receiver == "module" and target.template and _is_own(view, node):
            return NOTHING
        if _stands_already(view, node, target.template or ""):
            return NOTHING  # already converted, in a file that still imports the source
        written = spelled(view, aliases, node, _edits(view, node, row, form, target), name)
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, node, name, row),))
    if view.target in row.warn:
        written = written._replace(findings=(finding(row.warn[view.target], node, name, row),))
    if written.edits:
        replacement = target.template or f"{row.receiver}.{target.names[0]}"
        written = written._replace(conversions=(view.conversion(row.code, node, name, replacement, row.id),))
    return written


def read_of_unseen_layer(view: FileView, aliases: Mapping[str, str], node: ast.Attribute, row: Row) -> Changes:
    """Plan the read of an attribute by a written function, which is right for whatever object has it."""
    if is_written(view, node):
        return NOTHING
    name = f"{row.receiver}.{node.attr}"
    template = f"{readers(view.target)[name]}({{self}})"
    try:
        if not view.is_located(node):
            raise Refused(NotLocated())
        written = spelled(view, aliases, node, [_filled(view, node, node.value, template, row.code)], name)
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, node, name, row),))
    return written._replace(conversions=(view.conversion(row.code, node, name, template, row.id),))


def _is_compared_with_none(view: FileView, node: ast.Attribute) -> bool:
    parent = view.parent(node)
    if not isinstance(parent, ast.Compare) or parent.left is not node or len(parent.ops) != 1:
        return False
    other = parent.comparators[0]
    return isinstance(parent.ops[0], ast.Is | ast.IsNot) and isinstance(other, ast.Constant) and other.value is None


def _as_absent(view: FileView, node: ast.Attribute, row: Row, name: str) -> Changes:
    """``getattr(bn, 'num_batches_tracked', None) is not None``: None is what torch keeps where nothing is counted."""
    template = f"getattr({{self}}, {view.quoted(repr(node.attr), node)}, None)"
    edit = Edit(view.source.span(node), "", row.code, tuple(fill(view, template, {"self": node.value}, node)))
    conversion = view.conversion(row.code, node, name, template, row.id)
    return Changes((edit,), (conversion,), (finding(_ABSENT, node, name, row, what=view.text(node)),))


def _is_own(view: FileView, node: ast.Attribute) -> bool:
    """Whether the program sets the attribute: in a class for what is read of ``self``, anywhere for another object."""
    of_self = isinstance(node.value, ast.Name) and node.value.id == "self"
    stores = view.evaluator.stores_of(node)
    return any(not of_self or same_code(store.target.value, node.value) for store in stores)


def _is_of_framework(view: FileView, node: ast.expr) -> bool:
    """Whether it is a layer of the framework's own class, whose private members nobody else defines."""
    return bool(view.provide(Receivers).framework_types(node) - {"module"})


def _edits(view: FileView, node: ast.Attribute, row: Row, form: Form, target: Form) -> tuple[Edit, ...]:
    """Edits for one read of the attribute, or for the statement that sets it.

    Raises:
        Refused: the use has no counterpart.
    """
    hook = ATTRIBUTE_HOOKS.get(row.hook or "")
    template = hook(view, node) if hook is not None else None
    if template is not None:
        return (_filled(view, node, node.value, template, row.code),) if template else ()
    if isinstance(node.ctx, ast.Store):
        return _of_computed(view, node, row.code) or _store(view, node, row, target)
    return larger_member(view, node, form, target, row.code) or _load(view, node, row, target)


def _of_computed(view: FileView, node: ast.Attribute, code: str) -> tuple[Edit, ...]:
    """``y = y.detach()`` for ``y.stop_gradient = True`` if the tensor is computed; else no edits.

    What is passed to a function, or taken out of something, may be computed or not: a written function then asks.
    torch allows the flag to be changed only on leaf tensors; ``y.requires_grad_()`` it allows on all that have it.
    """
    statement, name = view.parent(node), node.value
    if view.target != "torch" or node.attr != "stop_gradient" or not isinstance(name, ast.Name):
        return ()
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ()
    flag = statement.value.value if isinstance(statement.value, ast.Constant) else None
    if isinstance(flag, bool) and is_computed_element(view, name):  # the list must hold the same tensor afterwards
        return (Edit(view.source.span(statement), f"{name.id}.{'detach_' if flag else 'requires_grad_'}()", code),)
    computed = is_computed(view, name)
    if not computed and not may_be_computed(view, name):
        return ()
    if flag is False:
        return (Edit(view.source.span(statement), f"{name.id}.requires_grad_()", code),)
    bound = name.id in view.tree.scopes[name].bindings
    if flag is True and computed and bound:
        return (
            Edit(view.source.span(node), name.id, code),
            Edit(view.source.span(statement.value), f"{name.id}.detach()", code),
        )
    function = f"{name.id} = {_STOP}" if bound else _STOP  # a variable of another scope is not bound anew
    if flag is True:
        return (Edit(view.source.span(statement), f"{function}({name.id})", code),)
    parts = (f"{function}({name.id}, ", view.source.span(statement.value), ")")
    return (Edit(view.source.span(statement), "", code, parts),)


def _stands_already(view: FileView, node: ast.Attribute, text: str) -> bool:
    """Whether the member is in the place that it has in what would be written: ``None if x.is_leaf else x.grad_fn``."""
    if f"{{self}}.{node.attr}" not in text:
        return False
    template, current = Template(text), view.parent(node)
    for _ in range(_DEPTH):
        arguments = template.match(current, view.tree.scopes) if isinstance(current, ast.expr) else None
        if current is None or arguments is not None:
            return arguments is not None and same_code(arguments["self"], node.value)
        current = view.parent(current)
    return False


AttributeHook = Callable[[FileView, ast.Attribute], "str | None"]


def _data(view: FileView, node: ast.Attribute) -> str | None:
    """Drop ``.data`` in ``init.normal_(weight.data)``: Paddle's initializers do not change a detached tensor.

    What is kept of a tensor that gets other data is a copy.
    """
    if view.target == "paddle" and is_kept_before_rebinding(view, node):
        return "{self}.detach().clone()"
    parent = view.parent(node)
    call = view.parent(parent) if isinstance(parent, ast.keyword) else parent
    name = view.qualified(call.func) if isinstance(call, ast.Call) and call.func is not node else None
    return "{self}" if name is not None and name.startswith("torch.nn.init.") else None


def _loader_sampler(view: FileView, node: ast.Attribute) -> str | None:
    """Paddle's distributed sampler makes batches: it is the loader's batch sampler, and has no sampler of its own."""
    parent = view.parent(node)
    of_epochs = isinstance(parent, ast.Attribute) and parent.attr == "set_epoch"
    if view.target != "paddle" or not of_epochs:
        return None
    calls = [v.call for v in view.evaluator.objects(node.value) if isinstance(v, Instance)]
    given = [k.value for c in calls if c is not None for k in c.keywords if k.arg == "sampler"]
    found = {v.type if isinstance(v, Instance) else "" for g in given for v in view.evaluator.objects(g)}
    if found == {"distributed_sampler"} or not path_of(node.value):
        return "{self}.batch_sampler"
    return "getattr({self}.batch_sampler, 'sampler', {self}.batch_sampler)"


def _handed_on(view: FileView, node: ast.Attribute) -> str | None:
    """Only as an argument of the framework: Paddle's layers keep one number where torch's keep one for each axis."""
    parent = view.parent(node)
    call = view.parent(parent) if isinstance(parent, ast.keyword) else parent
    name = view.qualified(call.func) if isinstance(call, ast.Call) and call.func is not node else None
    if name is None or not name.startswith(f"{view.settings.source}."):
        raise Refused(StatedByTable("NNM202", (("method", node.attr),)))
    return None


_PADDING = 4
"""The position of ``padding`` in the calls of convolutions, layers and functions."""


def _conv_padding(view: FileView, node: ast.Attribute) -> str | None:
    """What a convolution gets as its padding may be one number, as Paddle's layers keep it."""
    parent = view.parent(node)
    call = view.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    by_name = isinstance(parent, ast.keyword) and parent.arg == "padding"
    name = (view.qualified(call.func) or "").rpartition(".")[2].lower()
    is_given = by_name or node in call.args[_PADDING : _PADDING + 1]
    return "{self}._padding" if is_given and name.startswith("conv") else None


ATTRIBUTE_HOOKS: dict[str, AttributeHook] = {
    "shape": shape,
    "layer_size": layer_size,
    "conv_padding": _conv_padding,
    "data": _data,
    "handed_on": _handed_on,
    "loader_sampler": _loader_sampler,
    "linear_weight": linear_weight,
    "other_weight": other_weight,
}
"""Hooks of attribute rows. Each returns a template, an empty one for no change, or None to use the row."""


def larger_member(view: FileView, node: ast.Attribute, form: Form, target: Form, code: str) -> tuple[Edit, ...]:
    """The edit of a larger expression around a member, if the source's form has such an expression."""
    if not form.also or not target.also or catches(view, node, _NONE_LEFT):
        return ()
    current: ast.AST | None = view.parent(node)
    for _ in range(_DEPTH):
        if not isinstance(current, ast.expr):
            break
        for text in form.also:
            arguments = Template(text).match(current, view.tree.scopes)
            if arguments is not None and arguments.get("self") is node.value:
                parts = fill(view, target.also[0], arguments, current)
                return (Edit(view.source.span(current), "", code, tuple(parts)),)
        current = view.parent(current)
    return ()


_NONE_LEFT = frozenset({"StopIteration", "IndexError"})
"""What the forms of a larger expression raise where there is no element: one of them each."""

_DEPTH = 5
"""How many ancestors of a member are compared with a larger expression."""


def _filled(view: FileView, node: ast.expr, receiver: ast.expr, template: str, code: str) -> Edit:
    return Edit(view.source.span(node), "", code, tuple(fill(view, template, {"self": receiver}, node)))


def _load(view: FileView, node: ast.Attribute, row: Row, target: Form) -> tuple[Edit, ...]:
    template = target.template
    pair = _values(row)
    if template is None and pair is not None:
        values = view.settings.table.values[pair.values or ""]
        wrap = values.to_paddle if view.target == "paddle" else values.to_torch
        if wrap is not None:
            template = wrap.replace("{x}", "{self}." + target.names[0])
    if template is not None:
        whole: ast.expr = node
        parent = view.parent(node)
        if template.startswith("not {self}") and isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
            whole, template = parent, template.removeprefix("not ")
        parts = fill(view, template, {"self": node.value}, whole)
        return (Edit(view.source.span(whole), "", row.code, tuple(parts)),)
    return _rename(view, node, row, target)


def _rename(view: FileView, node: ast.Attribute, row: Row, target: Form) -> tuple[Edit, ...]:
    if not target.names or node.attr in target.names:
        return ()
    return (Edit(view.source.attribute_name(node), target.names[0], row.code),)


def _store(view: FileView, node: ast.Attribute, row: Row, target: Form) -> tuple[Edit, ...]:
    """``x.requires_grad = False`` and other assignments.

    Raises:
        Refused: the target has no such assignment.
    """
    statement = view.parent(node)
    simple = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    value = statement.value if simple and isinstance(statement, ast.Assign) else None
    if isinstance(getattr(statement, "value", None), ast.Starred):  # it parses, and no text around it does
        raise Refused(Assigned(target.template or next(iter(target.names), "the counterpart")))
    if value is not None:
        for text, template in target.assign.items():
            if text in ("*", ast.unparse(value)) and isinstance(statement, ast.Assign):
                if not template:
                    return (remove_statement(view, statement),)
                if _is_transposed(view, node):
                    template = template.replace("{value}", "{value}.t()")
                parts = fill(view, template, {"self": node.value, "value": value}, node)
                return (Edit(view.source.span(statement), "", row.code, tuple(parts)),)
    if isinstance(statement, ast.AugAssign) and target.assign.get("*"):
        read = "{self}." + (target.names[0] if target.names else node.attr)
        if target.template:
            read = f"({target.template})"
        operator = OPERATORS.get(type(statement.op))
        computed = f"{read} {operator} {{value}}"
        if _is_transposed(view, node):
            computed = f"({read}.t() {operator} {{value}}).t()"
        template = target.assign["*"].replace("{value}", computed)
        if operator is not None:
            parts = fill(view, template, {"self": node.value, "value": statement.value}, node)
            return (Edit(view.source.span(statement), "", row.code, tuple(parts)),)
    if not target.names:
        raise Refused(Assigned(target.template or "the counterpart"))
    pair = _values(row)
    if pair is None:
        return _rename(view, node, row, target)
    if value is None:
        raise Refused(Assigned(target.names[0]))
    edits = translate_edits(view, value, view.settings.table.values[pair.values or ""], row.code)
    return (*_rename(view, node, row, target), *edits)


def _is_transposed(view: FileView, node: ast.Attribute) -> bool:
    """Whether it is the data of a linear layer's weight: the values that it is given have the other layout."""
    return view.target == "paddle" and node.attr == "data" and is_linear_weight(view, node.value)


def _values(row: Row) -> ParameterPair | None:
    return next((p for p in row.parameters if p.values is not None), None)
