"""Names of which the words of the edits do not already show that they are bound in the new text.

In most files every new word is a name that an import above it binds on top of the module; then there is nothing else
to ask, and the new text's scopes are not needed.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TypeVar

from paddletorch.gate.converted_text import ConvertedText
from paddletorch.gate.definitions import Definitions, definitions
from paddletorch.model import Span
from paddletorch.resolve import Binding, Scope
from paddletorch.resolve.scopes.spans import SpanIndex
from paddletorch.text.long_literals import parse
from paddletorch.text.source import Piece, has_line_end

T = TypeVar("T")

_NO_NAMES = re.compile(rb"'[^'\n]*'|\"[^\"\n]*\"|#[^\r\n]*")
_WORD = re.compile(rb"(?<![\w.])[^\W\d]\w*(?!\w|[ ]?=(?!=))")
_EQUALS = re.compile(rb"[ ]?=(?!=)")
_BOUND_IN = re.compile(rb"\b(lambda (?=[\w, *]+[:=])|for (?=[\w, ]+ in ))([\w, *]+?)(?= in |[:=])")
_NESTED = re.compile(rb"\b(?:lambda|for)\b")
_ASSIGNED = re.compile(rb"(?m)^[ \t]*([\w., \t]+?)[ \t]*=(?!=)")
_HEAD = re.compile(rb"(?:async[ ]+)?(?:def|class)[ ]+[\w\x80-\xff]+")
_IMPORT_LINE = re.compile(
    rb"(?m)^[ \t]*(?:from [\w.]+ )?import ([\w.]+(?: as \w+)?(?:, [\w.]+(?: as \w+)?)*(?:, )?)(?:\r?\n|$)"
)
_PYTHON = frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins)))
_IMPORTS = (ast.Import, ast.ImportFrom)
_NEW_ABOVE = (*_IMPORTS, ast.Try)


def words_in(text: bytes) -> frozenset[str]:
    """The words of code that may be names: no attributes, no keywords of calls, nothing in strings."""
    return frozenset(word.decode() for word in _WORD.findall(_NO_NAMES.sub(b"", text)))


def suspects(text: ConvertedText) -> frozenset[str]:
    """The names to look up in the new text's scopes."""
    if text.source.masked is not None or text.changed_statements is None:
        new = b"\n".join(piece.text for piece in text.pieces if not piece.is_copy)
        old = b"\n".join(text.source.body[e.span.start : e.span.end] for e in text.edits)
        return words_in(new) | words_in(old)
    look = _Look(text)
    return frozenset((*look.unknown_words(), *look.lost_names(), *look.moved_names()))


