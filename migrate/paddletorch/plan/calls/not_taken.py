"""Tensors that Paddle's function does not take though torch's does: by their dtype, or the number of their axes."""

from __future__ import annotations

import ast
from functools import cache

from paddletorch_rules.facts import facts

from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.decisions import NOTHING_AROUND, Around, Decisions
from paddletorch.plan.model.findings import Finding
from paddletorch.resolve.facts.dtypes import SMALL_INTEGERS

_AXES = ("dim", "dim0")
"""What torch calls the axis along which a function works."""


def with_what_is_not_taken(binding: CallBinding, decisions: Decisions, template: str | None) -> Decisions:
    """The decisions, and what becomes of a tensor of which the file shows that Paddle's function refuses it.

    Numbers are cast, and an image gets the batch, where torch does the same; all else is reported. ``template`` is the
    row's own, in which an argument may have another part.
    """
    if binding.target != "paddle":
        return decisions
    row = binding.row.id.partition(":")[0].removeprefix("Tensor.").rstrip("_")
    name = _first(binding) if row in _rows_told() else None
    if name is None or name in decisions.wraps:
        return decisions
    plain = template is None and decisions.template is None and decisions.around == NOTHING_AROUND
    batched = facts().batched_ranks.get(row)
    if batched is not None and binding.ranks_of(name) == {batched - 1}:
        if plain and binding.literal("return_indices") in (..., False):
            return _with(binding, decisions, name, ".unsqueeze(0)").with_around("", ".squeeze(0)")
        return decisions.with_findings(_of_rank(binding, batched - 1))
    if _refuses_axes(binding, row, name):
        return decisions.with_findings(_of_rank(binding, *binding.ranks_of(name)))
    return _of_dtype(binding, decisions, row, name, plain)


@cache
def _rows_told() -> frozenset[str]:
    """The rows whose Paddle function refuses some tensor."""
    known = facts()
    by_rank = {*known.batched_ranks, *known.taken_ranks, *known.refuse_scalars, *known.refuse_scalars_along_axis}
    return frozenset(by_rank.union(*known.refused_dtypes.values()))


def _first(binding: CallBinding) -> str | None:
    """The tensor that the call is about: what the method is called on, or what the function takes first."""
    if binding.receiver is not None:
        return "self"
    signature = binding.form.signature(binding.view.settings.source_releases.newest)
    name = signature.parameters[0].name if signature is not None and signature.parameters else None
    return name if name is not None and binding.value(name) is not None else None


def _refuses_axes(binding: CallBinding, row: str, name: str) -> bool:
    """Whether Paddle's function refuses a tensor that has the number of axes which is known of this one."""
    taken = facts().taken_ranks.get(row)
    along_axis = row in facts().refuse_scalars_along_axis and any(binding.value(n) is not None for n in _AXES)
    if taken is None and not along_axis and row not in facts().refuse_scalars:
        return False
    ranks = binding.ranks_of(name)
    return len(ranks) == 1 and (taken not in ranks if taken is not None else ranks == {0})


def _of_dtype(binding: CallBinding, decisions: Decisions, row: str, name: str, plain: bool) -> Decisions:
    dtype = binding.dtype(name) or ""
    kind = "integers" if dtype.startswith(("int", "uint")) else "floats" if dtype.startswith("float") else dtype
    if dtype in SMALL_INTEGERS and row in facts().refused_dtypes["small_integers"]:
        return decisions.with_findings(binding.finding("DTY205", dtype=dtype))
    if row not in facts().refused_dtypes.get(kind, ()):
        return decisions
    if plain and row in facts().floats_first and kind in ("bool", "integers"):
        return _with(binding, decisions, name, ".astype('float32')")
    return decisions.with_findings(binding.finding("DTY205", dtype=dtype))


def _with(binding: CallBinding, decisions: Decisions, name: str, member: str) -> Decisions:
    """The decisions with a member of the tensor in its place."""
    node = binding.value(name)
    atomic = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    around: Around = ("", member) if atomic else ("(", f"){member}")
    if name == "self" and node is not None:
        return decisions._replace(replaced=(*decisions.replaced, (node, f"{{self}}{member}")))
    return decisions._replace(wraps={**decisions.wraps, name: around})


def _of_rank(binding: CallBinding, rank: int) -> Finding:
    return binding.finding("TEN216", rank=axes_text(rank))


def axes_text(rank: int) -> str:
    """How many axes there are, in words."""
    return f"{rank or 'no'} ax{'i' if rank == 1 else 'e'}s"
