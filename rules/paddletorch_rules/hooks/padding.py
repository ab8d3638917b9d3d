"""``pad``: torch pads from the last dimension; Paddle from the first if there are pads for every dimension."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from paddletorch_rules.hooks.arguments import (
    elements_of,
    is_plain,
    is_pure,
    no_counterpart,
    only,
    rewrite_once,
    with_batch,
)
from paddletorch_rules.hooks.protocol import BoundCall, hook


@hook("pad", to="paddle")
def pad_to_paddle(call: BoundCall) -> None:
    """Paddle pads from the last dimension too, unless there are two pads for every dimension."""
    if call.value("mode") is not None and call.literal("mode") is ...:
        _pad_by_mode(call)
    else:
        _pad_to_paddle(call, call.value("mode") is None or call.literal("mode") == "constant")


@hook("pad", to="torch")
def pad_to_torch(call: BoundCall) -> None:
    """torch pads from the last dimension; Paddle does too, unless there are two pads for every dimension."""
    unknown = call.value("mode") is not None and call.literal("mode") is ...
    if unknown and not is_pure(call.value("mode")):
        no_counterpart(call, "mode")
    constant = call.value("mode") is None or unknown or call.literal("mode") == "constant"
    if unknown and call.value("value") is not None:
        text = ast.unparse(call.value("mode") or ast.Constant(0))
        call.wrap("value", "", f" if {text} == 'constant' else None")  # torch refuses it elsewhere
    elif not constant:
        call.drop("value")
    _pad_to_torch(call, constant)


def _last_first(elements: list[ast.expr]) -> str:
    """Pairs of pads in the other order."""
    return f"[{', '.join(ast.unparse(e) for pair in _pairs_last_first(elements) for e in pair)}]"


def _pairs_last_first(elements: list[ast.expr]) -> list[list[ast.expr]]:
    return [elements[i : i + 2] for i in range(len(elements) - 2, -2, -2)]


def _may_cut(element: ast.expr) -> bool:
    """Whether the pad is written as a negative number, which cuts: Paddle's pads only pad."""
    return isinstance(element, ast.UnaryOp) and isinstance(element.op, ast.USub)


def _kept(pair: list[ast.expr], axis: int) -> str:
    """The slice of a dimension that pads leave of it."""
    if not any(map(_may_cut, pair)):
        return ":"
    first, last = (_number(e) for e in pair)
    before, after = (ast.unparse(e) for e in pair)
    start = f"max(-({before}), 0)" if first is None else str(-first) if first < 0 else ""
    stop = f"{{x}}.shape[{axis}] + min({after}, 0)" if last is None else str(last) if last < 0 else ""
    return f"{start}:{stop}"


def _padded(element: ast.expr) -> ast.expr:
    """A pad that is no cut."""
    number = _number(element)
    text = f"max({ast.unparse(element)}, 0)" if number is None else str(max(number, 0))
    return ast.parse(text, mode="eval").body


def _number(element: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(element)
    except ValueError:
        return None
    return value if type(value) is int else None


def _pad_to_paddle(call: BoundCall, constant: bool) -> None:
    node = call.value("pad")
    elements = elements_of(node)
    if call.value("value") is not None and call.literal("value") is None:
        call.drop("value")
    if not constant:
        layout = {2: "'NCL'", 6: "'NCDHW'"}.get(len(elements) if elements is not None else 4)
        if layout is not None:
            call.force("data_format", layout)
        if call.literal("mode") == "circular" and any(map(_may_cut, elements or [])):
            no_counterpart(call, "pad")  # Paddle gives other elements
        if elements and call.ranks("input") == {len(elements) // 2 + 1}:
            with_batch(call)
        return
    if node is None:
        return
    call.drop("mode")
    is_cut = elements is not None and any(map(_may_cut, elements))
    may_be_bool = call.dtype("input") is None and _is_mask(call.value("input")) and call.value("value") is None
    if elements is None or may_be_bool or not is_plain(node) or not (is_cut or is_pure(call.value("input"))):
        call.rewrite("torch_pad({x}, {pad}{value:, value=%})")
        return
    cut = "{x}"
    if is_cut:
        pairs = _pairs_last_first(elements)
        cut = "{x}[..., " + ", ".join(_kept(pair, number - len(pairs)) for number, pair in enumerate(pairs)) + "]"
        node = ast.List([_padded(e) for e in elements], ast.Load())
        elements = node.elts
    last = _last_first(elements)
    after = ""
    if (dtype := call.dtype("input")) in _NOT_PADDED:
        cut, after = f"{cut}.astype('int32')", f".astype('{dtype}')"
    elif isinstance(call.literal("value"), bool):
        cut, after = f"{cut}.astype('int32' if {{x}}.dtype == paddle.bool else {{x}}.dtype)", ".astype({x}.dtype)"
    pads = f"[0] * (2 * {{x}}.ndim - {len(elements)}) + {last}"
    rewrite_once(call, f"paddle.nn.functional.pad({cut}, {pads}{{value:, value=%}}){after}", x="input")


_NOT_PADDED = ("bool", "int8", "uint8")
"""Dtypes that Paddle does not pad."""


def _is_mask(node: ast.expr | None) -> bool:
    """Whether a name says that it is a mask, which may hold bools."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return bool(re.search(r"(^|_)masks?$", name))


def _pad_by_mode(call: BoundCall) -> None:
    """The mode is known when the program runs: constant pads any dimensions, the others those behind two."""
    node = call.value("pad")
    elements = elements_of(node)
    if node is None or (elements is not None and any(map(_may_cut, elements))):
        no_counterpart(call, "mode")
    if call.value("value") is not None and call.literal("value") is None:
        call.drop("value")
    call.rewrite("torch_pad({x}, {pad}, {mode}{value:, value=%})")


_CHANNELS_FIRST = ("NCL", "NCHW", "NCDHW")


def _is_one_of(node: ast.expr | None, values: Collection[str]) -> bool:
    """Whether it is chosen from a list of such strings alone: ``['NCL', 'NCHW'][axes]``."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.List):
        return False
    return all(isinstance(one, ast.Constant) and one.value in values for one in node.value.elts)


def _pad_to_torch(call: BoundCall, constant: bool) -> None:
    node, layout = call.value("pad"), call.literal("data_format")
    elements = elements_of(node)
    left = call.value("pad_from_left_axis") is None or call.literal("pad_from_left_axis") is True
    if call.value("data_format") is not None and layout is ...:
        if not _is_one_of(call.origin("data_format"), _CHANNELS_FIRST):
            only(call, "data_format", *_CHANNELS_FIRST)
        layout = "NCHW" if elements is not None and len(elements) < 6 else None  # four pads fill none of the layouts
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
    if elements is not None and rank is not None and len(elements) != 2 * rank:
        return
    in_order = elements is not None and is_plain(node)
    if elements is not None and in_order and _last_first(elements) == f"[{', '.join(map(ast.unparse, elements))}]":
        return
    if elements is not None and in_order and rank is not None:
        pads, function = _last_first(elements), "torch.nn.functional.pad"
    else:
        pads, function = "{pad}", "paddle_pad"
    call.rewrite(f"{function}({{input}}, {pads}{{mode:, mode=%}}{{value:, value=%}})")
