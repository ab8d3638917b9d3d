"""Functions through which Paddle carries another gradient, or none: views that overlap, diagonals."""

from __future__ import annotations

import ast
from itertools import product

from paddletorch_rules.hooks.arguments import rewrite_once
from paddletorch_rules.hooks.protocol import BoundCall, hook
from paddletorch_rules.hooks.shape import receiver, whole_numbers

_LARGEST = 10_000
"""Views of more elements are not counted through."""


@hook("unfold", to="paddle")
def unfold(call: BoundCall) -> None:
    """Windows that overlap are stacked from slices, whose gradients add up."""
    if not _may_overlap(call):
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
    rewrite_once(call, f"paddle.stack([{piece} for {start} in range({{size}})], axis=-1)", **twice)


def _may_overlap(call: BoundCall) -> bool:
    size, step = call.literal("size"), call.literal("step")
    if isinstance(size, int) and isinstance(step, int):
        return size > step
    texts = [ast.unparse(node) if (node := call.value(n)) is not None else n for n in ("size", "step")]
    return texts[0] != texts[1]


@hook("as_strided", to="paddle")
def as_strided_to_paddle(call: BoundCall) -> None:
    """The offset counts bytes in Paddle; where elements are seen twice, Paddle's gradient counts them once."""
    if not _apart(call):
        call.report("AGD203", what="where the view shows an element twice, Paddle's gradient counts it once")
    name = "storage_offset"
    if call.value(name) is None:
        return
    if call.literal(name) in (0, None):
        call.drop(name)
    else:
        hole, source = receiver(call, "x")
        template = f"paddle.as_strided({{{hole}}}, {{shape}}, {{stride}}, {{offset}} * {{{hole}}}.element_size())"
        rewrite_once(call, template, **{hole: source})


@hook("as_strided", to="torch")
def as_strided_to_torch(call: BoundCall) -> None:
    """The offset counts elements in torch."""
    name = "offset"
    if call.value(name) is None:
        return
    if call.literal(name) in (0, None):
        call.drop(name)
    else:
        hole, source = receiver(call, "input")
        offset = f"{{storage_offset}} // {{{hole}}}.element_size()"
        template = f"torch.as_strided({{{hole}}}, {{size}}, {{stride}}, {offset})"
        rewrite_once(call, template, **{hole: source})


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


@hook("diag_embed", to="paddle")
def diag_embed(call: BoundCall) -> None:
    """Paddle's function stops gradients: what stands on the diagonal is chosen, moved by pads and put in its place."""
    given = [
        call.literal(n) if call.value(n) is not None else d for n, d in (("offset", 0), ("dim1", -2), ("dim2", -1))
    ]
    offset, *places = given
    if not isinstance(offset, int) or not all(isinstance(p, int) for p in places):
        call.report("AGD203", what="Paddle's result stops gradients")
        return
    for name in ("offset", "dim1", "dim2"):
        call.drop(name)
    hole, source = receiver(call, "input")
    size, zero = f"{{{hole}}}.shape[-1]", f"paddle.zeros([], dtype={{{hole}}}.dtype)"
    text = f"paddle.where(paddle.eye({size}) > 0, {{{hole}}}.unsqueeze(-1), {zero})"
    if offset:
        below, right = max(-offset, 0), max(offset, 0)
        pads = f"[0, 0] * ({{{hole}}}.ndim - 1) + [{below}, {right}, {right}, {below}]"
        text = f"paddle.nn.functional.pad({text}, {pads})"
    if places != [-2, -1]:
        text = f"paddle.moveaxis({text}, [-2, -1], {places})"
    rewrite_once(call, text, **{hole: source})


@hook("diagonal_scatter", to="paddle")
def diagonal_scatter(call: BoundCall) -> None:
    """Paddle asks the tensor that is written to, and not what is written, whether gradients are wanted."""
    hole, _ = receiver(call, "x")
    rest = "{y}{offset:, offset=%}{axis1:, dim1=%}{axis2:, dim2=%}"
    call.rewrite(f"torch_diagonal_scatter({{{hole}}}, {rest})")
