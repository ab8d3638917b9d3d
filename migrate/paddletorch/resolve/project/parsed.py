"""A file that was read and parsed, with its scopes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from paddletorch.model import Evidence
from paddletorch.model.time_limit import TimeLimit
from paddletorch.resolve.scopes.scopes import ScopeTree
from paddletorch.resolve.scopes.string_annotations import expand_string_annotations
from paddletorch.text.source import Source


@dataclass(eq=False, slots=True)
class Parsed:
    """One file."""

    source: Source
    module: ast.Module
    tree: ScopeTree
    limit: TimeLimit = field(default_factory=TimeLimit)
    """The time for its conversion."""
    evidence: Evidence | None = None
    """What was seen of the file as it ran; None for what cannot be recorded, such as a notebook."""
    left: frozenset[int] = frozenset()
    """Lines whose statements are to stay as they are."""
    _users: int = 0

    @classmethod
    def of(cls, source: Source, module: ast.Module) -> Parsed:
        """Find the scopes of a module, also of names in string annotations."""
        tree = ScopeTree(module)
        expand_string_annotations(tree, lambda node: source.slice(source.span(node)))
        return cls(source, module, tree)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the file from being released."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1

    @property
    def is_in_use(self) -> bool:
        """Whether the file must not be released."""
        return self._users > 0
