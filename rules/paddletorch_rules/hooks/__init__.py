"""Small named functions for what a table row cannot say. A row asks for one by ``hook = "name"``.

A hook sees one call bound to its row, before the generic rules run; it may drop a source parameter, force
a target parameter, choose another template or report. Each area has a module with a dict ``ARGUMENT_HOOKS``.
Hooks that need more than the call's arguments live in the engine and are named in ``ENGINE_HOOKS``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules

from paddletorch_rules.hooks.protocol import BoundCall
from paddletorch_rules.releases import Framework


@lru_cache(maxsize=1)
def argument_hooks() -> dict[str, Callable[[BoundCall], None]]:
    """Hooks that look at a call's arguments, by name; the modules are imported when first asked for."""
    found: dict[str, Callable[[BoundCall], None]] = {}
    for module in iter_modules(__path__):
        found.update(getattr(import_module(f"{__name__}.{module.name}"), "ARGUMENT_HOOKS", {}))
    return found


@lru_cache(maxsize=1)
def class_checks() -> dict[str, Callable[[ast.ClassDef, Framework], bool]]:
    """By row id: whether a class that derives from the API deserves the row's warning."""
    found: dict[str, Callable[[ast.ClassDef, Framework], bool]] = {}
    for module in iter_modules(__path__):
        found.update(getattr(import_module(f"{__name__}.{module.name}"), "CLASS_CHECKS", {}))
    return found


ENGINE_HOOKS = frozenset(
    {
        "sharded_scaler",
        "decorate",
        "drop_statement",
        "update",
        "minimize",
        "step",
        "scale",
        "set_scale",
        "shape",
        "data",
    }
    | {"linear_weight", "other_weight"}
)
"""Hooks that need the statement around the call; the engine has them under these names."""


def names() -> frozenset[str]:
    """Every hook that a row can ask for."""
    return frozenset(argument_hooks()) | ENGINE_HOOKS
