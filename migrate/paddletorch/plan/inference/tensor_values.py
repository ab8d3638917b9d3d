"""Which values are tensors that an edit may be made for."""

from __future__ import annotations

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance
from paddletorch.resolve.values import Value


def is_tensor(view: FileView, value: Value) -> bool:
    """Whether it is a tensor; in a file with the target's code in it, one that comes from the source."""
    if not isinstance(value, Instance) or value.type != "tensor":
        return False
    return not view.is_half_converted or value.api.partition(".")[0] == view.settings.source
