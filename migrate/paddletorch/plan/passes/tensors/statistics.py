"""Running statistics of normalization: buffers in torch, parameters that do not train in Paddle.

What counts or lists the parameters of a model must leave them out, what walks over its buffers does not meet them, and
their keys in a state are ``_mean`` and ``_variance``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.brackets import with_brackets
from paddletorch.plan.syntax.free_names import free_name
from paddletorch.resolve import Instance, NoneValue

_CODE = "NNM101"
_NOT_CONVERTED = "NNM205"

_COUNTS = frozenset({"numel", "nelement", "size", "shape"})
"""Members of a parameter by which code counts its elements."""

_KEY = re.compile(r"(.*\.)?running_(mean|var)")
_NAMES = {"mean": "_mean", "var": "_variance"}
_TAKE_KEYS = frozenset({"endswith", "get", "index", "pop", "remove", "removesuffix", "replace", "startswith"})
"""Methods of strings, dicts and lists that take the key of a tensor, or the end of one."""


def plan_statistics(view: FileView, planned: Planned) -> Changes:
    """Leave the statistics out of sums over parameters, rename their keys, and report walks over buffers."""
    return joined([*_sums(view), *_loops(view), *_lengths(view), *_walks(view), *_keys(view)])


def _sums(view: FileView) -> Iterator[Changes]:
    """``sum(p.numel() for p in model.parameters())``."""
    receivers = view.provide(Receivers)
    for member in view.tree.members.get("parameters", ()):
        call = view.parent(member)
        loop = view.parent(call) if isinstance(call, ast.Call) and call.func is member else None
        if not isinstance(call, ast.Call) or call.args or call.keywords or not isinstance(loop, ast.comprehension):
            continue
        whole = view.parent(loop)
        if not isinstance(whole, ast.GeneratorExp | ast.ListComp) or len(whole.generators) != 1:
            continue
        if not isinstance(loop.target, ast.Name) or not _counts(whole.elt, loop.target.id) or loop.ifs:
            continue  # a condition asks which of them train
        if not may_hold_statistics(view, member.value):
            continue
        if receivers.certainty(member.value, "module") is not Certainty.YES and not _is_summed(view, whole):
            continue
        if not view.is_deselected(_CODE, whole) and view.is_located(whole):
            yield _without_statistics(view, call, member, loop.target)


def _loops(view: FileView) -> Iterator[Changes]:
    """``for p in model.parameters(): total += p.numel()``, or ``p.fill_(0)``."""
    for member, call in (*_listed(view, "parameters"), *_listed(view, "named_parameters")):
        loop = view.parent(call)
        if isinstance(loop, ast.Call) and _is_zip_of_written(view, loop):
            details = {"what": f".{member.attr}()", "difference": "statistics of normalization are among Paddle's"}
            yield Changes(findings=(finding(_NOT_CONVERTED, member, f"module.{member.attr}", **details),))
        if not isinstance(loop, ast.For) or loop.iter is not call:
            continue
        names = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
        variables = [name.id for name in names if isinstance(name, ast.Name)]
        if len(variables) != len(names) or len(names) != (1 if member.attr == "parameters" else 2):
            continue
        taken = any(_counts(s, variables[-1]) or _writes(s, variables[-1]) for s in loop.body)
        if taken and not any(_asks_which_train(s, variables[-1]) for s in loop.body):
            name = variables[0] if len(variables) == 2 else free_name(view, call, "name")
            element = variables[0] if len(variables) == 1 else f"({', '.join(variables)})"
            yield _list_without_statistics(view, call, member, element, f"{name}, {variables[-1]}")


def _is_zip_of_written(view: FileView, call: ast.Call) -> bool:
    """Whether this is ``for p, q in zip(a.parameters(), b.parameters())`` with one of them written in the body."""
    loop = view.parent(call)
    if not isinstance(call.func, ast.Name) or call.func.id != "zip" or not isinstance(loop, ast.For):
        return False
    names = [n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)]
    return loop.iter is call and any(_writes(s, name) for s in loop.body for name in names)


def _writes(node: ast.AST, name: str) -> bool:
    """Whether the elements of the variable are written, other than where its axes or its gradient are asked for."""
    if isinstance(node, ast.If) and _is_guarded(node.test, name):
        return any(_writes(child, name) for child in node.orelse)
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr.endswith("_") and not function.attr.startswith("_"):
            owner = function.value  # p.fill_(0), p.data.mul_(0.9), nn.init.zeros_(p)
            written = [
                owner.value if isinstance(owner, ast.Attribute) and owner.attr == "data" else owner,
                *node.args[:1],
            ]
            if function.attr != "requires_grad_" and any(isinstance(w, ast.Name) and w.id == name for w in written):
                return True
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    for target in targets:
        owner = target.value if isinstance(target, ast.Attribute | ast.Subscript) else target
        is_data = not isinstance(target, ast.Attribute) or target.attr == "data"
        is_own = isinstance(node, ast.AugAssign) or not isinstance(target, ast.Name)
        if is_data and is_own and isinstance(owner, ast.Name) and owner.id == name:
            return True
    return any(_writes(child, name) for child in ast.iter_child_nodes(node))


def _is_guarded(test: ast.expr, name: str) -> bool:
    """Whether statistics, which have one axis and no gradient, do not pass: ``p.dim() > 1``, ``p.grad is not None``."""
    asked = {n.attr for n in ast.walk(test) if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == name}
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Gt | ast.GtE):
        return not asked.isdisjoint({"dim", "grad", "ndim", "shape"})
    return "grad" in asked


def _lengths(view: FileView) -> Iterator[Changes]:
    """``len(list(model.parameters()))``."""
    for member, call in _listed(view, "parameters"):
        made = view.parent(call)
        length = view.parent(made) if isinstance(made, ast.Call) and _is_builtin(view, made, "list") else None
        if isinstance(made, ast.Call) and isinstance(length, ast.Call) and _is_builtin(view, length, "len"):
            parameter = free_name(view, call, "parameter")
            yield _list_without_statistics(
                view, made, member, parameter, f"{free_name(view, call, 'name')}, {parameter}"
            )


def _is_builtin(view: FileView, call: ast.Call, name: str) -> bool:
    """Whether this is a call of Python's own function of that name with one argument."""
    function = call.func
    return (
        isinstance(function, ast.Name)
        and function.id == name
        and len(call.args) == 1
        and not call.keywords
        and not view.tree.scopes[function].lookup(name)
    )


