"""The Triton kernels of the fused backend. ``docs/fused.md`` explains the layout and why it is one launch.

Kernels get addresses as integers and make pointers of them: one source serves both frameworks, and one launch
takes any number of tensors of any dtype. Float64 numbers come as the integer of their bits, because Triton
narrows a Python float to float32.
"""

# mypy: disable-error-code="untyped-decorator,no-untyped-def"
# Triton evaluates the annotations here: no ``from __future__ import annotations``.
import triton
import triton.language as tl

from paddletorch_shim.backends import table as layout

HEADER = tl.constexpr(layout.HEADER)
ROW = tl.constexpr(layout.ROW)
VECTOR = tl.constexpr(layout.VECTOR)
INFINITY = tl.constexpr(float("inf"))

_NEVER_SPECIALIZED = [
    *("table", "scale", "found", "good", "bad", "previous", "growth", "backoff", "growth_interval"),
    *("backoff_interval", "clipping"),
]
"""Integer arguments whose value must not choose a compiled variant."""


@triton.jit
def _pointer(address, DTYPE: tl.constexpr):
    return tl.cast(address, tl.pointer_type(DTYPE))


INTERPRETED = tl.constexpr(not isinstance(_pointer, triton.JITFunction))


@triton.jit
def _narrow(wide, DTYPE: tl.constexpr):
    """Rounded to the nearest, to even."""
    if INTERPRETED and tl.bfloat16 == DTYPE:
        # Triton's interpreter (3.9) cuts bits off; a device rounds.
        bits = wide.to(tl.uint32, bitcast=True)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        quiet = (bits >> 16) | 0x40  # a NaN, which rounding up could make an infinity
        return tl.where(wide == wide, rounded, quiet).to(tl.uint16).to(tl.bfloat16, bitcast=True)
    return wide.to(DTYPE)


@triton.jit
def _block(pointer, mask, inverse, coefficient, WIDE: tl.constexpr, WRITE: tl.constexpr, CLIP: tl.constexpr):
    """Of each element: 1 if it is infinite or NaN, and the square of its unscaled value."""
    value = tl.load(pointer, mask=mask, other=0.0)
    wide = value.to(WIDE)
    infinite = tl.where(tl.abs(wide) < INFINITY, 0, 1)
    # Rounded to the gradient's dtype after each product, as separate passes over memory round.
    unscaled = _narrow(wide * inverse.to(WIDE), value.dtype)
    if CLIP:
        unscaled = _narrow(unscaled.to(WIDE) * coefficient.to(WIDE), value.dtype)
    if WRITE:
        tl.store(pointer, unscaled, mask=mask)
    wide = unscaled.to(WIDE)
    return infinite, wide * wide


