"""What the tables say of a name of a framework: a row, another name of one, or that there is no counterpart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from paddletorch_rules.adapters import adapters, functions
from paddletorch_rules.members import same_member
from paddletorch_rules.releases import Framework, other_framework
from paddletorch_rules.schema import Form, Row
from paddletorch_rules.table import Table
from paddletorch_rules.verified import Record

_TYPES = {
    "torch.dtype": "dtype",
    "paddle.dtype": "dtype",
    "torch.device": "device",
    "torch.Size": "shape",
    "paddle.Size": "shape",
    "torch.autograd.function.FunctionCtx": "function_context",
    "paddle.autograd.PyLayerContext": "function_context",
}
"""The tracked types of classes whose instances no row makes by calling the class."""


class Fate(Enum):
    """What becomes of a public name."""

    ROW = "row"
    ALIAS = "alias"
    SAME = "same member"
    NO_COUNTERPART = "no counterpart"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Said:
    """What the tables say of one name.

    ``rows`` are the rows of the name, more than one if they differ in what they take; empty if no table has it.
    ``alias_of`` is the name that the rows have, where that is another one; ``same_as`` the name of a member that the
    other framework's class has alike, so that it needs no row. ``written`` is the class that is written into the file
    for a class that the other framework lacks.
    """

    name: str
    rows: tuple[tuple[Row, Form], ...] = ()
    alias_of: str = ""
    same_as: str = ""
    written: str = ""

    @property
    def fate(self) -> Fate:
        """A row counts if it leads to the other framework in any form."""
        if not self.rows:
            return Fate.SAME if self.same_as else Fate.OPEN
        if all(is_reported(row) for row, _ in self.rows) and not self.written:
            return Fate.NO_COUNTERPART
        return Fate.ALIAS if self.alias_of else Fate.ROW


def said_of(table: Table, side: Framework, name: str) -> Said:
    """What the tables say of ``torch.gather``, ``torch.Tensor.gather`` or ``torch.nn.modules.conv.Conv2d``."""
    owner, _, last = name.rpartition(".")
    if table.makes(owner) == "tensor" and owner != f"{side}.Tensor":  # torch.nn.Parameter has what tensors have
        of_tensors = said_of(table, side, f"{side}.Tensor.{last}")
        if of_tensors.fate is not Fate.OPEN:
            return replace(of_tensors, name=name)
    if rows := table.overloads(side, name):
        known = name if name in table.names(side) else table.documented(name)
        return Said(name, tuple(rows), "" if known == name else known, written=written_class(side, known))
    if members := _members(table, side, name):
        return Said(name, tuple(members))
    if same := same_member(side, name) or _written_member(table, side, owner, last):
        return Said(name, same_as=same)
    if found := table.lookup(side, name):
        return Said(name, (found,))
    below = table.exported(side, name).values()  # torch.distributed.ReduceOp, whose members have rows
    return Said(name, tuple(pair for one in below for pair in table.overloads(side, one)))


def written_class(side: Framework, *names: str) -> str:
    """The class that is written into a file for the first of these that the other framework lacks, or nothing."""
    known = adapters(other_framework(side))
    return next((known[name].name for name in names if name in known and known[name].alone), "")


def _written_member(table: Table, side: Framework, owner: str, name: str) -> str:
    """The member of the class that is written in the place of ``owner``, if that has it; empty otherwise."""
    target = other_framework(side)
    adapter = adapters(target).get(owner)
    if adapter is not None:
        has = name in adapter.members or (adapter.alone and _defines(adapter.text, name))
        return f"{adapter.name}.{name}" if has else ""
    for row, _ in table.overloads(side, owner):
        for template in [form.template for form in row.forms(target) if form.template]:
            written = functions(target).get(template.partition("(")[0])
            if written is not None and _defines(written.text, name):
                return f"{written.name}.{name}"
    return ""


def _defines(text: str, member: str) -> bool:
    """Whether the class of this text has the member."""
    return re.search(rf"\bself\.{member}(?:, self\.\w+)* = |\bdef {member}\(", text) is not None


def _members(table: Table, side: Framework, name: str) -> Sequence[tuple[Row, Form]]:
    """The rows of a member, by the type that calling its class makes; those of the nearest type first."""
    owner, _, last = name.rpartition(".")
    made = _TYPES.get(owner) or (table.makes(owner) if owner else None)
    rows = table.members(side, last) if made else ()
    for kind in table.bases(made) if made else ():
        if found := [(row, form) for row, form in rows if row.receiver == kind]:
            return found
    return ()


def is_reported(row: Row) -> bool:
    """Whether the row says that there is no counterpart."""
    return row.kind == "unsupported" or (row.report is not None and not (row.torch and row.paddle))


def reason(table: Table, row: Row, name: str) -> str:
    """Why ``name``, which the row reports, has no counterpart."""
    return row.reason or _filled(table.diagnostics[row.report].message if row.report else "", name)


def way_out(table: Table, row: Row, name: str) -> str:
    """What to do about it; empty if nothing is said."""
    return row.way_out(name) or _filled(table.diagnostics[row.report].hint if row.report else "", name)


def proof(table: Table, record: Record, row: Row) -> str:
    """What is recorded of a row's proof, in a few words."""
    targets = record.directions(row, table)
    if len(targets) == 2:
        return "proven both ways"
    if targets:
        return f"proven to {targets[0]}"
    return f"not proven: {row.unverified}" if row.unverified else "not proven"


class _Holes(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "…"


def _filled(text: str, name: str) -> str:
    """The words of a finding, for the name at large where those for one use have their holes."""
    side: Framework = "paddle" if name.startswith("paddle.") else "torch"
    return text.format_map(_Holes(api=name, name=name, method=name, source=side, target=other_framework(side)))
