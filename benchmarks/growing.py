"""Sources of any size for each way that code can be long: what the growth of time with size is measured on.

Each family is a function from a size, a multiple of 24, to the text of a module with that many of one thing; a
dictionary names them by the framework that they are converted to.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Literal

import growing_code
import growing_names
import growing_training

Family = Callable[[int], str]


def _families(*, paddle: bool) -> dict[str, Family]:
    modules = (growing_names, growing_training, growing_code)
    functions = [
        (name, value)
        for module in modules
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    ]
    return {name.replace("_", " "): value for name, value in functions if name.startswith("paddle_") is paddle}


FAMILIES: dict[Literal["paddle", "torch"], dict[str, Family]] = {
    "paddle": _families(paddle=False),
    "torch": _families(paddle=True),
}
"""The families by the framework that they are converted to, each by its name."""