class _Look:
    """One look at the words of the edits."""

    def __init__(self, text: ConvertedText) -> None:
        self._text = text
        self._tree = text.tree
        self._changed = {one.number: one for one in text.changed_statements or ()}

    @cached_property
    def _imported(self) -> dict[str, float]:
        """Names that imports on top of the new module bind, with the number of the statement at which they do."""
        found: dict[str, float] = {}
        for index, statement in enumerate(self._text.module.body):
            changed = self._changed.get(index)
            if changed is None:
                statements: list[ast.stmt] = [statement]
            elif isinstance(statement, _IMPORTS) or changed.new.count(b"import") > changed.old.count(b"import"):
                statements = parse(changed.new.decode("utf-8")).body
            else:
                continue
            new_above = True
            for one in statements:
                # before what stood there come imports, and those under "try" with something in their place
                new_above &= changed is not None and isinstance(one, _NEW_ABOVE) and not isinstance(statement, ast.Try)
                if changed is not None or isinstance(one, _IMPORTS):
                    for name in _bound_by(one):
                        found.setdefault(name, index - 0.5 if new_above else index)
        for number, defined in self._defined.items():
            piece = self._text.pieces[number]
            index = self._text.index_of(piece.origin.start)
            for name in defined.bound:
                found.setdefault(name, index - 0.5 if self._text.begins_statement(piece.origin.start) else index)
        return found

    @cached_property
    def _defined(self) -> dict[int, Definitions]:
        """The definitions that parts of the new text add on top of the module, by the part's number."""
        body, found = self._text.source.body, dict[int, Definitions]()
        for number, piece in enumerate(self._text.pieces):
            start, end = piece.origin
            if piece.is_copy or end > start or body[start - 1 : start] not in (b"", b"\n", b"\r"):
                continue
            if (defined := definitions(piece.text)) is not None:
                found[number] = defined
        return found

    @cached_property
    def _bound_otherwise(self) -> frozenset[str]:
        """Names that are bound in a function or class, or by something else than an import on top of the module."""
        tree = self._tree
        found: set[str] = set()
        for scope in tree.own.values():
            if scope is not tree.scope:
                found.update(scope.bindings)
        for name, bindings in tree.scope.bindings.items():
            if any(b.kind != "import" or not self._is_on_top(b) for b in bindings):
                found.add(name)
        return frozenset(found)

    def _is_on_top(self, binding: Binding) -> bool:
        return self._tree.parents.get(binding.node) is self._text.module

    def unknown_words(self) -> Iterator[str]:
        """Words of new text that are bound neither by Python nor by an import above, and are not at hand there."""
        for word, writing in self._new_words().items():
            above = min(self._text.index_of(piece.origin.start) for piece in writing)
            known = word in _PYTHON or self._imported.get(word, above) < above
            if (not known or word in self._bound_otherwise) and not self._is_at_hand(word, writing):
                yield word

    def _new_words(self) -> dict[str, list[Piece]]:
        """The words of new text, each with the parts of the text that have it; without those of import statements."""
        found: dict[str, list[Piece]] = {}
        words: dict[bytes, frozenset[str]] = {}
        pieces, body = self._text.pieces, self._text.module.body
        for number, piece in enumerate(pieces):
            if piece.is_copy:
                continue
            defined = self._defined.get(number)
            if defined is not None:
                for word in defined.read:
                    found.setdefault(word, []).append(piece)
            if defined is not None or isinstance(body[self._text.index_of(piece.origin.start)], _IMPORTS):
                continue
            new = _IMPORT_LINE.sub(b"", piece.text)  # an import reads no names
            if number and pieces[number - 1].text.endswith(b"."):
                new = b"." + new  # an attribute's name
            if number + 1 < len(pieces) and _EQUALS.match(pieces[number + 1].text):
                new += b"="  # a keyword's name
            if new not in words:
                words[new] = words_in(new)
            for word in words[new]:
                found.setdefault(word, []).append(piece)
        return found

    def _is_at_hand(self, word: str, writing: list[Piece]) -> bool:
        """Whether new text has the word where it is bound: it is read there, a parameter, or bound by that text."""
        reads = () if word in self._rebound else self._reading(word)
        reading = _index((self._text.source.span(statement), True) for statement in reads)
        if self._is_nested_in_class(writing):
            return False
        for origin in {piece.origin for piece in writing if next(_around(reading, piece.origin), None) is None}:
            bindings = self._function_around(origin).lookup(word)
            is_parameter = bindings and all(b.kind == "parameter" for b in bindings)
            if sum(word in _assigned(piece.text) for piece in self._written_at(origin) if not piece.is_copy) > 1:
                return False  # one of the new lines may read it above the other, which binds it
            if not is_parameter and not any(self._binds(piece, word, origin) for piece in self._written_at(origin)):
                return False
        return True

    def _is_nested_in_class(self, writing: list[Piece]) -> bool:
        """Whether new text in a class has a function or comprehension, which does not see the names of the class."""
        written = (one for p in writing for one in self._written_at(p.origin))  # an edit's text comes in parts
        nested = {one.origin for one in written if _NESTED.search(one.text)}
        return any(isinstance(next(_around(self._blocks, origin), None), ast.ClassDef) for origin in nested)

    @cached_property
    def _blocks(self) -> SpanIndex[ast.AST]:
        """The code of classes and functions, without decorators, base classes and parameters."""
        return _index(
            (Span(self._offset(node.body[0]), self._text.source.span(node).end), node)
            for node in self._tree.own
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        )

    @cached_property
    def _rebound(self) -> frozenset[str]:
        """Names of which an edit changes a binding: that a statement reads one does not show that it still is bound."""
        return frozenset(name for name, _ in self._changed_bindings())

    def _binds(self, piece: Piece, word: str, origin: Span) -> bool:
        """Whether the edit of ``origin`` binds the word itself, or new text on the line above it does."""
        if piece.is_copy:
            return False
        if piece.origin == origin:
            return word in _bound_in(piece.text)
        start, body = piece.origin.start, self._text.source.body
        above = start <= origin.start and not has_line_end(body[start : origin.start])
        return above and word in _assigned(piece.text)

    def _function_around(self, span: Span) -> Scope:
        """The innermost function whose code holds ``span``, else the module."""
        around = (node for node in _around(self._blocks, span) if not isinstance(node, ast.ClassDef))
        node = next(around, None)
        return self._tree.scope if node is None else self._tree.own[node]

    def _written_at(self, origin: Span) -> list[Piece]:
        """The new parts of the text that begin on the line on which ``origin`` does."""
        return self._written.get(bisect_right(self._text.source.line_starts, origin.start), [])

    @cached_property
    def _written(self) -> dict[int, list[Piece]]:
        """The new parts of the text, by the line on which what they replace begins."""
        found: dict[int, list[Piece]] = {}
        for piece in self._text.pieces:
            if not piece.is_copy:
                found.setdefault(bisect_right(self._text.source.line_starts, piece.origin.start), []).append(piece)
        return found

    def _reading(self, word: str) -> set[ast.stmt]:
        """The statements without a block that read the name."""
        tree, found = self._tree, set[ast.stmt]()
        for load in tree.names.get(word, ()):
            statement: ast.AST = load
            while not isinstance(statement, ast.stmt):
                statement = tree.parents[statement]
                if statement in tree.own:
                    break  # a lambda or a comprehension has names of its own
            else:
                if not hasattr(statement, "body"):
                    found.add(statement)
        return found

    def lost_names(self) -> Iterator[str]:
        """Names of which an edit changes a binding, though they are still read."""
        for name, bindings in self._changed_bindings():
            loads = self._tree.reads(bindings)
            index = None if name in self._bound_otherwise else self._imported.get(name)
            if index is not None and all(self._text.index_of(self._offset(load)) > index for load in loads):
                continue
            remaining = [load for load in loads if self._text.remains(self._text.source.span(load))]
            if not all(name not in self._bound_otherwise and self._is_below_import(load) for load in remaining):
                yield name

    def _is_below_import(self, load: ast.Name) -> bool:
        """Whether new text of the innermost function around the name imports it above, in a block that it is in."""
        parents, found = self._tree.parents, False
        node: ast.AST | None = load
        while node is not None and not isinstance(node, ast.stmt):
            node = parents.get(node)
        while node is not None and not isinstance(around := parents.get(node), ast.Module | ast.ClassDef | None):
            found = found or (isinstance(node, ast.stmt) and self._is_imported_above(load.id, node))
            if isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef):
                return found
            node = around
        return False

    def _is_imported_above(self, name: str, statement: ast.stmt) -> bool:
        """Whether new text before the statement, or before one above it in its block, imports the name."""
        place = self._tree.place(statement)
        return place is not None and self._written_imports.get((name, place[0]), place[1] + 1) <= place[1]

    @cached_property
    def _written_imports(self) -> dict[tuple[str, int], int]:
        """The first statement of a block that new text of nothing but imports stands before, by its position.

        By the name that is imported and the identity of the block.
        """
        found: dict[tuple[str, int], int] = {}
        for piece in self._text.pieces:
            if piece.is_copy or _IMPORT_LINE.sub(b"", piece.text).strip():
                continue
            start = self._text.source.place(piece.origin.start)
            following = self._tree.statement_around(start, start)
            if not isinstance(following, ast.stmt) or self._offset(following) != piece.origin.start:
                continue
            place = self._tree.place(following)
            if place is None:
                continue
            for name in _imported_by(piece.text):
                found[name, place[0]] = min(place[1], found.get((name, place[0]), place[1]))
        return found

    def _offset(self, node: ast.AST) -> int:
        return self._text.source.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def _changed_bindings(self) -> Iterator[tuple[str, list[Binding]]]:
        """Imports that edits touch, and assignments of which they replace the target; in one scope each.

        By name, with all its bindings in the scope.
        """
        assigned = {name for old in self._replaced() for name in _assigned(old)}
        changeable = self._tree.imported | assigned
        for scope in self._tree.own.values():
            for name in changeable & scope.bindings.keys():
                nodes = [b.node for b in scope.bindings[name] if isinstance(b.node, ast.stmt | ast.expr)]
                if not all(self._text.remains(self._binding_part(node)) for node in nodes):
                    yield name, scope.bindings[name]

    def _binding_part(self, node: ast.stmt | ast.expr) -> Span:
        """The text that binds the name: of a definition its head, whatever becomes of its body."""
        span = self._text.source.span(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            head = _HEAD.match(self._text.source.body, span.start, span.end)
            return Span(span.start, head.end()) if head is not None else span
        return span

    def _replaced(self) -> Iterator[bytes]:
        """The text that edits replace, where it may have an assignment."""
        body = self._text.source.body
        spans = {edit.span for edit in self._text.edits}
        return (old for span in spans if b"=" in (old := body[span.start : span.end]))

    def moved_names(self) -> Iterator[str]:
        """Names in statements that an edit puts into another order."""
        body = self._text.source.body
        for edit in self._text.edits:
            kept = [part for part in edit.parts if isinstance(part, Span)]
            old = body[edit.span.start : edit.span.end]
            if kept != sorted(kept) and not _is_one_statement(old):
                yield from words_in(old)


def _bound_by(statement: ast.stmt) -> frozenset[str]:
    """Names that are bound after an import, a definition, or an import under ``try`` with something in its place."""
    if isinstance(statement, _IMPORTS):
        return frozenset(alias.asname or alias.name.partition(".")[0] for alias in statement.names)
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return frozenset((statement.name,))
    if isinstance(statement, ast.Assign):
        return frozenset(target.id for target in statement.targets if isinstance(target, ast.Name))
    if isinstance(statement, ast.Try):
        ways = (statement.body, *(handler.body for handler in statement.handlers))
        return frozenset.intersection(*(frozenset().union(*map(_bound_by, way)) for way in ways))
    return frozenset()


def _is_one_statement(old: bytes) -> bool:
    """Whether the text is one expression or statement without a block."""
    if not has_line_end(old):
        return b";" not in old
    try:
        statements = ast.parse(old.decode("utf-8")).body
    except (SyntaxError, ValueError):
        return False
    return len(statements) == 1 and not hasattr(statements[0], "body")


def _index(spans: Iterable[tuple[Span, T]]) -> SpanIndex[T]:
    return SpanIndex(((span.start, 0), (span.end, 0), item) for span, item in spans)


def _around(index: SpanIndex[T], span: Span) -> Iterator[T]:
    """The items of which the spans hold ``span``, the innermost first."""
    return index.around((span.start, 0), (span.end, 0))


def _bound_in(new: bytes) -> frozenset[str]:
    """The parameters of lambdas and the variables of comprehensions in new text."""
    return frozenset(name.strip(b" *").decode() for found in _BOUND_IN.findall(new) for name in found[-1].split(b","))


def _imported_by(new: bytes) -> Iterator[str]:
    """The names that lines with an import bind."""
    for names in _IMPORT_LINE.findall(new):
        yield from (one.split(b" as ")[-1].partition(b".")[0].strip().decode() for one in names.split(b","))


def _assigned(old: bytes) -> Iterator[str]:
    for match in _ASSIGNED.finditer(old):
        yield from (name.strip().decode() for name in match[1].split(b",") if b"." not in name)
