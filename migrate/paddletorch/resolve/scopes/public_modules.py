"""Modules that everybody has alike: the frameworks' own and those of Python. No conversion has written into them."""

from __future__ import annotations

import sys

from paddletorch.model import PACKAGES

_ROOTS = sys.stdlib_module_names.union(*PACKAGES.values())

HIDDEN = frozenset(
    {"abs", "all", "any", "bool", "compile", "complex", "filter", "float", "hash", "help", "int", "iter", "list", "map"}
) | {"max", "min", "pow", "print", "range", "round", "set", "slice", "sum", "vars"}
"""The builtins of which some of these modules have a name."""


def is_public(module: str) -> bool:
    """Whether a module, by its dotted name, is one of a framework or of Python."""
    return module.partition(".")[0] in _ROOTS