@triton.jit
def _typed_row(
    address,
    count,
    inverse,
    coefficient,
    DTYPE: tl.constexpr,
    WIDE: tl.constexpr,
    BLOCK: tl.constexpr,
    WRITE: tl.constexpr,
    CLIP: tl.constexpr,
    NORM: tl.constexpr,
):
    infinite = tl.zeros([BLOCK], tl.int32)
    squares = tl.zeros([BLOCK], WIDE)
    whole = count // VECTOR * VECTOR
    # Rows of VECTOR elements or more are 16-byte aligned. Triton 3.7 loses the hint on what a helper returns or takes.
    aligned = tl.multiple_of(tl.cast(address, tl.pointer_type(DTYPE)), 16)
    for start in range(0, whole, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        found, square = _block(aligned + offsets, offsets < whole, inverse, coefficient, WIDE, WRITE, CLIP)
        infinite = infinite | found
        if NORM:
            squares += square
    rest = whole + tl.arange(0, VECTOR)
    found, square = _block(_pointer(address, DTYPE) + rest, rest < count, inverse, coefficient, WIDE, WRITE, CLIP)
    total = tl.zeros([], tl.float64)
    if NORM:
        total = (tl.sum(squares, 0) + tl.sum(square, 0)).to(tl.float64)
    return tl.maximum(tl.max(infinite, 0), tl.max(found, 0)), total


@triton.jit
def _row(
    table,
    inverse,
    coefficient,
    BLOCK: tl.constexpr,
    WRITE: tl.constexpr,
    CLIP: tl.constexpr,
    NORM: tl.constexpr,
):
    """The program's row: 1 if an element is infinite or NaN, and the sum of the unscaled squares (float64)."""
    row = _pointer(table, tl.int64) + HEADER + tl.program_id(0).to(tl.int64) * ROW
    address = tl.load(row)
    count = tl.load(row + 1).to(tl.int32)
    code = tl.load(row + 2)
    if code == 0:
        found, total = _typed_row(
            address, count, inverse, coefficient, tl.float32, tl.float32, BLOCK, WRITE, CLIP, NORM
        )
    elif code == 1:
        found, total = _typed_row(
            address, count, inverse, coefficient, tl.float16, tl.float32, BLOCK, WRITE, CLIP, NORM
        )
    elif code == 2:
        found, total = _typed_row(
            address, count, inverse, coefficient, tl.bfloat16, tl.float32, BLOCK, WRITE, CLIP, NORM
        )
    else:
        found, total = _typed_row(
            address, count, inverse, coefficient, tl.float64, tl.float64, BLOCK, WRITE, CLIP, NORM
        )
    return found, total


@triton.jit
def _advance(
    found, scale, good, bad, previous, growth, backoff, floor, growth_interval, backoff_interval, GUARD: tl.constexpr
):
    """``policy.LossScaleRule.advance`` on the state; ``previous`` gets what the state was."""
    scale = _pointer(scale, tl.float32)
    good = _pointer(good, tl.int32)
    bad = _pointer(bad, tl.int32)
    old_scale = tl.load(scale)
    old_good = tl.load(good)
    old_bad = tl.load(bad)
    tl.store(_pointer(previous, tl.float32), old_scale)
    tl.store(_pointer(previous, tl.int32) + 1, old_good)
    tl.store(_pointer(previous, tl.int32) + 2, old_bad)
    new_good = tl.where(found, 0, old_good + 1)
    new_bad = tl.where(found, old_bad + 1, 0)
    grows = (new_good == growth_interval) & (found == False)  # noqa: E712  (Triton has no `not` of a tensor)
    shrinks = (new_bad == backoff_interval) & found
    # float32 times float32 is exact in float64, and torch's factor is a float64: one rounding either way.
    wide = old_scale.to(tl.float64)
    grown = (wide * growth.to(tl.float64, bitcast=True)).to(tl.float32)
    shrunk = tl.maximum((wide * backoff.to(tl.float64, bitcast=True)).to(tl.float32), floor)
    if GUARD:
        grown = tl.where(grown < INFINITY, grown, old_scale)
    tl.store(scale, tl.where(shrinks, shrunk, tl.where(grows, grown, old_scale)))
    tl.store(good, tl.where(grows, 0, new_good))
    tl.store(bad, tl.where(shrinks, 0, new_bad))


@triton.jit(do_not_specialize=_NEVER_SPECIALIZED)
def sweep(
    table: tl.int64,
    scale: tl.int64,
    found: tl.int64,
    good: tl.int64,
    bad: tl.int64,
    previous: tl.int64,
    growth: tl.int64,
    backoff: tl.int64,
    floor: tl.float32,
    growth_interval: tl.int32,
    backoff_interval: tl.int32,
    clipping: tl.int64,
    max_norm: tl.float32,
    BLOCK: tl.constexpr,
    WRITE: tl.constexpr,
    NORM: tl.constexpr,
    RULE: tl.constexpr,
    GUARD: tl.constexpr,
):
    """Check every element of the table, one row a program; the last program to finish does the rest.

    Args:
        table: header, rows, and one float64 a row for the norm.
        scale: float32, the loss scale.
        found: float32, gets 1.0 if any element is infinite or NaN, else 0.0.
        good, bad: int32, the counters (RULE).
        previous: 12 bytes that get scale, good and bad as they were (RULE).
        growth, backoff: bits of the float64 factors (RULE).
        floor, growth_interval, backoff_interval: see ``policy.LossScaleRule`` (RULE).
        clipping: three float32 that get norm, clip coefficient, and scale over coefficient (NORM).
        max_norm: of ``clip_grad_norm_`` (NORM).
        WRITE: multiply every element by 1 / scale in place.
        NORM: the norm of the unscaled elements.
        RULE: advance the state; GUARD is the rule's ``growth_guard``.
    """
    loss_scale = tl.load(_pointer(scale, tl.float32))
    infinite, total = _row(table, tl.div_rn(1.0, loss_scale), 1.0, BLOCK, WRITE, False, NORM)
    finished = _pointer(table, tl.int32)
    overflowed = finished + 1
    programs = tl.num_programs(0)
    sums = _pointer(table, tl.float64) + HEADER + programs.to(tl.int64) * ROW
    if NORM:
        tl.store(sums + tl.program_id(0), total)
    if infinite:
        tl.atomic_or(overflowed, 1)
    if tl.atomic_add(finished, 1) == programs - 1:
        # Everything the others wrote before their add is visible now. Both words go back to 0 for the next launch.
        any_infinite = tl.atomic_xchg(overflowed, 0) != 0
        tl.atomic_xchg(finished, 0)
        tl.store(_pointer(found, tl.float32), any_infinite.to(tl.float32))
        if NORM:
            squares = tl.zeros([BLOCK], tl.float64)
            for start in range(0, programs, BLOCK):
                rows = start + tl.arange(0, BLOCK)
                squares += tl.load(sums + rows, mask=rows < programs, other=0.0, cache_modifier=".cg")
            norm = tl.sqrt(tl.sum(squares, 0)).to(tl.float32)
            # In torch a number over a tensor is the reciprocal times the number.
            coefficient = tl.div_rn(1.0, norm + 1e-6) * max_norm
            coefficient = tl.where(coefficient > 1.0, 1.0, coefficient)
            tl.store(_pointer(clipping, tl.float32), norm)
            tl.store(_pointer(clipping, tl.float32) + 1, coefficient)
            tl.store(_pointer(clipping, tl.float32) + 2, tl.div_rn(loss_scale, coefficient))
        if RULE:
            _advance(
                any_infinite,
                scale,
                good,
                bad,
                previous,
                growth,
                backoff,
                floor,
                growth_interval,
                backoff_interval,
                GUARD,
            )


@triton.jit(do_not_specialize=_NEVER_SPECIALIZED)
def unscale_and_clip(table: tl.int64, scale: tl.int64, clipping: tl.int64, BLOCK: tl.constexpr):
    """Multiply every element by 1 / scale and by the clip coefficient that a sweep with NORM left."""
    inverse = tl.div_rn(1.0, tl.load(_pointer(scale, tl.float32)))
    _row(table, inverse, tl.load(_pointer(clipping, tl.float32) + 1), BLOCK, True, True, False)


@triton.jit(do_not_specialize=_NEVER_SPECIALIZED)
def advance(
    found: tl.int64,
    scale: tl.int64,
    good: tl.int64,
    bad: tl.int64,
    previous: tl.int64,
    growth: tl.int64,
    backoff: tl.int64,
    floor: tl.float32,
    growth_interval: tl.int32,
    backoff_interval: tl.int32,
    GUARD: tl.constexpr,
):
    """Advance the state by a ``found`` that was written before; one program."""
    overflowed = tl.load(_pointer(found, tl.float32)) > 0
    _advance(overflowed, scale, good, bad, previous, growth, backoff, floor, growth_interval, backoff_interval, GUARD)


@triton.jit(do_not_specialize=_NEVER_SPECIALIZED)
def rewind(scale: tl.int64, good: tl.int64, bad: tl.int64, previous: tl.int64):
    """Put the state back to ``previous``; one program."""
    tl.store(_pointer(scale, tl.float32), tl.load(_pointer(previous, tl.float32)))
    tl.store(_pointer(good, tl.int32), tl.load(_pointer(previous, tl.int32) + 1))
    tl.store(_pointer(bad, tl.int32), tl.load(_pointer(previous, tl.int32) + 2))
