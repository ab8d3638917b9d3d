"""Activations, dropouts and masks by functions: in-place variants, modes and axes that a parameter map cannot say."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import is_pure, no_counterpart, operand, rewrite_once
from paddletorch_rules.hooks.protocol import BoundCall, hook


@hook("inplace", to="paddle")
def inplace(call: BoundCall, twin: str = "") -> None:
    """``inplace=True`` is the function with an underscore where Paddle has one, else a new tensor."""
    if call.value("inplace") is None:
        return
    asked = call.literal("inplace")
    call.drop("inplace")
    if asked is True and twin:
        call.rewrite(twin)
    elif asked is True and call.is_statement and isinstance(given := call.value("input"), ast.Name):
        if not call.row_template:
            call.wrap("input", "", ".clone()")  # what the gradient needs is not written to
        call.surround("paddle.assign(", f", {given.id})")
    elif asked is not False and not isinstance(call.value("input"), ast.Call):
        call.report("NNF201")


@hook("slope_at_zero")
def slope_at_zero(call: BoundCall, twin: str = "") -> None:
    """Where the input is zero, the gradient is that of the other side of the kink; ``twin`` as in ``inplace``."""
    if twin and call.target == "paddle":
        inplace(call, twin)
    call.report("NNF203", difference="where the input is zero, its slope is negative_slope in torch, 1 in Paddle")


@hook("channel_dropout", to="paddle")
def channel_dropout(call: BoundCall) -> None:
    """A mask for whole channels: as ``inplace``, and with the axes of the mask where the rank asks for others."""
    inplace(call)
    axes = _mask_axes(call.row_template, call.ranks("input"))
    if axes:
        call.rewrite(f"paddle.nn.functional.dropout({{x}}{{p:, p=%}}, axis={axes}{{training:, training=%}})")


@hook("layer_channel_dropout", to="paddle")
def layer_channel_dropout(call: BoundCall) -> None:
    """As ``channel_dropout``, for the layer."""
    axes = _mask_axes(call.row_template, call.input_ranks())
    if axes:
        call.rewrite(f"paddle.nn.Dropout({{p}}, axis={axes})")


def _mask_axes(template: str, ranks: frozenset[int]) -> str:
    """The axes of the mask for tensors of these ranks; empty where the row's own form does the same.

    torch's dropout1d takes two axes for one sample, its dropout2d masks the first two of any tensor. Paddle's
    dropout2d raises for other than four axes.
    """
    if template:
        return "0" if ranks == {2} else ""
    return "[0, 1]" if ranks and ranks != {4} else ""


@hook("functional_dropout", to="paddle")
def dropout_to_paddle(call: BoundCall) -> None:
    """As ``inplace``."""
    inplace(call)


@hook("functional_dropout", to="torch")
def dropout_to_torch(call: BoundCall) -> None:
    """Paddle's ``downscale_in_infer`` scales in inference, where torch scales in training: it is written out."""
    if call.value("mode") is not None and call.literal("mode") == "downscale_in_infer":
        call.drop("mode")
        scaled = "(1 - {p})" if call.value("p") is not None else "0.5"
        call.rewrite(f"torch.nn.functional.dropout({{input}}{{p:, p=%}}{{training:, training=%}}) * {scaled}")


@hook("softmax_dim", to="paddle")
def softmax_dim(call: BoundCall) -> None:
    """torch chooses the dimension by the rank if none is named."""
    if call.value("dim") is None or call.literal("dim") is None:
        call.drop("dim")
        ranks = call.ranks("input")
        if ranks and (ranks <= _FIRST_AXIS or ranks.isdisjoint(_FIRST_AXIS)):
            call.force("axis", "0" if ranks <= _FIRST_AXIS else "1")
            return
        if not is_pure(call.value("input")):
            no_counterpart(call, "dim", "None")
        call.force("axis", f"0 if {operand(call.value('input') or ast.Constant(0))}.ndim in (0, 1, 3) else 1")


_FIRST_AXIS = frozenset({0, 1, 3})


"""The numbers of axes for which torch takes the first one if none is named; else it takes the second."""


@hook("hardsigmoid", to="paddle")
def hardsigmoid_to_paddle(call: BoundCall) -> None:
    """As ``inplace``."""
    inplace(call)


@hook("hardsigmoid", to="torch")
def hardsigmoid_to_torch(call: BoundCall) -> None:
    """torch's slope is 1/6; any other is written out."""
    slope, offset = call.literal("slope"), call.literal("offset")
    usual = call.value("slope") is None or (isinstance(slope, float) and abs(slope - 1 / 6) < 1e-6)
    if not usual or (call.value("offset") is not None and offset != 0.5):
        given = {name: node for name in ("slope", "offset") if (node := call.value(name)) is not None}
        factor = "{slope}" if "slope" in given else "0.1666667"
        added = "{offset}" if "offset" in given else "0.5"
        call.rewrite(f"torch.clamp({{input}} * {factor} + {added}, 0.0, 1.0)", parts=given)
    call.drop("slope")
    call.drop("offset")


@hook("swiglu", to="torch")
def swiglu(call: BoundCall) -> None:
    """Without a second tensor the first one is halved."""
    if call.value("y") is None or call.literal("y") is None:
        call.drop("y")
        call.rewrite("paddle_swiglu({input})")


@hook("sequence_mask", to="torch")
def sequence_mask(call: BoundCall) -> None:
    """Without ``maxlen`` the mask is as long as the longest sequence."""
    if call.value("maxlen") is None or call.literal("maxlen") is None:
        call.drop("maxlen")
        text = "(torch.arange(int({lengths}.max()), device={lengths}.device) < {lengths}.unsqueeze(-1)).to({dtype})"
        rewrite_once(call, text, lengths="x")
