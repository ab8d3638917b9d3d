"""Attention by functions: the order of heads and positions, scales, and dropout in training only."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import is_plain, no_counterpart, operand
from paddletorch_rules.hooks.protocol import BoundCall, hook


@hook("flash_attention", to="torch")
def flash_attention(call: BoundCall) -> None:
    """Gives the output and the softmax, which is None unless asked for."""
    if call.value("return_softmax") is not None and call.literal("return_softmax") is not False:
        no_counterpart(call, "return_softmax")
    _training(call, "dropout")


def _training(call: BoundCall, rate_name: str) -> None:
    """torch has no ``training``: without it the rate is 0."""
    if call.value("training") is None or call.literal("training") is True:
        call.drop("training")
        return
    rate = call.value(rate_name)
    if call.literal("training") is not False and rate is not None and is_plain(rate):
        test = operand(call.value("training") or ast.Constant(True))
        call.force("dropout_p", f"{ast.unparse(rate)} if {test} else 0.0")
    else:
        call.drop(rate_name)
    call.drop("training")


@hook("attention", to="paddle")
def attention_to_paddle(call: BoundCall) -> None:
    """Paddle's takes heads after positions, and before 3.3 neither a scale nor groups of queries."""
    text = "torch_attention({query}, {key}, {value}{attn_mask:, attn_mask=%}{dropout_p:, dropout_p=%}"
    text += "{is_causal:, is_causal=%}"
    parts: dict[str, ast.expr] = {}
    for name, default in (("scale", None), ("enable_gqa", False)):
        value = call.value(name)
        if value is not None and call.literal(name) is not default:
            text += f", {name}={{{name}}}"
            parts[name] = value
        call.drop(name)
    call.rewrite(text + ")", parts=parts)


@hook("attention", to="torch")
def attention_to_torch(call: BoundCall) -> None:
    """torch has no ``training``: without it the rate of dropout is 0."""
    _training(call, "dropout_p")
