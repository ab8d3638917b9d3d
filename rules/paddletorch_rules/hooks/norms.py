"""Normalisation layers: one flag for two parameters, momentum of the new or the old value, an activation at the end."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import elements_of, is_plain, is_pure, operand, with_batch
from paddletorch_rules.hooks.attributes import attributes
from paddletorch_rules.hooks.layers import on_output, placed
from paddletorch_rules.hooks.protocol import BoundCall, hook

_LARGEST_LAYER_NORM_EPSILON = 1e-3
"""Paddle's kernel raises above it (2.6.2 and 3.3.1)."""

_BOTH = frozenset({"weight", "bias"})


def _affine_to_paddle(call: BoundCall, flag: str, *, default: bool = True) -> None:
    placed(call)
    value = call.literal(flag) if call.value(flag) is not None else default
    if value is False:
        call.drop(flag)
        call.force("weight_attr", "False")
        call.force("bias_attr", "False")
    elif value is not True:
        node = call.value(flag)
        assert node is not None
        if not isinstance(node, ast.Name | ast.Attribute):
            call.stop("API222", argument=ast.unparse(node))
        call.drop(flag)
        text = _flag(call, node, flag)
        call.force("weight_attr", text)
        call.force("bias_attr", text if call.value("bias") is None else _both(call, text))
    else:
        call.drop(flag)


def _flag(call: BoundCall, node: ast.Name | ast.Attribute, flag: str) -> str:
    """The flag's text; ``norm.affine`` of another layer as Paddle's layers say it."""
    owners = call.owners(flag)
    if isinstance(node, ast.Attribute) and owners and all(owner.startswith("torch.nn.") for owner in owners):
        return f"{ast.unparse(node.value)}._weight_attr is not False"
    return ast.unparse(node)


def _both(call: BoundCall, flag: str) -> str:
    """Whether there is a bias: the layer has weights at all, and its own flag asks for one."""
    node = call.value("bias")
    if call.literal("bias") in (True, False):
        return flag if call.literal("bias") is True else "False"
    if not isinstance(node, ast.Name | ast.Attribute):
        call.stop("API222", argument=ast.unparse(node) if node is not None else "bias")
    return f"{flag} and {ast.unparse(node)}"


def _affine_to_torch(call: BoundCall, flag: str, *, default: bool = True) -> None:
    weight, bias = call.literal("weight_attr"), call.literal("bias_attr")
    if weight is False and bias is False:
        call.drop("weight_attr")
        call.drop("bias_attr")
        call.force(flag, "False")
        return
    if not default:
        call.force(flag, "True")
    absent = _BOTH - ({"bias"} if flag == "elementwise_affine" else set())  # LayerNorm has a flag for its bias
    attributes(call, {"weight_attr": "weight", "bias_attr": "bias"}, absent)
    if bias is True:
        call.drop("bias_attr")


@hook("layer_group_norm", to="paddle")
def group_norm_to_paddle(call: BoundCall) -> None:
    """Without a weight the gradient of Paddle's layer is wrong, measured on 3.3.1."""
    plain = call.value("affine") is not None and call.literal("affine") is not True
    _affine_to_paddle(call, "affine")
    if plain:
        call.report("AGD203", what="without a weight, the gradient of Paddle's layer is wrong (3.3.1)")


@hook("layer_group_norm", to="torch")
def group_norm_to_torch(call: BoundCall) -> None:
    """One flag in torch for the attributes of weight and bias."""
    _affine_to_torch(call, "affine")


@hook("layer_instance_norm", to="paddle")
def instance_norm_to_paddle(call: BoundCall) -> None:
    """Without learned scale and shift by default in torch."""
    _affine_to_paddle(call, "affine", default=False)


@hook("layer_instance_norm", to="torch")
def instance_norm_to_torch(call: BoundCall) -> None:
    """With learned scale and shift by default in Paddle."""
    _affine_to_torch(call, "affine", default=False)


@hook("layer_batch_norm", to="paddle")
def batch_norm_to_paddle(call: BoundCall) -> None:
    """``momentum`` weighs the new value in torch, the old one in Paddle.

    Without running statistics Paddle 3.3.1 gives torch's values in evaluation, and another gradient.
    """
    _affine_to_paddle(call, "affine")
    _momentum(call)
    if call.value("track_running_stats") is not None and call.literal("track_running_stats") is False:
        call.report("AGD203", what="without running statistics, Paddle's gradient in evaluation is wrong (3.3.1)")


