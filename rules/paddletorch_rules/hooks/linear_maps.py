"""Linear maps, convolutions and lookups by functions: the layout of weights, paddings by name, the padding index."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import no_counterpart
from paddletorch_rules.hooks.functional_pools import even_padding
from paddletorch_rules.hooks.protocol import BoundCall, hook

_LINEAR = frozenset({"torch.nn.Linear", "paddle.nn.Linear"})


@hook("linear")
def linear(call: BoundCall) -> None:
    """The weight of a layer is transposed already: the layer's is ``[in, out]`` in Paddle, ``[out, in]`` in torch."""
    weight, owners = call.value("weight"), call.owners("weight")
    if owners & _LINEAR:
        name = "paddle.nn.functional.linear({x}" if call.target == "paddle" else "torch.nn.functional.linear({input}"
        call.rewrite(name + ", {weight}{bias:, bias=%})")
    elif weight is not None and any(_may_be_layers(call, node) for node in _parts(call, weight)):
        call.report("NNF202", difference="if the weight is an nn.Linear's, it is transposed already: take the .t() out")


def _parts(call: BoundCall, weight: ast.expr) -> list[ast.AST]:
    """The parts of a weight and of what it is made of: ``scaled = self.weight * 2``, ``self.weight = fc.weight``."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = [weight]
    while pending:
        node = pending.pop()
        if node in found:
            continue  # a variable of a loop is made of itself
        found.append(node)
        pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.Name):
            pending.append(call.origin_of(node))
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
            found += [one for one in call.stored(node) if isinstance(one, ast.Attribute) or _is_looked_up(one)]
    return found


def _may_be_layers(call: BoundCall, node: ast.AST) -> bool:
    """Whether it is the weight of an object of a class that is not seen: its layout is not known, nor transposed."""
    if isinstance(node, ast.Subscript):
        return _may_be_parameters(call, node.value)
    if _is_looked_up(node):
        return True
    if not isinstance(node, ast.Attribute) or node.attr != "weight":
        return False
    return call.owners_of(node) <= {"torch.nn.Module", "paddle.nn.Layer"}


def _is_looked_up(node: ast.AST) -> bool:
    """Whether it is the weight of an object by its name: ``getattr(layer, "weight")``."""
    if not isinstance(node, ast.Call) or len(node.args) < 2 or ast.unparse(node.func) != "getattr":
        return False
    return isinstance(node.args[1], ast.Constant) and node.args[1].value == "weight"


def _may_be_parameters(call: BoundCall, held: ast.expr) -> bool:
    """Whether it may hold the parameters of a model with linear layers: handed over, or collected in this file."""
    walked = any(call.file_reads(name) for name in ("named_parameters", "parameters", "state_dict"))
    return isinstance(held, ast.Name) and (walked or call.file_reads("Linear")) and not call.owners("weight")


@hook("convolution", to="paddle")
def convolution_to_paddle(call: BoundCall, dimensions: int, transposed: bool = False) -> None:
    """Paddle's padding by the name "same" forgets the dilation."""
    padding = call.literal("padding")
    if isinstance(padding, str):
        same = padding.upper() == "SAME"
        ones = (1, [1] * dimensions, (1,) * dimensions)
        if same and call.value("dilation") is not None and call.literal("dilation") not in ones:
            no_counterpart(call, "padding", f"{padding!r} with dilation")


@hook("convolution", to="torch")
def convolution_to_torch(call: BoundCall, dimensions: int, transposed: bool = False) -> None:
    """torch's padding by the name "same" takes no stride, and its padding by numbers is the same on both sides."""
    padding = call.literal("padding")
    ones = (1, [1] * dimensions, (1,) * dimensions)
    if isinstance(padding, str):
        same = padding.upper() == "SAME"
        for other in ("stride", "dilation"):
            if same and call.value(other) is not None and call.literal(other) not in ones:
                no_counterpart(call, "padding", f"{padding!r} with {other}")
        call.force("padding", repr(padding.lower()))
        return
    even_padding(call, dimensions)
    strided = call.value("stride") is not None and call.literal("stride") not in ones
    if strided and not transposed and isinstance(call.value("weight"), ast.Name):  # of any size
        call.report(
            "NNF202",
            difference="where the kernel is larger than the input by less than the stride, Paddle computes one element"
            " as if zeros followed the input; torch raises",
        )


@hook("embedding", to="torch")
def embedding_to_torch(call: BoundCall) -> None:
    """As ``embedding_to_paddle``; ``sparse`` only says how the gradient is kept."""
    _embedding(call, "paddle_padded_embedding({input}, {weight}, {padding_idx})")


@hook("embedding", to="paddle")
def embedding_to_paddle(call: BoundCall) -> None:
    """Paddle's lookup gives zeros for the padding index; torch's gives the row, which gets no gradient."""
    _embedding(call, "torch_embedding({x}, {weight}, {padding_idx})")


def _embedding(call: BoundCall, written: str) -> None:
    if call.value("max_norm") is None or call.literal("max_norm") is None:
        call.drop("max_norm")
        call.drop("norm_type")
    if call.value("scale_grad_by_freq") is None or call.literal("scale_grad_by_freq") is False:
        call.drop("scale_grad_by_freq")
    if call.value("padding_idx") is None or call.literal("padding_idx") is None:
        return
    options = {"max_norm": None, "scale_grad_by_freq": False, "sparse": False}
    if all(call.value(name) is None or call.literal(name) is usual for name, usual in options.items()):
        for name in (*options, "norm_type"):
            call.drop(name)
        call.rewrite(written)
    else:
        call.report("NNF202", difference="for padding_idx Paddle gives zeros, torch the row of the weight")
