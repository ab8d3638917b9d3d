"""Pooling layers: indices, what counts in an average, and paddings by name."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.functional_pools import even_padding
from paddletorch_rules.hooks.layers import on_output
from paddletorch_rules.hooks.protocol import BoundCall, hook


@hook("layer_max_pool", to="paddle")
def max_pool_to_paddle(call: BoundCall) -> None:
    """The positions of the largest values are int32 in Paddle, int64 in torch."""
    _report_indices(call, "return_indices")


@hook("layer_max_pool", to="torch")
def max_pool_to_torch(call: BoundCall) -> None:
    """The indices have another dtype; what Paddle pads by name is computed as the layer runs."""
    _report_indices(call, "return_mask")
    _padding(call, "max", "return_mask")


def _report_indices(call: BoundCall, flag: str) -> None:
    """The positions of the largest values are int32 in Paddle, int64 in torch."""
    if call.value(flag) is not None and call.literal(flag) is not False:
        call.report("NNL202", difference="the indices are int32 in Paddle, int64 in torch")


@hook("layer_avg_pool", to="paddle")
def avg_pool_to_paddle(call: BoundCall) -> None:
    """Padding counts in torch by default, and never where a divisor is given; without padding nothing differs."""
    if call.value("divisor_override") is not None and call.literal("divisor_override") is not None:
        counted = call.value("count_include_pad") is None or call.literal("count_include_pad") is True
        if call.literal("divisor_override") is ... and not counted:
            call.stop("NNL201", difference="whether padding counts depends on whether divisor_override is None")
        call.drop("count_include_pad")
        call.force("exclusive", "False")
        if call.value("ceil_mode") is not None and call.literal("ceil_mode") is not False:
            call.report("NNL202", difference="with ceil_mode, Paddle divides windows beyond the edge by their own size")
    elif _is_unpadded(call) and _is_whole(call) and not call.file_reads("count_include_pad"):
        call.drop("count_include_pad")


@hook("layer_avg_pool", to="torch")
def avg_pool_to_torch(call: BoundCall) -> None:
    """Padding never counts where Paddle has a divisor; what Paddle pads by name is computed as the layer runs."""
    if _padding(call, "avg", "exclusive"):
        return
    divided = call.value("divisor_override") is not None and call.literal("divisor_override") is not None
    if divided and not _is_unpadded(call) and call.literal("exclusive") is not False:
        call.stop("NNL201", difference="Paddle divides the average without the padding, torch the sum")
    elif _is_unpadded(call) and _is_whole(call):
        call.drop("exclusive")


def _is_unpadded(call: BoundCall) -> bool:
    return call.value("padding") is None or call.literal("padding") == 0


def _is_whole(call: BoundCall) -> bool:
    """Whether no window reaches over the end."""
    return call.value("ceil_mode") is None or call.literal("ceil_mode") is False


_SAME = (
    "[p for n in v.shape[:1:-1] for t in [max(((n - 1) // m.stride) * m.stride + m.kernel_size - n, 0)] "
    "for p in (t // 2, t - t // 2)]"
)
"""What Paddle pads for a size, on each side of an axis: the odd one goes behind."""


_DIMENSIONS = {4: 2, 6: 3}
"""The dimensions that so many numbers pad on both sides."""


def _padding(call: BoundCall, kind: str, flag: str) -> bool:
    """Paddings by name; whether the layer's output is computed anew, with what Paddle pads under 'SAME'."""
    text, given = call.literal("padding"), call.value("padding")
    if not isinstance(text, str):
        if isinstance(given, ast.List | ast.Tuple):
            nested = any(isinstance(e, ast.List | ast.Tuple) for e in given.elts)
            even_padding(call, len(given.elts) - 2 if nested else _DIMENSIONS.get(len(given.elts), len(given.elts)))
        return False
    if text.upper() == "VALID":
        call.force("padding", "0")
        return False
    sizes = [call.value(n) for n in ("kernel_size", "stride")]
    usual = call.value(flag) is None or call.literal(flag) is (flag == "exclusive")
    usual &= call.value("divisor_override") is None or call.literal("divisor_override") is None
    if text.upper() != "SAME" or not usual or any(isinstance(s, ast.List | ast.Tuple) for s in sizes):
        call.stop("API221", parameter="padding", value=repr(text))
    for name in ("padding", "ceil_mode", flag):
        call.drop(name)
    functions = ", ".join(f"torch.nn.functional.{kind}_pool{n}d" for n in (1, 2, 3))
    value = ", value=float('-inf')" if kind == "max" else ""
    padded = f"torch.nn.functional.pad(v, {_SAME}{value})"
    pooled = f"(lambda v: ({functions})[v.ndim - 3]({padded}, m.kernel_size, m.stride))"
    if kind == "max":
        on_output(call, f"{pooled}(given[0])")
    else:  # what is padded does not count
        on_output(call, f"(lambda f: f(given[0]) / f(torch.ones_like(given[0])))({pooled})")
    return True
