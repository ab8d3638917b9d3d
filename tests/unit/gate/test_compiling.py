"""What counts as valid text after an edit: what Python compiles, unless the file was no better before."""

from __future__ import annotations

import ast

import pytest
from paddletorch.gate.compiling import uncompilable
from paddletorch.gate.converted_text import ConvertedText
from paddletorch.model import Edit, Span
from paddletorch.resolve import ScopeTree
from paddletorch.text.source import Source

from .broken_edits import converted


def problem(code: str, old: str, new: str) -> tuple[str | None, frozenset[int]]:
    """What is said about replacing ``old`` by ``new`` in ``code``, and the lines that are at fault."""
    source = Source(code.encode())
    start = source.body.index(old.encode())
    module = ast.parse(source.text)
    text = ConvertedText(source, module, ScopeTree(module), (Edit(Span(start, start + len(old)), new),))
    found = uncompilable(text)
    return (found[0].problem, found[0].lines) if found else (None, frozenset())


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


def test_a_block_keeps_a_statement() -> None:
    code = b"if a:\n    f(1)\n    f(2)\nelse:\n    f(3)\n"
    module = ast.parse(code)
    lines = [Edit(Span(code.index(line), code.index(line) + len(line)), "") for line in (b"    f(1)\n", b"    f(2)\n")]
    found = uncompilable(ConvertedText(Source(code), module, ScopeTree(module), tuple(lines)))
    assert [one.lines for one in found] == [{3}]


def test_edits_that_overlap_are_left() -> None:
    code = b"f(a)\ng(abc)\n"
    module = ast.parse(code)
    edits = (Edit(Span(7, 9), "x"), Edit(Span(8, 10), "y"))
    found = uncompilable(ConvertedText(Source(code), module, ScopeTree(module), edits))
    assert [one.lines for one in found] == [{2}]


METHODS = """class A:
    x = 1

    def f(self):
        pass

    def g(self):
        pass

    def h(self):
        f(a=1)
"""


def test_methods_that_no_edit_touches_are_not_compiled() -> None:
    [changed] = converted(METHODS, ("a=1", "b=2")).changed_statements or ()
    assert [name in changed.new for name in (b"def f", b"def g", b"def h")] == [True, False, True]
    assert [name in changed.old for name in (b"def f", b"def g", b"def h")] == [True, False, True]
    assert changed.new.splitlines()[10:] == [b"        f(b=2)"]
    found, lines = problem(METHODS, "a=1", "b=2, b=3")
    assert "line 11" in (found or "")
    assert lines == {11}


@pytest.mark.parametrize(("old", "new"), [("    x = 1\n", ""), ("    def g", "    @b\n    def g"), ("A:", "A(B):")])
def test_a_class_without_its_untouched_methods_compiles(old: str, new: str) -> None:
    assert problem(METHODS, old, new)[0] is None
