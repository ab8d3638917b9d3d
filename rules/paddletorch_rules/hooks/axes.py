"""Reductions to torch that take one dimension there and several axes in Paddle, and their other arguments."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import no_counterpart, rewrite_once
from paddletorch_rules.hooks.integers import names_integer
from paddletorch_rules.hooks.protocol import BoundCall, hook
from paddletorch_rules.hooks.reduction import product_of_unseen, whole_axis


def _operand(call: BoundCall) -> str:
    """The hole of the reduced tensor in torch."""
    return "{self}" if call.value("self") is not None else "{input}"


def _given(call: BoundCall, name: str) -> bool:
    return call.value(name) is not None and call.literal(name) is not None


def _axes(call: BoundCall) -> tuple[int, ...] | None:
    """The axes, if a list of them is written out."""
    node = call.value("axis")
    if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
        return None
    try:
        axes = tuple(ast.literal_eval(e) for e in node.elts)
    except ValueError:
        return None
    return axes if all(isinstance(a, int) for a in axes) else None


@hook("prod", to="paddle")
def prod_to_paddle(call: BoundCall) -> None:
    """Products of truth values and small integers are of int64 in torch; Paddle wants to be told."""
    product_of_unseen(call)


@hook("prod", to="torch")
def prod_to_torch(call: BoundCall) -> None:
    """torch multiplies along one axis: several become one after the other, in an order that keeps the numbers valid."""
    axes = _axes(call)
    if axes is None:
        return
    kept = call.value("keepdim") is not None and call.literal("keepdim") is not False
    if not kept and min(axes) < 0 <= max(axes):
        no_counterpart(call, "axis")
    text = _operand(call)
    for number, axis in enumerate(sorted(axes, reverse=axes[0] >= 0)):
        text = f"torch.prod({text}, {axis}{{keepdim:, keepdim=%}}{'' if number else '{dtype:, dtype=%}'})"
    call.rewrite(text)


def _gathered(call: BoundCall, axes: tuple[int, ...]) -> str:
    """The tensor with the axes brought together as its last one."""
    if call.value("keepdim") is not None and call.literal("keepdim") is not False:
        no_counterpart(call, "axis")
    last = tuple(range(-len(axes), 0))
    return f"{_operand(call)}.movedim({axes}, {last}).flatten({-len(axes)})"


@hook("quantile", to="torch")
def quantile(call: BoundCall, function: str) -> None:
    """torch takes one dimension, and several quantiles as a tensor."""
    axes = _axes(call)
    several = isinstance(call.value("q"), ast.List | ast.Tuple)
    if not (axes or several):
        return
    operand, q, dim = _operand(call), "{q}", "{dim:, dim=%}{keepdim:, keepdim=%}"
    tensor = operand
    if axes:
        tensor, dim = _gathered(call, axes), ", dim=-1"
    if several:
        q = f"torch.tensor({{q}}, dtype={operand}.dtype)"
    text = f"torch.{function}({tensor}, {q}{dim}{{interpolation:, interpolation=%}})"
    names = {"self": "self"} if call.value("self") is not None else {"input": "x"}
    if several:
        rewrite_once(call, text, **names)
    else:
        call.rewrite(text)


@hook("paddle_median", to="torch")
def paddle_median(call: BoundCall, function: str, quantile: str) -> None:
    """The mean of the two in the middle is a quantile; the lower of them is torch's own median, with its index."""
    mode = call.literal("mode") if call.value("mode") is not None else "avg"
    axes = _axes(call)
    if mode not in ("avg", "min") or (mode == "min" and axes):
        no_counterpart(call, "mode")
    call.drop("mode")
    if mode == "min":
        if not _given(call, "axis") and call.value("keepdim") is not None:
            no_counterpart(call, "keepdim")
        dim = "{dim:, %}{keepdim:, keepdim=%}" if _given(call, "axis") else ""
        call.rewrite(f"torch.{function}({_operand(call)}{dim})")
    elif axes:
        call.rewrite(f"torch.{quantile}({_gathered(call, axes)}, 0.5, dim=-1)")


@hook("count_nonzero", to="torch")
def count_nonzero(call: BoundCall) -> None:
    """torch's cannot keep the dimensions; its sum can."""
    if call.value("keepdim") is None:
        return
    kept = call.literal("keepdim")
    if kept is True:
        dim = "{dim}" if _given(call, "axis") else "None"
        call.rewrite(f"torch.sum(torch.ne({_operand(call)}, 0), dim={dim}, keepdim=True)")
    elif kept is not False:
        no_counterpart(call, "keepdim")
    call.drop("keepdim")


@hook("logcumsumexp", to="paddle")
def logcumsumexp_to_paddle(call: BoundCall) -> None:
    """torch has no ``dtype`` here, so nothing is left of it."""
    call.drop("dtype")


@hook("logcumsumexp", to="torch")
def logcumsumexp_to_torch(call: BoundCall) -> None:
    """Without an axis torch wants the flat tensor; where a dtype is asked for, the tensor is converted first."""
    whole_axis(call)
    if not _given(call, "dtype"):
        call.drop("dtype")
        return
    dtype = call.literal("dtype")
    name = dtype if isinstance(dtype, str) else (call.qualified("dtype") or "").removeprefix("paddle.")
    if not name.startswith("float") or (call.value("self") is not None and not _given(call, "axis")):
        no_counterpart(call, "dtype")
    call.drop("dtype")
    call.rewrite(f"torch.logcumsumexp({_operand(call)}.to(torch.{name}), dim={{dim}})")


@hook("paddle_histogram", to="torch")
def histogram(call: BoundCall) -> None:
    """On the CPU torch's is for floating-point numbers only."""
    name = "self" if call.value("input") is None else "input"
    if names_integer(call.dtype(name)):
        text = f"torch.histc({_operand(call)}.double()"
        call.rewrite(text + "{bins:, bins=%}{min:, min=%}{max:, max=%}).to(torch.int64)")
