"""``pad``: torch pads from the last dimension; Paddle from the first if there are pads for every dimension."""

from __future__ import annotations

import ast
from collections.abc import Callable

from paddletorch_rules.hooks.functional import bind_names, elements_of, is_plain, no_counterpart
from paddletorch_rules.hooks.protocol import BoundCall


def pad(call: BoundCall) -> None:
    """torch pads from the last dimension; Paddle does too, unless there are two pads for every dimension."""
    if call.value("mode") is not None and call.literal("mode") is ...:
        no_counterpart(call, "mode")
    constant = call.value("mode") is None or call.literal("mode") == "constant"
    if call.target == "paddle":
        _pad_to_paddle(call, constant)
    else:
        _pad_to_torch(call, constant)


def _last_first(node: ast.expr) -> str:
    """Pairs of pads in the other order."""
    elements = elements_of(node)
    if elements is not None and is_plain(node):
        pairs = [elements[i : i + 2] for i in range(len(elements) - 2, -2, -2)]
        return f"[{', '.join(ast.unparse(e) for pair in pairs for e in pair)}]"
    if elements is not None:
        slices = [f"*_p[{i}:{i + 2}]" for i in range(len(elements) - 2, -2, -2)]
        return f"(lambda _p: [{', '.join(slices)}])({{pad}})"
    return "[_n for _i in range(len({pad}) - 2, -2, -2) for _n in {pad}[_i:_i + 2]]"


def _pad_to_paddle(call: BoundCall, constant: bool) -> None:
    node = call.value("pad")
    elements = elements_of(node)
    if call.value("value") is not None and call.literal("value") is None:
        call.drop("value")
    if not constant:
        layout = {2: "'NCL'", 6: "'NCDHW'"}.get(len(elements) if elements is not None else 4)
        if layout is not None:
            call.force("data_format", layout)
        return
    if node is None:
        return
    if any(isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub) for e in elements or []):
        no_counterpart(call, "pad")
    count = "len({pad})" if elements is None else str(len(elements))
    if elements is not None and len(elements) == 2:
        last = "{pad}" if isinstance(node, ast.List) else "[*{pad}]"
        if is_plain(node):
            last = f"[{', '.join(ast.unparse(e) for e in elements)}]"
    else:
        last = _last_first(node)
    text = f"paddle.nn.functional.pad({{x}}, [0] * (2 * {{x}}.ndim - {count}) + {last}{{value:, value=%}})"
    repeated = {"x": "input"} if elements is not None else {"x": "input", "pad": "pad"}
    call.drop("mode")
    call.rewrite(bind_names(call, text, **repeated))


def _pad_to_torch(call: BoundCall, constant: bool) -> None:
    node, layout = call.value("pad"), call.literal("data_format")
    elements = elements_of(node)
    left = call.value("pad_from_left_axis") is None or call.literal("pad_from_left_axis") is True
    if call.value("data_format") is not None and layout is ...:
        no_counterpart(call, "data_format")
    call.drop("data_format")
    call.drop("pad_from_left_axis")
    if node is None:
        return
    rank = {"NCL": 3, "NLC": 3, "NCHW": 4, "NHWC": 4, "NCDHW": 5, "NDHWC": 5}.get(str(layout))
    if str(layout).endswith("C") and (elements is None or len(elements) != 2 * (rank or 0)):
        call.wrap("pad", "[0, 0, *", "]")  # the channels stand last and are not padded
        return
    if not (constant and left) or (elements is not None and len(elements) == 2):
        return
    if elements is not None and rank is not None:
        if len(elements) == 2 * rank:
            _rewrite_pad(call, _last_first(node), False)
        return
    if elements is not None and is_plain(node) and _last_first(node) == f"[{', '.join(map(ast.unparse, elements))}]":
        return
    count = "len({pad})" if elements is None else str(len(elements) // 2)
    test = f"2 * {{input}}.ndim == {count}" if elements is None else f"{{input}}.ndim == {count}"
    plain = ast.unparse(node) if elements is not None and is_plain(node) else "{pad}"
    _rewrite_pad(call, f"{_last_first(node)} if {test} else {plain}", elements is None)


def _rewrite_pad(call: BoundCall, pads: str, twice: bool) -> None:
    text = f"torch.nn.functional.pad({{input}}, {pads}{{mode:, mode=%}}{{value:, value=%}})"
    repeated = {"input": "x", "pad": "pad"} if twice else {"input": "x"} if text.count("{input}") > 1 else {}
    call.rewrite(bind_names(call, text, **repeated))


ARGUMENT_HOOKS: dict[str, Callable[[BoundCall], None]] = {"pad": pad}
