"""Programs that leave the device to Paddle, to torch: Paddle computes on a GPU where it sees one, torch where told."""

from __future__ import annotations

from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView

_DEVICES = (b"gpu", b"cuda", b"CUDA", b"set_device", b"CPUPlace", b"init_parallel_env", b"fleet", b"enable_static")
"""What stands in a file that says itself where it computes."""


def plan_unset_device(view: FileView, planned: Planned) -> Changes:
    """Say it at the first optimizer of a program that names no device."""
    if any(word in view.source.body for word in _DEVICES):
        return NOTHING
    first = next((use for use in planned.uses.converted if use.row.instance == "optimizer"), None)
    if first is None:
        return NOTHING
    return Changes(findings=(finding("DEV206", first.site.node, first.site.name, first.row),))
