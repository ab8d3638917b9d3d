"""Attributes of a layer's parameters, to torch: what a ``ParamAttr`` became is applied to the tensor once it is made.

Converted, an attribute is ``None``, a flag, a name or a function of the tensor: a variable is asked as the code runs.
"""

from __future__ import annotations

import ast
import re

from paddletorch_rules.hooks.arguments import is_call_of, is_pure
from paddletorch_rules.hooks.protocol import BoundCall, Step, hook

_FLAGS = (None, True, False)
_FIELDS = ("name", "initializer", "learning_rate", "regularizer", "trainable", "do_model_average", "need_clip")


def attributes(call: BoundCall, tensors: dict[str, str], absent: frozenset[str] = frozenset()) -> None:
    """Apply the attributes of parameters to the tensors of the layer that is made.

    ``absent`` are tensors without which the layer works, and which ``False`` takes away.
    """
    steps: list[Step] = []
    for parameter, tensor in tensors.items():
        value, is_bias = call.value(parameter), tensor == "bias"
        without = f"{{object}}.register_parameter('{tensor}', None)"
        if value is None or call.literal(parameter) in _FLAGS:
            if tensor in absent and call.literal(parameter) is False:
                steps.append(Step((("", without),)))
                call.drop(parameter)
            elif not is_bias and call.literal(parameter) is not False:
                call.drop(parameter)  # a weight without a parameter is refused by the row's pair
            continue
        if is_bias and _is_flag(value):
            continue
        written = ast.unparse(value)
        if _is_private(value):
            call.stop("NNL203", parameter=parameter, value=written)
        origin = call.origin(parameter) or value
        keywords = attribute(origin)
        if keywords is not None and "trainable" in keywords and not tensor.isidentifier():
            call.stop("NNL203", parameter=parameter, value=written)
        written_here = any(k.value is value for k in call.node.keywords)
        if written_here and _is_read(value, is_initializer="initializer" in call.types(parameter)):
            call.drop(parameter)
            steps += _steps_of(call, parameter, f"{{object}}.{tensor}", value)
            continue
        if keywords is not None or (call.types(parameter) & {"initializer"} and isinstance(origin, ast.Call)):
            call.drop(parameter)
            keywords = {"initializer": origin} if keywords is None else keywords
            if isinstance(keywords.get("initializer"), ast.Call) or "trainable" in keywords:
                steps.append(Step((("", f"{{{parameter}}}({{object}}.{tensor})"),)))
            elif "initializer" in keywords:
                steps.append(_asked(f"{{{parameter}}}", tensor, plain=False))
            continue
        plain = isinstance(value, ast.Name | ast.Attribute) and is_pure(value)
        function = written if plain else f"{{{parameter}}}"
        if is_bias and tensor not in absent and is_pure(value):
            call.wrap(parameter, "", " is not False")
            if not re.search(r"attr|init|param", written) and not call.types(parameter) & {"initializer"}:
                call.report("NNL202", difference=f"{written} is taken as a flag, not as an attribute")
                continue
            function = written
        elif is_bias and tensor not in absent:  # asked twice, whether there is a bias and what it starts with
            if ast.unparse(call.node.func).endswith("__init__"):
                call.stop("NNL203", parameter=parameter, value=written)
            call.drop(parameter)
            call.force("bias", "_bias is not False")
            asked = _asked("_bias", tensor, plain=True).expression.replace("{object}", "m")
            call.surround("(lambda _bias: ", f".apply(lambda m: {asked}))({{{parameter}}})")
            continue
        else:
            call.drop(parameter)
        steps.append(_asked(function, tensor, plain, without if tensor in absent else ""))
    if steps and call.value("padding_idx") is not None and call.literal("padding_idx") is not None:
        # Paddle's layer does it after the initializer
        condition = "{object}.padding_idx is not None" if call.literal("padding_idx") is ... else ""
        steps.append(Step(((condition, "{object}.weight.data[{object}.padding_idx].zero_()"),)))
    call.afterwards(*steps)


