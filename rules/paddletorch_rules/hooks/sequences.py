"""Layers for sequences: cells, attention and transformers give other results, and take masks of another meaning."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.attributes import RECURRENT
from paddletorch_rules.hooks.layers import placed
from paddletorch_rules.hooks.protocol import BoundCall, Step, hook


@hook(RECURRENT, to="paddle")
def rnn_to_paddle(call: BoundCall) -> None:
    """Paddle 3.3 cannot move the layer, nor a model that holds it, before its state of dropout has a value."""
    state = Step((("", "{object}._dropout_state = paddle.zeros([1], dtype='uint8')"),))
    moves = any(call.value(name) is not None for name in ("device", "dtype"))
    of_parent = isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "__init__"
    if of_parent or (call.is_named and not moves):
        placed(call, (state,))
    else:
        call.surround("torch_recurrent(", ")")
        placed(call)


@hook("layer_cell", to="paddle")
def cell_to_paddle(call: BoundCall) -> None:
    """One flag for both biases; a cell without them has zeros in Paddle that do not train."""
    placed(call)
    if call.literal("bias") is False:
        call.drop("bias")
        call.force("bias_ih_attr", "False")
        call.force("bias_hh_attr", "False")
    call.report("NNL202", difference="Paddle's cell gives (output, state), torch's the state: calls change where seen")


@hook("layer_cell", to="torch")
def cell_to_torch(call: BoundCall) -> None:
    """Both biases go together in torch."""
    given = [call.literal(n) for n in ("bias_ih_attr", "bias_hh_attr")]
    if given == [False, False]:
        call.drop("bias_ih_attr")
        call.drop("bias_hh_attr")
        call.force("bias", "False")
    call.report("NNL202", difference="Paddle's cell gives (output, state), torch's the state: calls change where seen")


@hook("layer_cell_call", to="paddle")
def cell_call_to_paddle(call: BoundCall) -> None:
    """Paddle's cell gives the output beside the state."""
    call.rewrite("{self}({inputs}{states:, %})[1]")


@hook("layer_cell_call", to="torch")
def cell_call_to_torch(call: BoundCall) -> None:
    """torch's cell gives the state alone, which is the output too."""
    call.rewrite("(lambda state: (state, state))({self}({input}{hx:, %}))")


@hook("layer_lstm_cell_call", to="paddle")
def lstm_cell_call_to_paddle(call: BoundCall) -> None:
    """Paddle's cell gives the output beside the state."""
    call.rewrite("{self}({inputs}{states:, %})[1]")


@hook("layer_lstm_cell_call", to="torch")
def lstm_cell_call_to_torch(call: BoundCall) -> None:
    """torch's cell gives the state alone, whose first tensor is the output."""
    call.rewrite("(lambda state: (state[0], state))({self}({input}{hx:, %}))")


def _index(parent: ast.AST | None) -> object:
    if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant):
        return parent.slice.value
    return None


@hook("layer_attention", to="paddle")
def attention_to_paddle(call: BoundCall) -> None:
    """torch's layers take a device and a dtype; Paddle's are moved once they are made."""
    placed(call)


@hook("layer_attention", to="torch")
def attention_to_torch(call: BoundCall) -> None:
    """torch always gives the weights, averaged over the heads; Paddle gives them if asked, for each head."""
    value = call.value("bias_attr")
    if value is not None and call.literal("bias_attr") not in (None, True, False):
        call.stop("NNL203", parameter="bias_attr", value=ast.unparse(value))
    if call.value("need_weights") is not None and call.literal("need_weights") is not False:
        call.report("NNL202", difference="torch averages the weights over the heads, Paddle does not")
    call.drop("need_weights")


@hook("layer_attention_call")
def attention_call(call: BoundCall) -> None:
    """Masks mean the opposite where they are boolean, and have other shapes; the result is a pair or a tensor.

    That of a Transformer's layer takes its axes in the order of the layer, and gives no weights in Paddle.
    """
    if any(name.endswith(("TransformerEncoderLayer", "TransformerDecoderLayer")) for name in call.owners("self")):
        call.stop("NNL201", difference="the attention inside gives a pair in torch, a tensor without weights in Paddle")
    for name in ("attn_mask", "key_padding_mask", "cache"):
        value = call.value(name)
        if value is not None and call.literal(name) is not None:
            call.stop("NNL201", difference=f"{name} has another shape, and another meaning where it is boolean")
        call.drop(name)
    first = _takes_first(call.parent)
    if call.target == "paddle":
        made = "{self}({query}, {key}, {value})"
        each = call.literal("average_attn_weights") is False
        call.drop("average_attn_weights")
        call.rewrite(made if first or each else f"(lambda out, weights: (out, weights.mean(1)))(*{made})")
        return
    made = "{query}, {key}, {value}" if call.value("key") is not None else "{query}, {query}, {query}"
    if first:
        call.rewrite(f"{{self}}({made})")
    elif _takes_both(call.parent):
        call.rewrite(f"{{self}}({made}, average_attn_weights=False)")
    else:
        call.rewrite(f"{{self}}({made})[0]")


@hook("layer_transformer_call")
def transformer_call(call: BoundCall) -> None:
    """The same masks under other names; those of keys have no counterpart."""
    for name in ("src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask", "cache"):
        if call.value(name) is not None and call.literal(name) is not None:
            call.stop("NNL201", difference=f"{name} has no counterpart")
        call.drop(name)
    names = ("mask", "src_mask", "tgt_mask", "memory_mask")
    masks = [n for n in names if call.value(n) is not None and call.literal(n) is not None]
    if masks:
        call.report("NNL202", difference=f"where {masks[0]} is boolean, True hides in torch and shows in Paddle")


def _takes_both(parent: ast.AST | None) -> bool:
    """Whether the result is unpacked."""
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        return isinstance(parent.targets[0], ast.Tuple) and len(parent.targets[0].elts) == 2
    return isinstance(parent, ast.Starred) or _index(parent) == 1


def _takes_first(parent: ast.AST | None) -> bool:
    """Whether only the first part of a pair is used: ``[0]``, ``out, _ = ...``."""
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Tuple):
        names = parent.targets[0].elts
        return len(names) == 2 and isinstance(names[1], ast.Name) and names[1].id.startswith("_")
    return _index(parent) == 0
