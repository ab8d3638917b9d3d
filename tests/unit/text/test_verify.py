"""What counts as valid text after an edit: what Python compiles, unless the file was no better before."""

from __future__ import annotations

import ast

import pytest
from paddletorch.model import Edit, Span
from paddletorch.text.source import Source, splice
from paddletorch.text.verify import faulty_lines, find_problem


def problem(code: str, old: str, new: str) -> tuple[str | None, frozenset[int]]:
    """What is said about replacing ``old`` by ``new`` in ``code``, and the lines that are at fault."""
    source = Source(code.encode())
    start = source.body.index(old.encode())
    edits = [Edit(Span(start, start + len(old)), new)]
    module = ast.parse(source.text)
    found = find_problem(source, module, edits, splice(source.body, edits))
    return found, faulty_lines(source, module, edits)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("x=1", "y=2", None),
        ("x=1", "x=1, x=2", "keyword argument repeated: x"),
        ("x=1", "x=", "invalid syntax"),
        ("x=1", "**a, *b", "iterable argument unpacking follows keyword argument unpacking"),
    ],
)
def test_a_changed_statement_must_compile(old: str, new: str, said: str | None) -> None:
    found, lines = problem("a = {}\n\n\ndef g():\n    return f(x=1)\n", old, new)
    assert (found or "").startswith(said or "")
    assert (found is None) == (said is None)
    assert lines == (frozenset({5}) if said else frozenset())


@pytest.mark.parametrize("line", ["return 1", "f(y=1, y=2)", "break", "nonlocal z"])
def test_a_statement_that_never_compiled_need_only_parse(line: str) -> None:
    code = f"if x:\n    {line}\n    f(a)\n"
    assert problem(code, "f(a)", "f(b)") == (None, frozenset())
    assert problem(code, "f(a)", "f(b")[1] == {3}


def test_await_at_the_top_stays(recwarn: pytest.WarningsRecorder) -> None:
    assert problem("await f(x=1)\nassert (1, 'always true')\n", "x=1", "x=2")[0] is None
    assert problem("assert (f(x=1), 'always true')\n", "x=1", "x=2")[0] is None
    assert not recwarn.list