@hook("layer_batch_norm", to="torch")
def batch_norm_to_torch(call: BoundCall) -> None:
    """``momentum`` weighs the old value in Paddle, the new one in torch, which has no ``use_global_stats``."""
    absent = [call.value(one) is not None and call.literal(one) is False for one in ("weight_attr", "bias_attr")]
    if sum(absent) == 1:
        call.report("AGD203", what="without its weight or its bias, Paddle's layer gives the other no gradient (3.3.1)")
    _affine_to_torch(call, "affine")
    _momentum(call)
    value = call.value("use_global_stats")
    if value is None:
        return
    origin = call.origin("use_global_stats")
    written = origin if isinstance(origin, ast.IfExp) else value
    choices = [written.body, written.orelse] if isinstance(written, ast.IfExp) else [written]
    flags = {choice.value if isinstance(choice, ast.Constant) else ... for choice in choices}
    if True in flags and flags <= {True, None} and is_pure(value):
        call.drop("use_global_stats")
        flag = "" if flags == {True} else f", {ast.unparse(value)}"
        call.surround("paddle_global_statistics(", f"{flag})")
        return
    if True in flags:
        call.stop("API221", parameter="use_global_stats", value="True")
    if not all(isinstance(choice, ast.Constant) for choice in choices):
        call.report("API228", parameter="use_global_stats", neutral="None or False", value=ast.unparse(value))


def _momentum(call: BoundCall) -> None:
    value = call.literal("momentum")
    if call.value("momentum") is None:
        return
    if value is None:
        call.stop("API221", parameter="momentum", value="None")
    if isinstance(value, int | float):
        call.force("momentum", repr(round(1 - value, 12)))


_ACTIVATIONS = {
    "relu": "torch.relu",
    "sigmoid": "torch.sigmoid",
    "tanh": "torch.tanh",
    "relu6": "torch.nn.functional.relu6",
    "swish": "torch.nn.functional.silu",
    "silu": "torch.nn.functional.silu",
    "mish": "torch.nn.functional.mish",
    "gelu": "torch.nn.functional.gelu",
    "elu": "torch.nn.functional.elu",
    "selu": "torch.selu",
    "celu": "torch.celu",
    "softsign": "torch.nn.functional.softsign",
    "hard_swish": "torch.nn.functional.hardswish",
}
"""What Paddle's older layers apply to their output, by the names of its operators."""


@hook("layer_old_batch_norm", to="torch")
def old_batch_norm(call: BoundCall) -> None:
    """``paddle.nn.BatchNorm`` takes any number of dimensions; it stands in convolutional code."""
    attributes(call, {"param_attr": "weight", "bias_attr": "bias"}, _BOTH)
    _momentum(call)
    _activation(call)
    if call.input_ranks() != {4}:
        call.report("NNL202", difference="BatchNorm2d takes four dimensions, as images have; Paddle's takes any")


def _activation(call: BoundCall) -> None:
    """An activation that the layer applies itself: a hook, so that the keys of its tensors stay."""
    value = call.value("act")
    if value is None:
        return
    name = call.literal("act")
    if name is None:
        call.drop("act")
    elif isinstance(name, str) and name in _ACTIVATIONS:
        call.drop("act")
        on_output(call, f"{_ACTIVATIONS[name]}(out)")
    elif name in ("hard_sigmoid", ...):  # of another slope than torch's, or only known as the code runs
        call.drop("act")
        on_output(call, "paddle_activated(out, act)", act="{act}")


@hook("layer_norm_epsilon", to="paddle")
def layer_norm_to_paddle(call: BoundCall) -> None:
    """Both parameters by one flag; Paddle's kernel refuses an epsilon above 0.001."""
    epsilon = call.literal("eps")
    if isinstance(epsilon, float) and epsilon > _LARGEST_LAYER_NORM_EPSILON:
        call.stop("NNL201", difference=f"Paddle's kernel takes an epsilon of at most 0.001, not {epsilon}")
    _affine_to_paddle(call, "elementwise_affine")


@hook("layer_norm_epsilon", to="torch")
def layer_norm_to_torch(call: BoundCall) -> None:
    """One flag in torch for the attributes of weight and bias."""
    _affine_to_torch(call, "elementwise_affine")


@hook("normalized_shape", to="paddle")
def normalized_shape_to_paddle(call: BoundCall) -> None:
    """Paddle normalizes over all axes but the first one at most, and has one axis of weights."""
    shape, tensor = call.value("normalized_shape"), operand(call.value("input") or ast.Constant(None))
    elements = elements_of(shape)
    every = shape is not None and ast.unparse(shape) in (f"{tensor}.shape", f"{tensor}.size()")
    if every or (elements and call.ranks("input") == {len(elements)}):
        with_batch(call)
    if every or len(elements or []) > 1:
        _on_weights(call, ".flatten()")


def _on_weights(call: BoundCall, member: str) -> None:
    for name in ("weight", "bias"):
        given = call.value(name)
        if given is not None and not call.may_be_none(name):
            atomic = isinstance(given, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
            call.wrap(name, "" if atomic else "(", member if atomic else f"){member}")


@hook("normalized_shape", to="torch")
def normalized_shape_to_torch(call: BoundCall) -> None:
    """torch's function takes a sequence only, Paddle's the one size, too."""
    value = call.value("normalized_shape")
    is_size = False
    if isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Slice):
        is_size = isinstance(value.value, ast.Attribute) and value.value.attr == "shape"
    if is_size or isinstance(call.literal("normalized_shape"), int):
        call.wrap("normalized_shape", "[", "]")
    elements = elements_of(value)
    whole = isinstance(value, ast.Attribute) and value.attr == "shape"
    if value is not None and (whole or (len(elements or []) > 1 and is_plain(value))):
        _on_weights(call, f".reshape({ast.unparse(value)})")
