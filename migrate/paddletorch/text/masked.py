"""A module without the syntax that is newer than the running Python."""

from __future__ import annotations

import ast
from typing import NamedTuple

from paddletorch.model import Span


class Masked(NamedTuple):
    """The module without the newer syntax, and what was masked."""

    module: ast.Module
    regions: tuple[Span, ...]
    names: frozenset[str]
    """Names in the masked regions."""
