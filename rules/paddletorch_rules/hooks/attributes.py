"""Attributes of a layer's parameters, to torch: what a ``ParamAttr`` became is applied to the tensor once it is made.

Converted, an attribute is ``None``, a flag, a name or a function of the tensor: a variable is asked as the code runs.
"""

from __future__ import annotations

import ast
import re

from paddletorch_rules.hooks.arguments import is_call_of, is_pure
from paddletorch_rules.hooks.protocol import BoundCall

_FLAGS = (None, True, False)
_FIELDS = ("name", "initializer", "learning_rate", "regularizer", "trainable", "do_model_average", "need_clip")


def attributes(call: BoundCall, tensors: dict[str, str], absent: frozenset[str] = frozenset()) -> None:
    """Apply the attributes of parameters to the tensors of the layer that is made.

    ``absent`` are tensors without which the layer works, and which ``False`` takes away.
    """
    applied: list[str] = []
    given: list[str] = []
    before = after = ""
    for parameter, tensor in tensors.items():
        value, is_bias = call.value(parameter), tensor == "bias"
        if value is None or call.literal(parameter) in _FLAGS:
            if tensor in absent and call.literal(parameter) is False:
                applied.append(f"m.register_parameter('{tensor}', None)")
                call.drop(parameter)
            elif not is_bias and call.literal(parameter) is not False:
                call.drop(parameter)  # a weight without a parameter is refused by the row's pair
            continue
        if is_bias and _is_flag(value):
            continue
        if _is_private(value):
            call.stop("NNL203", parameter=parameter, value=ast.unparse(value))
        origin = call.origin(parameter) or value
        keywords = attribute(origin)
        if keywords is not None and "trainable" in keywords and not tensor.isidentifier():
            call.stop("NNL203", parameter=parameter, value=ast.unparse(value))
        if keywords is not None or (call.types(parameter) & {"initializer"} and isinstance(origin, ast.Call)):
            call.drop(parameter)
            keywords = {"initializer": origin} if keywords is None else keywords
            if isinstance(keywords.get("initializer"), ast.Call) or "trainable" in keywords:
                applied.append(f"{{{parameter}}}(m.{tensor})")
            elif "initializer" in keywords:
                given.append(f", {tensor[0]}={{{parameter}}}")
                applied.append(f"{tensor[0]}(m.{tensor}) if callable({tensor[0]}) else None")
            continue
        written = ast.unparse(value)
        plain = isinstance(value, ast.Name | ast.Attribute) and is_pure(value) and not re.match(r"m\b", written)
        name = written if plain else tensor[0]
        asked = f"{name}(m.{tensor}) if callable({name}) else None"
        if tensor in absent:
            asked = f"m.register_parameter('{tensor}', None) if {name} is False else {asked}"
        elif is_bias and is_pure(value):
            call.wrap(parameter, "(", " is not False)")
            if not re.search(r"attr|init|param", written) and not call.types(parameter) & {"initializer"}:
                call.report("NNL202", difference=f"{written} is taken as a flag, not as an attribute")
                continue
            given += [] if plain else [f", {name}={written}"]
            applied.append(asked)
            continue
        elif is_bias:  # asked twice, whether there is a bias and what it starts with
            if ast.unparse(call.node.func).endswith("__init__"):
                call.stop("NNL203", parameter=parameter, value=written)
            call.drop(parameter)
            call.force("bias", "_bias is not False")
            before, after = "(lambda _bias: ", f")({{{parameter}}})"
            applied.append("_bias(m.bias) if callable(_bias) else None")
            continue
        call.drop(parameter)
        given += [] if plain else [f", {name}={{{parameter}}}"]
        applied.append(asked)
    if applied and call.value("padding_idx") is not None and call.literal("padding_idx") is not None:
        applied.append("m.weight.data[m.padding_idx].zero_()")  # Paddle's layer does it after the initializer
    if applied:
        body = applied[0] if len(applied) == 1 else f"({', '.join(applied)})"
        call.surround(before, f".apply(lambda m{''.join(given)}: {body}){after}")


def attribute(value: ast.expr) -> dict[str, ast.expr] | None:
    """The keywords of ``ParamAttr(...)``; None if the expression is no such call."""
    if not is_call_of(value, "ParamAttr"):
        return None
    assert isinstance(value, ast.Call)
    named = {k.arg: k.value for k in value.keywords if k.arg is not None}
    return {**dict(zip(_FIELDS, value.args, strict=False)), **named}


def _is_flag(value: ast.expr) -> bool:
    """Whether it is True or False, as a comparison is."""
    if isinstance(value, ast.BoolOp):
        return all(_is_flag(v) for v in value.values)
    if isinstance(value, ast.IfExp):
        return _is_flag(value.body) and _is_flag(value.orelse)
    negated = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
    return negated or isinstance(value, ast.Compare) or (isinstance(value, ast.Constant) and type(value.value) is bool)


def _is_private(value: ast.expr) -> bool:
    """Whether it is what a layer of Paddle's keeps of its attributes, ``layer.linear1._weight_attr``."""
    nodes = [n for n in ast.walk(value) if isinstance(n, ast.Attribute)]
    return any(n.attr in ("_weight_attr", "_bias_attr") and not isinstance(n.value, ast.Name) for n in nodes)
