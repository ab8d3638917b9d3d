"""Operators of ATen: what a literal argument says of the call is written as a user would write it."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import no_counterpart
from paddletorch_rules.hooks.protocol import BoundCall, hook

_END = 2**31 - 1
"""What graphs write for the end of a dimension is at least this."""


@hook("slice_operator", to="paddle")
def slice_operator(call: BoundCall) -> None:
    """``aten.slice(x, 1, 0, 3)`` is ``x[:, 0:3]``."""
    dim = call.literal("dim") if call.value("dim") is not None else 0
    if not isinstance(dim, int):
        return
    start = "" if call.value("start") is None or call.literal("start") in (0, None) else "{start}"
    end = call.literal("end") if call.value("end") is not None else None
    stop = "" if end is None or (isinstance(end, int) and end >= _END) else "{end}"
    step = "" if call.value("step") is None or call.literal("step") == 1 else ":{step}"
    before, after = ("..., ", ", :" * (-dim - 1)) if dim < 0 else (":, " * dim, "")
    for name, text in (("dim", ""), ("start", start), ("end", stop), ("step", step)):
        if not text:
            call.drop(name)
    call.rewrite(f"{{self}}[{before}{start}:{stop}{step}{after}]")


@hook("index_operator", to="paddle")
def index_operator(call: BoundCall) -> None:
    """``aten.index(x, [None, i])`` is ``x[:, i]``."""
    indices = call.value("indices")
    if not isinstance(indices, ast.List | ast.Tuple) or not indices.elts:
        return
    holes, parts = [], {}
    for number, element in enumerate(indices.elts):
        if isinstance(element, ast.Starred):
            return
        if isinstance(element, ast.Constant) and element.value is None:
            holes.append(":")
        else:
            holes.append(f"{{index{number}}}")
            parts[f"index{number}"] = element
    call.rewrite(f"{{self}}[{', '.join(holes)}]", parts=parts)


@hook("convolution_operator", to="paddle")
def convolution_operator(call: BoundCall) -> None:
    """The strides tell the number of dimensions."""
    stride, transposed = call.value("stride"), call.literal("transposed")
    if not isinstance(stride, ast.List | ast.Tuple) or not isinstance(transposed, bool):
        return
    if len(stride.elts) not in (1, 2, 3) or any(isinstance(element, ast.Starred) for element in stride.elts):
        return
    name = f"conv{len(stride.elts)}d{'_transpose' if transposed else ''}"
    added = ", output_padding={output_padding}" if transposed else ""
    for dropped in ("transposed",) if transposed else ("transposed", "output_padding"):
        call.drop(dropped)
    call.rewrite(
        f"paddle.nn.functional.{name}({{input}}, {{weight}}, {{bias}}, stride={{stride}}, padding={{padding}}, "
        f"dilation={{dilation}}, groups={{groups}}{added})"
    )


@hook("embedding_operator", to="paddle")
def embedding_operator(call: BoundCall) -> None:
    """ATen's -1 is no index."""
    index = call.literal("padding_idx") if call.value("padding_idx") is not None else -1
    if not isinstance(index, int):
        no_counterpart(call, "padding_idx")
    if index == -1:
        call.drop("padding_idx")
        call.rewrite("paddle.nn.functional.embedding({indices}, {weight})")