RECURRENT = "layer_recurrent"
"""The hook of layers whose tensors have names by layer and direction, ``weight_ih_l0_reverse``."""


@hook(RECURRENT, to="torch")
def recurrent_to_torch(call: BoundCall) -> None:
    """An attribute is for the tensors of all layers and directions."""
    for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        parameter = f"{kind}_attr"
        value = call.value(parameter)
        if value is None or call.literal(parameter) in _FLAGS:
            continue
        written_here = any(k.value is value for k in call.node.keywords)
        taken = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} & {"name", "parameter"}
        if taken or not written_here or not _is_read(value, is_initializer="initializer" in call.types(parameter)):
            call.stop("NNL203", parameter=parameter, value=ast.unparse(value))
        call.drop(parameter)
        call.afterwards(*(step._replace(each=kind) for step in _steps_of(call, parameter, "parameter", value)))


def initialized_tensor(hook: str | None, parameter: str, value: ast.expr) -> str | None:
    """The tensor of the layer that an attribute for ``parameter`` is for; None if it is no such parameter."""
    if hook == "linear_layer" and parameter == "weight_attr" and _assigns(value):
        return "weight.t()"  # torch's weight is transposed, which shows where values are assigned to it
    return _TENSORS.get(parameter)


_TENSORS = {"weight_attr": "weight", "param_attr": "weight", "bias_attr": "bias"}


def tensors_of(hook: str | None, call: BoundCall) -> dict[str, str]:
    """The parameters of a layer that take attributes, with the tensor that each is for."""
    found = {}
    for parameter in ("weight_attr", "bias_attr"):
        value = call.origin(parameter)
        tensor = _TENSORS[parameter] if value is None else initialized_tensor(hook, parameter, value)
        found[parameter] = tensor or parameter
    return found


def _assigns(given: ast.expr) -> bool:
    """Whether the attribute, or the initializer in it, is written as ``Assign(...)``."""
    keywords = attribute(given)
    initializer = given if keywords is None else keywords.get("initializer")
    return isinstance(initializer, ast.Call) and ast.unparse(initializer.func).rpartition(".")[2] == "Assign"


def _asked(function: str, tensor: str, plain: bool, without: str = "") -> Step:
    """What is done where only the running program knows what the attribute is: a function, ``False`` or nothing."""
    name = function if plain else tensor[0]
    first = ((f"{name} is False", without),) if without else ()
    cases = (*first, (f"callable({name})", f"{name}({{object}}.{tensor})"))
    return Step(cases, once=None if plain else (name, function))


def _is_read(value: ast.expr, *, is_initializer: bool) -> bool:
    """Whether the file shows what an attribute that is written in the call does to its tensor."""
    keywords = attribute(value)
    if keywords is None:
        return is_initializer and isinstance(value, ast.Call)
    return isinstance(keywords.get("initializer", _NONE), ast.Call | ast.Constant)


_NONE = ast.Constant(None)


def _steps_of(call: BoundCall, parameter: str, tensor: str, value: ast.expr) -> list[Step]:
    """Steps of their own for the initializer of an attribute and for whether the tensor learns."""
    keywords = attribute(value) or {"initializer": value}
    steps: list[Step] = []
    initializer, learns = keywords.get("initializer"), keywords.get("trainable", _LEARNS)
    if isinstance(initializer, ast.Call):
        name = f"{parameter}.initializer"
        text = f"{{{name}}}" if call.initializes(initializer) else f"{{{name}}}({tensor})"
        steps.append(Step((("", text),), ((name, initializer),)))
    if not isinstance(learns, ast.Constant):
        name = f"{parameter}.trainable"
        steps.append(Step((("", f"{tensor}.requires_grad_({{{name}}})"),), ((name, learns),)))
    elif not learns.value:
        steps.append(Step((("", f"{tensor}.requires_grad_(False)"),)))
    return steps


_LEARNS = ast.Constant(True)


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
