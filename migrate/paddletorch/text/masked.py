"""What is left of a module once syntax newer than the running Python is masked."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from paddletorch.model import Span


@dataclass(frozen=True, slots=True)
class Masked:
    """The module without the newer syntax, and the regions that were taken out."""

    module: ast.Module
    regions: tuple[Span, ...]
    names: frozenset[str]
