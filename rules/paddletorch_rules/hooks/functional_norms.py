"""Normalisation by functions: over one axis or several, with statistics of the input or kept ones."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import (
    elements_of,
    is_plain,
    is_pure,
    literally,
    no_counterpart,
    operand,
    rewrite_once,
)
from paddletorch_rules.hooks.protocol import BoundCall, hook


@hook("normalize", to="paddle")
def normalize(call: BoundCall) -> None:
    """Paddle takes one dimension: over several, or all, the norm is written out."""
    node = call.value("dim")
    several = isinstance(node, ast.List | ast.Tuple)
    if node is None or not (several or ast.unparse(node) == "None"):
        return
    power = call.literal("p") if call.value("p") is not None else 2.0
    smallest = call.literal("eps") if call.value("eps") is not None else 1e-12
    if power not in (1, 2) or not isinstance(smallest, float | int):
        no_counterpart(call, "dim")
    over = f"axis={ast.unparse(node)}, keepdim=True" if several and is_plain(node) else ""
    if several and not over:
        no_counterpart(call, "dim")
    norm = f"paddle.clip(paddle.sum(paddle.abs({{x}}){', ' if over else ''}{over}), min={smallest!r})"
    if power == 2:
        norm = f"paddle.clip(paddle.sum({{x}} * {{x}}{', ' if over else ''}{over}), min={smallest**2!r}).sqrt()"
    for name in ("dim", "p", "eps"):
        call.drop(name)
    rewrite_once(call, f"{{x}} / {norm}", x="input")


@hook("group_norm", to="paddle")
def group_norm(call: BoundCall) -> None:
    """Without a weight Paddle's own has a wrong gradient (3.3.1); that of groups seen as instances is right."""
    if call.literal("weight") not in (None, ...) or call.value("weight") is not None:
        return
    call.rewrite("torch_group_norm({x}, {num_groups}{bias:, bias=%}{epsilon:, eps=%})")


@hook("batch_norm", to="paddle")
def batch_norm_to_paddle(call: BoundCall) -> None:
    """In training torch keeps the unbiased variance, Paddle the biased one; the output is the same."""
    absent = [name for name in ("running_mean", "running_var") if call.literal(name) is None]
    if len(absent) == 2 and call.literal("training") is True:
        call.rewrite("torch_batch_norm({x}{weight:, weight=%}{bias:, bias=%}{epsilon:, epsilon=%})")
        for name in (*absent, "training", "momentum"):
            call.drop(name)
        return
    for name in absent:
        no_counterpart(call, name)
    if call.value("training") is not None and call.literal("training") is not False:
        call.report("NNF203", difference="running_var takes in the unbiased variance in torch, the biased in Paddle")


@hook("batch_norm", to="torch")
def batch_norm_to_torch(call: BoundCall) -> None:
    """In training torch keeps the unbiased variance, Paddle the biased one; the output is the same."""
    if call.value("training") is not None and call.literal("training") is not False:
        call.report("NNF203", difference="running_var takes in the unbiased variance in torch, the biased in Paddle")


@hook("instance_norm", to="paddle")
def instance_norm(call: BoundCall) -> None:
    """Paddle always normalises by the input's own statistics."""
    own = call.value("use_input_stats") is None or call.literal("use_input_stats") is True
    if not own:
        no_counterpart(call, "use_input_stats")


@hook("rms_norm", to="paddle")
def rms_norm(call: BoundCall) -> None:
    """Paddle's kernel runs on a GPU only, so the norm is written out; torch's default eps is the dtype's own."""
    shape, eps = call.value("normalized_shape"), call.value("eps")
    elements = elements_of(shape)
    if shape is None or (elements is None and not is_pure(shape)):
        no_counterpart(call, "normalized_shape")
    if elements is not None:
        axes = repr([-i for i in range(len(elements), 0, -1)]) if len(elements) > 1 else "-1"
    else:
        axes = f"list(range(-len({ast.unparse(shape or ast.Constant(0))}), 0))"
    if eps is None or call.literal("eps") is None:
        added = "paddle.finfo({input}.dtype).eps"
    elif is_plain(eps):
        added = literally(operand(eps))
    else:
        no_counterpart(call, "eps")
    text = f"{{input}} * paddle.rsqrt(paddle.mean({{input}} * {{input}}, axis={axes}, keepdim=True) + {added})"
    weight = call.value("weight")
    call.drop("normalized_shape")
    call.drop("eps")
    if weight is None or call.literal("weight") is None:
        call.drop("weight")
        rewrite_once(call, text, input="input")
    else:
        rewrite_once(call, text + " * {weight}", input="input")
