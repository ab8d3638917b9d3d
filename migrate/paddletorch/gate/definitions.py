"""Whole classes and functions in new text, such as adapters: what they bind, and what they read from around them."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import NamedTuple

from paddletorch.gate.converted_text import ConvertedText, parsed_text
from paddletorch.model import Span
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
    if not text.lstrip(b"\r\n").startswith((b"class ", b"def ", b"async def ", b"@")) or not text.endswith(
        (b"\n", b"\r")
    ):
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


def lines_behind(text: ConvertedText, new: ScopeTree | None, offset: int) -> frozenset[int]:
    """The source lines from which the byte at ``offset`` of the new text comes.

    What a written definition or import says comes from the edits that use it. ``new``: the scopes of the new text.
    """
    piece, within = text.piece_at(offset)
    if piece.is_copy:
        place = piece.origin.start + within
        return text.lines_of(Span(place, place))
    written = definitions(piece.text)
    bound = _imported(piece.text) if written is None else written.bound
    loads = (load for name in bound for load in new.names.get(name, ())) if new is not None else ()
    places = (text.new_source.offset(n.lineno, n.col_offset) for n in loads)
    found = [text.piece_at(place)[0] for place in places]
    users = [user for user in found if not user.is_copy and definitions(user.text) is None]
    return frozenset().union(*(text.lines_of(user.origin) for user in users or [piece]))


def _imported(text: bytes) -> frozenset[str]:
    """The names that new text binds if it is nothing but imports."""
    module = parsed_text(text.strip()) if b"import " in text else None
    if module is None or not all(isinstance(statement, ast.Import | ast.ImportFrom) for statement in module.body):
        return frozenset()
    aliases = (alias for statement in module.body for alias in statement.names)  # type: ignore[attr-defined]
    return frozenset(alias.asname or alias.name.partition(".")[0] for alias in aliases)
