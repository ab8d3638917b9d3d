"""Promise: the new text compiles where the old one did, and no block of it is empty."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from paddletorch.gate.converted_text import ConvertedText
from paddletorch.gate.violation import Violation
from paddletorch.model import Edit, Span
from paddletorch.text.long_literals import without_long_literals
from paddletorch.text.masking import parses
from paddletorch.text.source import splice

CODE = "SRC009"


def uncompilable(text: ConvertedText) -> list[Violation]:
    """What does not compile; edits that overlap make no text at all.

    A file is the sequence of its top-level statements, so only those that contain an edit are compiled; the whole
    file is where that cannot be told.
    """
    try:
        problem = find_problem(text)
    except ValueError as error:
        problem = str(error)
    if problem is None:
        return []
    return _faulty_statements(text) or [Violation(CODE, problem, _empty_blocks(text))]


def find_problem(text: ConvertedText) -> str | None:
    """Why the new text does not compile where the old one did, or does not parse; None if it does.

    Raises:
        ValueError: edits overlap, or one has deferred text.
    """
    body = text.body
    if text.source.masked is not None:
        return _unparsable(body)
    changed = text.changed_statements
    pairs = [(text.source.body, body)] if changed is None else [(one.old, one.new) for one in changed]
    return next((problem for old, new in pairs if (problem := _problem(new, old)) is not None), None)


def _faulty_statements(text: ConvertedText) -> list[Violation]:
    """One for each statement whose edits by themselves cannot be applied, or result in text with a problem."""
    source = text.source
    groups: dict[frozenset[int], list[Edit]] = {}
    for edit in text.edits:
        if lines := text.lines_of(edit.span):
            groups.setdefault(lines, []).append(edit)
    found: list[Violation] = []
    for lines, inside in groups.items():
        try:
            new = splice(source.body, inside)
            problem = _unparsable(new) if source.masked is not None else _problem(new, source.body)
        except ValueError as error:  # the edits overlap
            problem = str(error)
        if problem is not None:
            found.append(Violation(CODE, problem, lines))
    return found


def _unparsable(body: bytes) -> str | None:
    """What is wrong with text in newer syntax than Python's own here; None if it parses."""
    return None if parses(body) else "LibCST cannot parse it"


def _empty_blocks(text: ConvertedText) -> frozenset[int]:
    """The last statement's lines of each block of which the edits leave nothing."""
    found: set[int] = set()
    for node in ast.walk(text.module):
        for block in _blocks(node):
            whole = Span(text.source.line_span(block[0].lineno).start, text.source.line_span(_last_line(block)).end)
            edits = text.edits_in(whole)
            if edits and not any(text.remains(text.source.span(s)) for s in block) and _is_blank(text, whole, edits):
                found.update(range(block[-1].lineno, _last_line(block) + 1))
    return frozenset(found)


def _last_line(block: list[ast.stmt]) -> int:
    return block[-1].end_lineno or block[-1].lineno


def _is_blank(text: ConvertedText, whole: Span, edits: list[Edit]) -> bool:
    """Whether only comments and white space are left of a block."""
    try:
        left = splice(text.source.body[whole.start : whole.end], [e.moved(-whole.start) for e in edits])
    except ValueError:
        return False
    return all(not line.strip() or line.strip().startswith(b"#") for line in left.splitlines())


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and not isinstance(node, ast.Module):
            yield block


def _problem(new: bytes, old: bytes) -> str | None:
    """Why ``new`` does not compile. If ``old`` does not either (``await`` at the top), ``new`` must only parse."""
    problem = _compile_error(new, 0)
    if problem is None or _compile_error(old, 0) is None:
        return problem
    return _compile_error(new, ast.PyCF_ONLY_AST)


def _compile_error(text: bytes, flags: int) -> str | None:
    masked = without_long_literals(text)
    if masked is not text and _compile_error(masked, flags) is None:
        return None
    try:  # compile costs no more than ast.parse and finds more, such as a repeated keyword
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user's own code may cause some
            compile(text.decode("utf-8"), "<converted>", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return None
