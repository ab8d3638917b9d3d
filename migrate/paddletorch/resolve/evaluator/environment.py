"""What an evaluation reads and never changes: the module, the tables' types, the other modules of the project."""

from __future__ import annotations

from typing import NamedTuple

from paddletorch.model import Framework
from paddletorch.resolve.evaluator.protocols import ExternalModules, Types
from paddletorch.resolve.scopes.scopes import ScopeTree


class Environment(NamedTuple):
    """The input of one module's evaluation."""

    tree: ScopeTree
    source: Framework
    """The framework that the module is written for."""
    roots: frozenset[str]
    """The top-level packages of both frameworks."""
    types: Types
    external: ExternalModules
    closed_world: bool
    """The calls in this module are all there are of its functions, and unclear receivers may be judged by name."""
