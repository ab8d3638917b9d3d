"""Whole classes and functions in new text, such as adapters: what they bind, and what they read from around them."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import NamedTuple

from paddletorch.gate.converted_text import parsed_text
from paddletorch.resolve import Bound, DefiniteAssignment, ScopeTree

_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Definitions(NamedTuple):
    """New text that is nothing but definitions on top of a module."""

    bound: frozenset[str]
    """The names of the definitions."""
    read: frozenset[str]
    """The names that they read and do not bind themselves, or not on every path."""


@lru_cache(maxsize=512)  # one adapter is written into many files
def definitions(text: bytes) -> Definitions | None:
    """What new text defines at the start of a line of the module; None if it is not whole definitions."""
    if not text.lstrip(b"\r\n").startswith((b"class ", b"def ", b"async def ", b"@")) or not text.endswith(b"\n"):
        return None
    module = parsed_text(text)
    if module is None or not all(isinstance(statement, _DEFINITIONS) for statement in module.body):
        return None
    tree = ScopeTree(module)
    flow = DefiniteAssignment(tree, ())
    read = frozenset(load.id for load in tree.loads if flow.of(load) is not Bound.ALWAYS)
    bound = frozenset(tree.scope.bindings)
    tree.release()
    return Definitions(bound, read)