def _listed(view: FileView, method: str) -> Iterator[tuple[ast.Attribute, ast.Call]]:
    """Each ``model.parameters()``, or the like, of a model that may have a normalization with statistics."""
    receivers = view.provide(Receivers)
    for member in view.tree.members.get(method, ()):
        call = view.parent(member)
        if not isinstance(call, ast.Call) or call.func is not member or call.args or call.keywords:
            continue
        possible = receivers.certainty(member.value, "module") is not Certainty.NO
        if possible and may_hold_statistics(view, member.value) and view.is_located(call):
            yield member, call


def _asks_which_train(node: ast.AST, name: str) -> bool:
    """Whether something depends on the variable's ``requires_grad``, which is False for the statistics."""
    attributes = (n for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr == "requires_grad")
    return any(isinstance(n.value, ast.Name) and n.value.id == name for n in attributes)


def _list_without_statistics(
    view: FileView, replaced: ast.expr, member: ast.Attribute, element: str, variables: str
) -> Changes:
    """A list of the parameters that torch has, in place of ``replaced``; ``variables`` are the name and parameter."""
    if view.is_deselected(_CODE, replaced):
        return NOTHING
    test = view.quoted(f"{variables.partition(',')[0]}.split('.')[-1] not in ('_mean', '_variance')", replaced)
    model = view.source.span(member.value)
    parts = (f"[{element} for {variables} in ", model, f".named_parameters() if {test}]")
    edit = Edit(view.source.span(replaced), "", _CODE, parts)
    return Changes((edit,), (_counted(view, replaced),), handled=frozenset({member}))


