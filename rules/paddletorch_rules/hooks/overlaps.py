"""Windows that overlap in memory: Paddle's gradient of such views counts each element once only."""

from __future__ import annotations

import ast
from itertools import product

from paddletorch_rules.hooks.arguments import bind_names
from paddletorch_rules.hooks.protocol import BoundCall
from paddletorch_rules.hooks.shape import receiver, whole_numbers

_LARGEST = 10_000
"""Views of more elements are not counted through."""


def unfold(call: BoundCall) -> None:
    """Windows that overlap are stacked from slices, whose gradients add up."""
    if call.target == "torch" or not _may_overlap(call):
        return
    dim, step = call.literal("dimension"), call.literal("step")
    names = {
        n.id for p in ("self", "size", "step") for n in ast.walk(call.value(p) or call.node) if isinstance(n, ast.Name)
    }
    start = next(n for n in ("k", "start", "first", "_first") if n not in names)
    last = f"{{self}}.shape[{{axis}}] - {{size}} + {start} + 1"
    twice = {"self": "self", "size": "size"}
    if isinstance(dim, int):
        by = "" if step == 1 else ":{step}"
        part = f"{start}:{last}{by}"
        shown = f"{':, ' * dim}{part}" if dim >= 0 else f"..., {part}{', :' * (-dim - 1)}"
        piece = f"{{self}}[{shown}]"
    else:
        twice["axis"] = "dimension"
        piece = f"paddle.index_select({{self}}, paddle.arange({start}, {last}, {{step}}), axis={{axis}})"
    call.rewrite(bind_names(call, f"paddle.stack([{piece} for {start} in range({{size}})], axis=-1)", **twice))


def _may_overlap(call: BoundCall) -> bool:
    size, step = call.literal("size"), call.literal("step")
    if isinstance(size, int) and isinstance(step, int):
        return size > step
    texts = [ast.unparse(node) if (node := call.value(n)) is not None else n for n in ("size", "step")]
    return texts[0] != texts[1]


def as_strided(call: BoundCall) -> None:
    """torch counts the offset in elements, Paddle in bytes; what overlaps has another gradient."""
    if call.target == "paddle" and not _apart(call):
        call.report("AGD203")
    name = "storage_offset" if call.target == "paddle" else "offset"
    if call.value(name) is None:
        return
    if call.literal(name) in (0, None):
        call.drop(name)
    elif call.target == "torch":
        hole, source = receiver(call, "input")
        offset = f"{{storage_offset}} // {{{hole}}}.element_size()"
        template = f"torch.as_strided({{{hole}}}, {{size}}, {{stride}}, {offset})"
        call.rewrite(bind_names(call, template, **{hole: source}))
    else:
        hole, source = receiver(call, "x")
        template = f"paddle.as_strided({{{hole}}}, {{shape}}, {{stride}}, {{offset}} * {{{hole}}}.element_size())"
        call.rewrite(bind_names(call, template, **{hole: source}))


def _apart(call: BoundCall) -> bool:
    """Whether numbers that are written out show that no element is seen twice."""
    sizes, strides = whole_numbers(call, "size"), whole_numbers(call, "stride")
    if sizes is None or strides is None or len(sizes) != len(strides):
        return False
    number = 1
    for size in sizes:
        number *= size
    if number > _LARGEST:
        return False
    places = {sum(map(int.__mul__, at, strides)) for at in product(*map(range, sizes))}
    return len(places) == number


ARGUMENT_HOOKS = {"unfold": unfold, "as_strided": as_strided}
"""Hooks of views with windows."""
