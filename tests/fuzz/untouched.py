"""Promises about what is not converted: its bytes, its order, its blocks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from paddletorch.model import FileResult
from paddletorch.text.source import Source

from .trees import parsed, text_of

_LINE_END = re.compile(r"\r\n|\r|\n")
_ROOTS = {"torch", "torchvision", "paddle"}
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def check_bytes(result: FileResult) -> None:
    """The lines of statements that hold no use and are no import stand in the output as they were, in order.

    Lines of the text are compared: some codecs, such as unicode_escape, write all lines of a file as one. That each
    line has its own bytes is a promise by itself.

    Not promised: the order where a scheduler, which torch makes after its optimizer, changes places with it; a line
    that is nothing but a backslash, which is a part of the statement below.
    """
    lines = _lines(result.output)
    after = lines if _changes_places(result) else iter(lines)
    for number, line in enumerate(_untouched_lines(result), 1):
        if line.strip() == "\\":
            continue
        assert any(line == other for other in after), f"line {number} of what is nobody's business: {line!r}"


def _changes_places(result: FileResult) -> bool:
    return any(".lr." in c.name for c in result.conversions)


def check_meaning(result: FileResult) -> None:
    """The same statements stand in the same blocks, apart from those that hold a use or import a name."""
    before, after = parsed(result.source), parsed(result.output)
    if before is None or after is None:  # newer than the running Python
        return
    touched = _Touched(before, result)
    statements = list(_statements(after))
    found = statements if _changes_places(result) else iter(statements)
    for statement, place in _statements(before):
        if not touched(statement):
            shape = _shape(statement)
            assert any(p == place and _shape(s) == shape for s, p in found), (
                f"line {statement.lineno}: {ast.unparse(statement)[:200]}"
            )


class _Touched:
    """Says of a statement, without those in it, whether it may change: it imports, holds a use or an edit, or names a
    framework.
    """

    def __init__(self, module: ast.Module, result: FileResult) -> None:
        self._used = {item.line for item in (*result.conversions, *result.diagnostics)} | _edited_lines(result)
        self._names = {"torch", "paddle"}
        self._loops: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(module):
            if isinstance(node, ast.keyword) and node.arg is None and isinstance(node.value, ast.Name):
                self._names.add(node.value.id)  # a dict of keywords is converted where it is made
            if isinstance(node, ast.For) and len(node.body) == 1:
                self._loops[node.body[0]] = node
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                root = getattr(node, "module", None) or ""
                for alias in node.names:
                    if (root or alias.name).partition(".")[0] in _ROOTS:
                        self._names.add(alias.asname or alias.name.partition(".")[0])

    def __call__(self, statement: ast.AST) -> bool:
        if isinstance(statement, (ast.Import, ast.ImportFrom)) or not self._used.isdisjoint(_own_lines(statement)):
            return True
        names = {node.id for node in _own_nodes(statement) if isinstance(node, ast.Name)}
        if names & self._names or "super" in names:  # what a layer gives to its base class are arguments of an API
            return True
        texts = {node.value for node in _own_nodes(statement) if isinstance(node, ast.Constant)}
        if "params" in texts:  # groups of parameters, which an optimizer is given elsewhere
            return True
        loop = self._loops.get(statement)  # a loop that does one thing may become one call
        return loop is not None and self(loop)


def _edited_lines(result: FileResult) -> set[int]:
    source = Source(result.source)
    ends = [(source.position(e.span.start)[0], source.position(e.span.end)[0]) for e in result.edits]
    return {line for first, last in ends for line in range(first, last + 1)}


def _own_lines(statement: ast.AST) -> range:
    """The lines of a statement down to its block."""
    first = _first_line(statement)
    inner = next(
        (getattr(statement, name) for name in ("body", "handlers", "cases") if getattr(statement, name, [])), None
    )
    if not isinstance(inner, list):
        return range(first, getattr(statement, "end_lineno", first) + 1)
    head = max((getattr(node, "end_lineno", 0) for node in _own_nodes(statement)), default=first)
    return range(first, max(first, head, min(_first_line(s) for s in inner) - 1) + 1)


def _own_nodes(statement: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(statement):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not (name in _BODIES and isinstance(child, _BLOCKS)):
                yield from ast.walk(child)


def _first_line(node: ast.AST) -> int:
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


def _lines(data: bytes) -> list[str]:
    return _LINE_END.split(text_of(data))


def _untouched_lines(result: FileResult) -> Iterator[str]:
    lines = _lines(result.source)
    module = parsed(result.source)
    if module is None:
        return
    may_change = _Touched(module, result)
    touched = {line for s, _ in _statements(module) if may_change(s) for line in _own_lines(s)}
    for number, line in enumerate(lines, 1):
        if number not in touched and line.strip():
            yield line


def _statements(module: ast.Module) -> Iterable[tuple[ast.AST, tuple[str, ...]]]:
    """Every statement in order, with the blocks that it stands in."""
    pending: list[tuple[ast.AST, tuple[str, ...]]] = [(module, ())]
    while pending:
        node, place = pending.pop()
        if not isinstance(node, ast.Module):
            yield node, place
        inner: list[tuple[ast.AST, tuple[str, ...]]] = []
        for name in _BODIES:
            block = getattr(node, name, None)
            if isinstance(block, list):
                step = f"{type(node).__name__} {getattr(node, 'name', '')}.{name}"
                inner += [(child, (*place, step)) for child in block if isinstance(child, ast.AST)]
        pending += reversed(inner)


def _shape(statement: ast.AST) -> str:
    """The statement without the statements in it."""
    parts = {name: value for name, value in ast.iter_fields(statement) if name not in _BODIES}
    if not any(isinstance(getattr(statement, name, None), list) for name in _BODIES):
        return ast.dump(statement)
    return type(statement).__name__ + repr({name: _dumped(value) for name, value in parts.items()})


def _dumped(value: object) -> object:
    if isinstance(value, ast.AST):
        return ast.dump(value)
    return [_dumped(v) for v in value] if isinstance(value, list) else value