def may_hold_statistics(view: FileView, model: ast.expr) -> bool:
    """Whether the model may have a normalization with statistics: not if the file makes all of it, without one."""
    if view.provide(_names_a_batch_norm):
        return True
    values = [v for v in view.evaluator.objects(model) if not isinstance(v, NoneValue)]
    return not values or not all(isinstance(v, Instance) and not v.external_class for v in values)


def _names_a_batch_norm(view: FileView) -> bool:
    return b"atchNorm" in view.source.body or b"atch_norm" in view.source.body


def _counts(element: ast.AST, name: str) -> bool:
    """Whether this counts the elements of the variable."""
    for node in ast.walk(element):
        if isinstance(node, ast.Attribute) and node.attr in _COUNTS:
            counted = node.value
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _COUNTS and node.args:
            counted = node.args[0]  # torch.numel(p)
        else:
            continue
        if isinstance(counted, ast.Name) and counted.id == name:
            return True
    return False


def _is_summed(view: FileView, whole: ast.expr) -> bool:
    call = view.parent(whole)
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "sum"


def _without_statistics(view: FileView, call: ast.Call, member: ast.Attribute, target: ast.Name) -> Changes:
    name = free_name(view, call, "name")
    end = view.source.span(member).end
    text = view.quoted(f" if {name}.split('.')[-1] not in ('_mean', '_variance')", call)
    variable = view.source.span(target)
    after = with_brackets(view.source, view.source.span(call), variable.end).end
    edits = (
        Edit(variable, f"{name}, {target.id}", _CODE),
        Edit(Span(end - len("parameters"), end), "named_parameters", _CODE),
        Edit(Span(after, after), text, _CODE),
    )
    return Changes(edits, (_counted(view, call),), handled=frozenset({member}))


def _counted(view: FileView, call: ast.expr) -> Conversion:
    return view.conversion(_CODE, call, "module.parameters", "the parameters that torch counts", "Module.parameters")


def _walks(view: FileView) -> Iterator[Changes]:
    """``model.buffers()``: the statistics are not among Paddle's."""
    receivers = view.provide(Receivers)
    for name in ("buffers", "named_buffers"):
        for member in view.tree.members.get(name, ()):
            call = view.parent(member)
            called = isinstance(call, ast.Call) and call.func is member
            if called and receivers.certainty(member.value, "module") is not Certainty.NO:
                details = {"what": f".{name}()", "difference": "statistics of normalization are parameters there"}
                yield Changes(findings=(finding(_NOT_CONVERTED, member, f"module.{name}", **details),))


def _keys(view: FileView) -> Iterator[Changes]:
    """``state["bn.running_mean"]``, ``"running_var" in key``."""
    if b"running_" not in view.source.body or view.evaluator.stores("running_mean"):
        return
    for node in view.tree.strings:
        value = node.value if isinstance(node.value, str) else ""
        if not _is_key(view, node):
            continue
        match = _KEY.fullmatch(value)
        span = view.source.span(node)
        text = view.source.slice(span)
        if match is None or value not in text:
            if "running_" in value or value == "running":
                details = {"what": repr(value), "difference": "its keys end in _mean and _variance"}
                yield Changes(findings=(finding(_NOT_CONVERTED, node, "module.state_dict", **details),))
        elif view.is_located(node) and not view.is_deselected(_CODE, node):
            new = (match[1] or "") + _NAMES[match[2]]
            edit = Edit(span, text.replace(value, new), _CODE)
            yield Changes((edit,), (view.conversion(_CODE, node, value, new, f"norm.running_{match[2]}"),))


def _is_key(view: FileView, node: ast.Constant) -> bool:
    """Whether the string stands where keys of a state stand."""
    node_of: ast.expr = node
    parent = view.parent(node)
    if isinstance(parent, ast.Tuple | ast.List):
        node_of, parent = parent, view.parent(parent)
    if isinstance(parent, ast.Subscript):
        return parent.slice is node_of
    if isinstance(parent, ast.Compare):
        return isinstance(parent.ops[0], ast.In | ast.NotIn | ast.Eq | ast.NotEq)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        return parent.func.attr in _TAKE_KEYS and node_of in parent.args
    return False
