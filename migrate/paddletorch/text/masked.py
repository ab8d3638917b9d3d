"""A module without the syntax that is newer than the running Python."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from paddletorch.model import Span


@dataclass(frozen=True, slots=True)
class Masked:
    """The module without the newer syntax, and what was masked."""

    module: ast.Module
    regions: tuple[Span, ...]
    names: frozenset[str]
    """Names in the masked regions."""
