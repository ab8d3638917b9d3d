"""What every conversion promises, whatever the input and the options; checked from the outside, on bytes and trees."""

from __future__ import annotations

import ast
import io
import itertools
import re
import tokenize
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from paddletorch.engine.engine import Engine
from paddletorch.model import FileResult, Options, Severity, Status
from paddletorch.text.source import Source

REFUSALS = {"SRC001", "SRC002", "SRC008"}
"""The codes of a file that cannot be converted: no Python, not decodable, too deep."""
_NOTE = re.compile(r"\s*# paddletorch: [A-Z]+\d+ ")
_IMPORT = re.compile(rb"(?:import|from)\s+(?:torch|paddle)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_ROOTS = {"torch", "torchvision", "paddle"}
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)


@cache
def engine(options: Options) -> Engine:
    """One engine for all files of these options."""
    return Engine(options)


def check(data: bytes, options: Options) -> FileResult:
    """Convert ``data`` and assert every promise about the result.

    Returns:
        The result, for whatever else a test asks of it.
    """
    result = engine(options).convert(data, "program.py")
    if result.status is Status.FAILED:
        check_refusal(result)
        return result
    assert (result.output == data) == (result.status is Status.CLEAN)
    broken = [d for d in result.diagnostics if d.code in ("SRC006", "SRC009", "SRC900")]
    assert not broken, f"planned text that does not parse: {broken}"
    check_positions(result)
    if result.status is Status.CLEAN:
        return result
    assert compiles(result.output) or not compiles(data), "the output does not compile"
    check_layout(result)
    check_bytes(result)
    check_meaning(result)
    check_second_run(result, options)
    return result


def check_refusal(result: FileResult) -> None:
    """A file that was refused is as it was, for a reason that is true."""
    assert result.output == result.source
    assert not result.conversions
    codes = [d.code for d in result.diagnostics if d.severity is Severity.ERROR]
    assert codes and set(codes) <= REFUSALS, result.diagnostics
    assert "SRC001" not in codes or not parses(result.source), f"readable, yet refused: {result.diagnostics}"


def check_positions(result: FileResult) -> None:
    """Every line and column that is reported lies in the file."""
    items = (*result.conversions, *result.diagnostics)
    lines = _LINE_END.split(_text(result.source)) if items else []
    for item in items:
        assert 1 <= item.line <= len(lines), item
        assert 1 <= item.column <= len(lines[item.line - 1]) + 1, item


def check_layout(result: FileResult) -> None:
    """Byte order mark, encoding, the last line's end stay; a file with one kind of line end keeps that one."""
    assert result.output.startswith(BOM_UTF8) == result.source.startswith(BOM_UTF8)
    assert _encoding(result.output) == _encoding(result.source)
    before, after = (set(_LINE_END.findall(_text(data))) for data in (result.source, result.output))
    assert after <= before or not before, f"line ends {after} where {before} were"


def check_bytes(result: FileResult) -> None:
    """The lines of statements that hold no use and are no import stand in the output as they were, in order.

    Not promised: the order where a scheduler, which torch makes after its optimizer, changes places with it.
    """
    lines = _LINE_END.split(_text(result.output))
    after = lines if _changes_places(result) else iter(lines)
    for number, line in enumerate(_untouched_lines(result), 1):
        assert any(line == other for other in after), f"line {number} of what is nobody's business: {line!r}"


def _changes_places(result: FileResult) -> bool:
    return any(".lr." in c.name for c in result.conversions)


def check_meaning(result: FileResult) -> None:
    """The same statements stand in the same blocks, apart from those that hold a use or import a name."""
    before, after = _module(result.source), _module(result.output)
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


def check_second_run(result: FileResult, options: Options) -> None:
    """Converting the output changes nothing; where notes are written, each stands there once.

    Not promised: what ``--unsafe`` guesses about objects of unknown type it would guess again, so the second run is
    without it; a file that imports no framework does not say which one its methods are of; a call that LibCST cannot
    read back may be readable once what is in it was converted.
    """
    if not _IMPORT.search(result.output) or any("cannot read the call" in d.message for d in result.diagnostics):
        return
    again = engine(replace(options, unsafe=False)).convert(result.output, "program.py")
    assert again.status is not Status.FAILED, again.diagnostics
    assert not again.conversions, f"converted again: {again.conversions}"
    if not options.annotate:
        assert again.output == result.output, "the second run changes the output"
        return
    lines, noted = (_LINE_END.split(_text(data)) for data in (result.output, again.output))
    without = [[line for line in found if not _NOTE.match(line)] for found in (lines, noted)]
    assert without[0] == without[1], "the second run changes the output"
    assert not any(a == b and _NOTE.match(a) for a, b in itertools.pairwise(noted)), "a note is repeated"


def parses(data: bytes) -> bool:
    """Whether this Python can parse ``data``."""
    return _module(data) is not None


def compiles(data: bytes) -> bool:
    """Whether this Python can compile ``data``: ``return`` outside of a function parses, and does not compile."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "program.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _module(data: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _encoding(data: bytes) -> str:
    return tokenize.detect_encoding(io.BytesIO(data).readline)[0]


def _text(data: bytes) -> str:
    return data.removeprefix(BOM_UTF8).decode(_encoding(data))


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


def _untouched_lines(result: FileResult) -> Iterator[str]:
    lines = _LINE_END.split(_text(result.source))
    module = _module(result.source)
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
