"""Tensors that Paddle's function does not take though torch's does: by their dtype, or the number of their axes."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts

from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.decisions import NOTHING_AROUND, Around, Decisions
from paddletorch.plan.model.findings import Finding

_FIRST = ("self", "input")
"""What torch calls the tensor that a method or function is about."""


def with_what_is_not_taken(binding: CallBinding, decisions: Decisions, template: str | None) -> Decisions:
    """The decisions, and what becomes of a tensor of which the file shows that Paddle's function refuses it.

    Numbers are cast, and an image gets the batch, where torch does the same; all else is reported. ``template`` is the
    row's own, in which an argument may have another part.
    """
    if binding.target != "paddle":
        return decisions
    row = binding.row.id.partition(":")[0].removeprefix("Tensor.").rstrip("_")
    name = next((n for n in _FIRST if binding.value(n) is not None), None)
    if name is None or name in decisions.wraps:
        return decisions
    plain = template is None and decisions.template is None and decisions.around == NOTHING_AROUND
    batched = facts().batched_ranks.get(row)
    if batched is not None and binding.ranks_of(name) == {batched - 1}:
        if plain and binding.literal("return_indices") in (..., False):
            return _with(binding, decisions, name, ".unsqueeze(0)").with_around("", ".squeeze(0)")
        return decisions.with_findings(_of_rank(binding, batched - 1))
    if row in facts().refuse_scalars and binding.ranks_of(name) == {0}:
        return decisions.with_findings(_of_rank(binding, 0))
    return _of_dtype(binding, decisions, row, name, plain)


def _of_dtype(binding: CallBinding, decisions: Decisions, row: str, name: str, plain: bool) -> Decisions:
    if not any(row in names for names in facts().refused_dtypes.values()):
        return decisions
    dtype = binding.dtype(name) or ""
    kind = "integers" if dtype.startswith(("int", "uint")) else "floats" if dtype.startswith("float") else dtype
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
    return binding.finding("TEN216", rank=f"{rank or 'no'} ax{'i' if rank == 1 else 'e'}s")
