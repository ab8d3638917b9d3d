"""Pooling by functions: indices, what counts in an average, and paddings by numbers."""

from __future__ import annotations

import ast
import itertools

from paddletorch_rules.hooks.arguments import no_counterpart
from paddletorch_rules.hooks.protocol import BoundCall, hook


def even_padding(call: BoundCall, dimensions: int) -> None:
    """Paddle takes ``[before, after, ...]`` for each dimension, or a pair for each; torch pads both sides alike."""
    node = call.value("padding")
    if isinstance(call.literal("padding"), str):
        no_counterpart(call, "padding")
    if not isinstance(node, ast.List | ast.Tuple):
        return
    nested = [e.elts for e in node.elts if isinstance(e, ast.List | ast.Tuple)]
    if len(node.elts) == dimensions and not nested:
        return
    sides = [ast.unparse(e) for e in (itertools.chain(*nested[2:]) if nested else node.elts)]
    if len(sides) == 2 * dimensions and sides[::2] == sides[1::2]:
        call.force("padding", f"({', '.join(sides[::2])}{',' if dimensions == 1 else ''})")
    else:
        no_counterpart(call, "padding")


@hook("max_pool", to="paddle")
def max_pool_to_paddle(call: BoundCall, dimensions: int) -> None:
    """As ``return_indices``."""
    return_indices(call)


@hook("max_pool", to="torch")
def max_pool_to_torch(call: BoundCall, dimensions: int) -> None:
    """torch pads both sides alike; the indices have another dtype."""
    even_padding(call, dimensions)
    return_indices(call)


@hook("return_indices")
def return_indices(call: BoundCall) -> None:
    """The same positions, of another dtype."""
    name = "return_indices" if call.target == "paddle" else "return_mask"
    if call.value(name) is not None and call.literal(name) is not False:
        call.report("NNF203", difference="the indices are int64 in torch, int32 in Paddle")


@hook("max_pool_with_indices", to="paddle")
def max_pool_with_indices(call: BoundCall) -> None:
    """The name says that it gives the indices."""
    call.force("return_mask", "True")
    call.report("NNF203", difference="the indices are int64 in torch, int32 in Paddle")


@hook("average_pool", to="paddle")
def average_pool_to_paddle(call: BoundCall, dimensions: int) -> None:
    """Without padding it makes no difference whether padding counts; where a divisor is given, it never counts."""
    if call.value("divisor_override") is not None and call.literal("divisor_override") is not None:
        counted = call.value("count_include_pad") is None or call.literal("count_include_pad") is True
        if call.literal("divisor_override") is ... and not counted:
            call.stop("NNL201", difference="whether padding counts depends on whether divisor_override is None")
        call.drop("count_include_pad")
        call.force("exclusive", "False")  # Paddle makes the sum of its average
        if call.value("ceil_mode") is not None and call.literal("ceil_mode") is not False:
            call.report("NNF202", difference="with ceil_mode, Paddle divides windows beyond the edge by their own size")
    elif call.value("padding") is None or call.literal("padding") == 0:
        call.drop("count_include_pad")


@hook("average_pool", to="torch")
def average_pool_to_torch(call: BoundCall, dimensions: int) -> None:
    """torch pads both sides alike; without padding it makes no difference whether padding counts."""
    even_padding(call, dimensions)
    if call.value("padding") is None or call.literal("padding") == 0:
        call.drop("exclusive")
    elif call.literal("divisor_override") not in (..., None) and call.literal("exclusive") is not False:
        call.stop("NNL201", difference="Paddle divides the average without the padding, torch the sum")
