"""Running statistics of normalization: buffers in torch, parameters that do not train in Paddle.

What walks over the buffers of a model does not meet them, and their keys in a state are ``_mean`` and ``_variance``,
in torch ``running_mean`` and ``running_var``.
What walks over its parameters is a pass of its own (``walked_parameters``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from paddletorch.model import Edit
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.resolve import Instance, NoneValue

_CODE = "NNM101"
_NOT_CONVERTED = "NNM205"

_FUNCTIONS = {"buffers": "torch_buffers", "named_buffers": "torch_named_buffers"}
"""Written functions that give what torch's method gives, but for its counters of batches."""

_KEY = re.compile(r"(.*\.)?running_(mean|var)")
_NAMES = {"mean": "_mean", "var": "_variance"}
_PADDLE_KEY = re.compile(r"(.*\.)?_(mean|variance)")
_TORCH_NAMES = {"_mean": "running_mean", "_variance": "running_var"}
_OF_STATES = (b"state_dict", b"named_parameters", b"named_buffers", b".load(")
"""What a file has where a key without a dot can be one of a layer's state."""
_TAKE_KEYS = frozenset({"endswith", "get", "index", "pop", "remove", "removesuffix", "replace", "startswith"})
"""Methods of strings, dicts and lists that take the key of a tensor, or the end of one."""


_PLAIN = frozenset({"embedding", "linear"})
"""Layers that have a weight of their own and no part that normalizes."""


def plan_statistics(view: FileView, planned: Planned) -> Changes:
    """Rename the keys of statistics, and report walks over buffers."""
    return joined([*_walks(view, planned), *_keys(view)])


def plan_keys_of_statistics(view: FileView, planned: Planned) -> Changes:
    """Rename the keys of statistics towards torch, and report those that are put together."""
    if view.evaluator.stores("_mean"):
        return NOTHING
    of_states = any(word in view.source.body for word in _OF_STATES)
    return joined([*(_constant_keys_of_paddle(view) if of_states else ()), *_written_keys_of_paddle(view)])


def walked_by_function(
    view: FileView, planned: Planned, member: ast.Attribute, call: ast.Call, function: str
) -> Changes | None:
    """``function(model)`` in place of ``model.parameters()``, or of another walk; None where it cannot be written."""
    if view.is_deselected(_CODE, call):
        return NOTHING
    edit = Edit(view.source.span(call), "", _CODE, (f"{function}(", view.source.span(member.value), ")"))
    name = f"module.{member.attr}"
    try:
        changes = spelled(view, planned.naming.aliases, call, (edit,), name)
    except Refused:
        return None
    written = view.conversion(_CODE, call, name, function, f"Module.{member.attr}")
    return changes._replace(conversions=(written,), handled=frozenset({member}))


def may_hold_statistics(view: FileView, model: ast.expr) -> bool:
    """Whether the model may have a normalization with statistics: not if the file makes all of it, without one."""
    values = [v for v in view.evaluator.objects(model) if not isinstance(v, NoneValue)]
    if view.target == "paddle" and values and all(isinstance(v, Instance) and v.type in _PLAIN for v in values):
        return False
    if view.provide(_names_a_batch_norm):
        return True
    return not values or not all(isinstance(v, Instance) and not v.external_class for v in values)


def _names_a_batch_norm(view: FileView) -> bool:
    return b"atchNorm" in view.source.body or b"atch_norm" in view.source.body


def _walks(view: FileView, planned: Planned) -> Iterator[Changes]:
    """``model.buffers()``: the statistics are not among Paddle's."""
    receivers = view.provide(Receivers)
    for name, function in _FUNCTIONS.items():
        for member in view.tree.members.get(name, ()):
            call = view.parent(member)
            called = isinstance(call, ast.Call) and call.func is member and view.is_sources(member.value)
            if called and receivers.certainty(member.value, "module") is not Certainty.NO:
                written = _by_function(view, planned, member, call, function)
                if written is not None:
                    yield written
                    continue
                details = {"what": f".{name}()", "difference": "statistics of normalization are parameters there"}
                yield Changes(findings=(finding(_NOT_CONVERTED, member, f"module.{name}", **details),))


def _by_function(
    view: FileView, planned: Planned, member: ast.Attribute, call: ast.AST | None, function: str
) -> Changes | None:
    """The walk of a loop or of a list, or beside others; one that counts meets torch's counters of batches as well."""
    if not isinstance(call, ast.Call) or call.args or call.keywords or not view.is_located(call):
        return None
    walk: ast.AST | None = view.parent(call)
    if isinstance(walk, ast.Call) and isinstance(walk.func, ast.Name) and walk.func.id == "zip":
        call, walk = walk, view.parent(walk)
    is_loop = isinstance(walk, ast.For | ast.comprehension) and walk.iter is call
    if isinstance(walk, ast.comprehension):
        is_loop = is_loop and not isinstance(view.parent(walk), ast.GeneratorExp)
    return walked_by_function(view, planned, member, _called(view, member), function) if is_loop else None


def _called(view: FileView, member: ast.Attribute) -> ast.Call:
    call = view.parent(member)
    assert isinstance(call, ast.Call)
    return call


def _keys(view: FileView) -> Iterator[Changes]:
    """``state["bn.running_mean"]``, ``"running_var" in key``."""
    if b"running_" not in view.source.body or view.evaluator.stores("running_mean"):
        return
    for node in view.tree.strings:
        value = node.value if isinstance(node.value, str) else ""
        if not _is_key(view, node) or not view.is_sources(node):
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


def _constant_keys_of_paddle(view: FileView) -> Iterator[Changes]:
    """``state["bn._mean"]``, ``key.endswith("._variance")``."""
    for node in view.tree.strings:
        value = node.value if isinstance(node.value, str) else ""
        match = _PADDLE_KEY.fullmatch(value)
        if match is None or not _is_key(view, node) or not view.is_located(node) or view.is_deselected(_CODE, node):
            continue
        if not view.is_sources(node):
            continue
        span, name = view.source.span(node), f"_{match[2]}"
        text = view.source.slice(span)
        new = (match[1] or "") + _TORCH_NAMES[name]
        if value in text:
            edit = Edit(span, text.replace(value, new), _CODE)
            yield Changes((edit,), (view.conversion(_CODE, node, value, new, f"norm.{_TORCH_NAMES[name]}"),))


def _written_keys_of_paddle(view: FileView) -> Iterator[Changes]:
    """``f"{name}._mean"``: what stands in such a string is not edited."""
    for node in view.tree.fstrings:
        last = node.values[-1] if node.values else None
        named = isinstance(last, ast.Constant) and str(last.value).endswith(("._mean", "._variance"))
        if named and view.is_sources(node):
            details = {"what": view.text(node), "difference": "torch's keys end in running_mean and running_var"}
            yield Changes(findings=(finding(_NOT_CONVERTED, node, "module.state_dict", **details),))


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
