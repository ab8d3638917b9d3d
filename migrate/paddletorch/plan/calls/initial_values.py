"""Writes out the initial values that a layer's source draws by default, where the frameworks draw them differently."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from paddletorch_rules import Row
from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.attributes import attribute
from paddletorch_rules.hooks.protocol import Step

from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.initialized import object_path
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant
from paddletorch.plan.syntax.side_effects import is_pure

LEFT = "NNL210"
"""The finding about a layer whose initial values were asked for and cannot be written out."""


def warned_code(view: FileView, row: Row) -> str:
    """The row's warning; for a layer that starts with other values, what is said where they were to be the source's."""
    code = row.warn[view.target]
    return LEFT if code == "NNL207" and view.settings.options.initial_values == "source" else code


def initial_steps(binding: CallBinding, *, is_parent: bool) -> tuple[Step, ...]:
    """What gives the layer that the call makes the source's default initial values; nothing if that is not known.

    A tensor whose attribute has an initializer keeps the program's. What a variable holds as an attribute is done
    afterwards, so it may be one.
    """
    view, kind = binding.view, binding.row.initial
    if kind is None or view.settings.options.initial_values != "source" or binding.unseen or binding.opaque:
        return ()
    if binding.value("_weight") is not None or _has_other_defaults(view, binding.expression, is_parent=is_parent):
        return ()
    if "padding_idx" in binding.given and not _may_stand_twice(binding.given["padding_idx"].value):
        return ()
    expressions = list(_expressions(binding, kind, "{object}"))
    is_nested = any(tensor.count(".") > 1 for tensor, _ in expressions)
    attributes = {name for name in binding.given if name.endswith("_attr") and not _is_default(binding, name)}
    if is_nested and attributes and not (attributes == {"bias_attr"} and binding.literal("bias_attr") is False):
        return ()  # an attribute of such a layer is for the tensors of all layers in it
    needs_statements = is_nested or any(" = " in text for _, text in expressions)
    if needs_statements and object_path(view, binding.expression) is None:
        return ()  # a function of the layer has no place for them, and would be applied to the layers in it too
    steps = (_step(binding, tensor, text) for tensor, text in expressions)
    return tuple(step for step in steps if step is not None)


def _step(binding: CallBinding, tensor: str, text: str) -> Step | None:
    """What is done for one tensor of the layer, if anything."""
    name = tensor.rpartition(".")[2]
    if f"{name}_attr" in binding.given and _initializes(binding, f"{name}_attr"):
        return None
    expression, _, condition = text.partition(" if ")
    flag = "bias" if binding.target == "paddle" else "bias_attr"
    if name == "bias" and flag in binding.given and not _is_default(binding, flag):
        if binding.literal(flag) is False:
            return None
        condition = f"{tensor} is not None"
    if name == "padding_idx":
        given = binding.given[name].value
        index = tensor if binding.target == "torch" else ast.unparse(given)
        expression = expression.replace("{padding_idx}", index)
        condition = f"{index} is not None" if constant(given) is ... else ""
    return Step(((condition, expression),))


def _expressions(binding: CallBinding, kind: str, layer: str) -> Iterator[tuple[str, str]]:
    """Each tensor of a layer and of the layers in it, and the expression for it."""
    kinds = facts().initial_values
    found = dict(kinds[kind][binding.target])
    for name, more in kinds.items():
        parameter = name.removeprefix(f"{kind} with ")
        if parameter != name and parameter in binding.given and not _is_default(binding, parameter):
            found |= more.get(binding.target, {})
    for name, text in found.items():
        path = f"{layer}.{name}"
        if text in kinds:
            yield from _expressions(binding, text, path)
        else:
            yield path, text.replace("{tensor}", path).replace("{layer}", layer)


def _is_default(binding: CallBinding, parameter: str) -> bool:
    """Whether the call gives a parameter the value that it has when it is left out."""
    given = binding.given[parameter].value
    signature = binding.form.signature(binding.view.settings.source_releases.newest)
    declared = signature.get(parameter) if signature is not None else None
    if parameter.endswith("_attr") and constant(given) is True:
        return True
    return declared is not None and ast.unparse(given) == declared.default


def _initializes(binding: CallBinding, parameter: str) -> bool:
    """Whether the attribute is seen to have an initializer."""
    given = binding.origin(parameter)
    if given is None:
        return False
    keywords: Mapping[str, ast.expr] | None = attribute(given)
    if keywords is None:
        return "initializer" in binding.types(parameter) and isinstance(given, ast.Call)
    return isinstance(keywords.get("initializer"), ast.Call)


def _may_stand_twice(value: ast.expr) -> bool:
    """Whether the text of an argument means the same after the call."""
    return constant(value) is not ... or (isinstance(value, ast.Name | ast.Attribute) and is_pure(value))


def _has_other_defaults(view: FileView, call: ast.Call, *, is_parent: bool) -> bool:
    """Whether the program says itself what layers start with: for all of them, or for a class of its own."""
    if "set_global_initializer" in view.source.text:
        return True
    if not is_parent:
        return False
    around = view.parent(view.tree.scopes[call].node)
    body = around.body if isinstance(around, ast.ClassDef) else []
    return any(isinstance(node, ast.FunctionDef) and node.name == "reset_parameters" for node in body)
