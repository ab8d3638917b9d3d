"""Whether anything but one variable holds a tensor or its memory, as far as the process can tell; else it says so."""

from __future__ import annotations

import sys
from typing import Any

from paddletorch.model import Framework


def is_held_elsewhere(framework: Framework, tensor: Any, references: int) -> bool:
    """Whether a write in place may be seen by way of something else; True where it cannot be told.

    ``references``: how many there are beside those of the caller and of one variable.
    """
    if framework != "torch" or references > 0:
        return True  # Paddle does not tell who shares the memory of a tensor
    if type(tensor) is not sys.modules["torch"].Tensor or (tensor.requires_grad and tensor.is_leaf):
        return True
    if tensor._is_view():
        return True
    storage = tensor.untyped_storage()
    if not storage.resizable():  # memory of another library, such as an array's
        return True
    uses: int = sys.modules["torch"]._C._storage_Use_Count(storage._cdata)
    return uses > 2  # the tensor's, and that of ``storage``
