"""Each form of a small program: what it becomes, which lines it has from the plain one, and that it does the same."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import types
from collections.abc import Callable

import pytest
from paddletorch.model import Options

from . import blocks, names, places
from .forms import FORMS, difference
from .source import Rewritten, plain
from .taken_back import first_difference, names_of, statements_of

PROGRAM = '''
"""A program."""
import math

START = [4, 9]

def root(x, digits=2):
    """A rounded root."""
    global calls
    calls = 1
    found = math.sqrt(abs(x)) + len(str(x).strip().upper())
    return round(found, digits)

def total(values):
    parts = [root(value) for value in values]
    word = str(parts).strip().upper()
    assert word.lower().startswith("[")
    both = sum(parts)
    return max(both, 0)

def later(values):
    for value in values:
        seen = value + 1
        yield seen

class Box:
    def __init__(self, size):
        super().__init__()
        start = size * 2
        self.size = start

result = total(START) + sum(later(START)) + Box(3).size
print(result, str(result).upper().lower(), max(abs(-result), min(1, 2)))
'''


def run(text: str) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(text, "<program>", "exec"), {"__name__": "program"})
    return said.getvalue()


@pytest.mark.parametrize("form", FORMS)
def test_a_form_does_the_same(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = plain(PROGRAM)
    found = FORMS[form].rewrite(text, "paddle")
    assert found is not None and found.text != text
    if found.part is not None:
        module = types.ModuleType("form_part")
        exec(compile(found.part.text, "form_part", "exec"), module.__dict__)
        monkeypatch.setitem(sys.modules, "form_part", module)
    assert run(found.text) == run(text) != ""


@pytest.mark.parametrize("form", FORMS)
def test_lines_lead_back(form: str) -> None:
    text = plain(PROGRAM)
    found = FORMS[form].rewrite(text, "paddle")
    assert found is not None
    before = text.splitlines()
    for one in (found, *([found.part] if found.part else [])):
        after = one.text.splitlines()
        assert set(one.lines.values()) <= set(range(1, len(before) + 1))
        same = [line for line, origin in one.lines.items() if after[line - 1].strip() == before[origin - 1].strip()]
        assert len(same) >= len(one.lines) / 2


@pytest.mark.parametrize("form", [name for name in FORMS if name not in ("imported", "name-put-back")])
def test_what_is_taken_back_is_the_plain_program(form: str) -> None:
    text = plain(PROGRAM)
    found = FORMS[form].rewrite(text, "paddle")
    assert found is not None
    known = names_of(text)
    taken = FORMS[form].back(ast.parse(found.text))
    assert first_difference(statements_of([ast.parse(text)], known), statements_of([taken], known)) is None


SMALL = """
def f(x):
    a = g(x)
    return a.h(k(x), 1)
"""


@pytest.mark.parametrize(
    ("rewrite", "expected"),
    [
        (blocks.loop, "for form_loop in range(1):\n        a = g(x)\n        return a.h(k(x), 1)"),
        (blocks.with_context, "with form_contextlib.nullcontext():\n        a = g(x)"),
        (blocks.tried, "try:\n        a = g(x)\n        return a.h(k(x), 1)\n    except BufferError:\n        raise"),
        (
            blocks.both_branches,
            "if form_flag:\n        a = g(x)\n        return a.h(k(x), 1)\n    else:\n        a = g(x)",
        ),
        (names.renamed_locals, "local_1_61x = g(x)\n    return local_1_61x.h(k(x), 1)"),
        (names.argument_through_a_name, "form_1 = k(x)\n    return a.h(form_1, 1)"),
        (names.names_put_back, "def f(x):\n    return g(x).h(k(x), 1)"),
        (places.beside, "def form_beside():\n    a = FormThing()\n    a.h()"),
        (places.as_method, "class FormHolder1:\n\n    def f(self, x):\n        a = g(x)"),
        (places.as_method_with_attributes, "def f(self, x):\n        self.a = g(x)\n        return self.a.h(k(x), 1)"),
    ],
)
def test_what_is_written(rewrite: Callable[[str], Rewritten | None], expected: str) -> None:
    found = rewrite(plain(SMALL))
    assert found is not None and expected in found.text


@pytest.mark.parametrize(
    ("rewrite", "text"),
    [
        (names.names_put_back, "def f(x):\n    a = g(x)\n    return h(k(x), a)\n"),  # k would come first
        (names.names_put_back, "def f(x):\n    a = g(x)\n    return a + a\n"),
        (names.names_put_back, "def f(x):\n    a = g(x)\n    return x and a\n"),
        (names.names_put_back, "def f(x):\n    a = g(x)\n    return lambda: a\n"),
        (names.argument_through_a_name, "def f(x):\n    return g(x).h(k(x))\n"),  # g(x) would come later
        (names.argument_through_a_name, "def f(x):\n    return g(*x, k(x))\n"),
        (names.renamed_locals, "def f(x):\n    a = 1\n    return locals()\n"),
        (names.renamed_locals, "def f(x):\n    a = 1\n    class A:\n        a = a\n    return A\n"),
        (places.as_method, "def f(self):\n    return self\n"),
        (places.as_method_with_attributes, "def f(x):\n    a = x\n    return f(a - 1)\n"),
        (places.imported, "x = 1\ndef f():\n    return x\n"),
    ],
)
def test_what_means_something_else_is_not_written(rewrite: Callable[[str], Rewritten | None], text: str) -> None:
    assert rewrite(plain(text)) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("import a.b as c\nx = c.f()", "from a import b\nx = b.f()", True),
        ("import a\nx = a.f()", "import b\nx = b.f()", False),
        ("x = 1\nname = 2\ny = name", "x = 1\nname_2 = 2\ny = name_2", True),
        ("x = 1\ny = helper(x)", "x = 1\ny = helper_2(x)", False),
        ("x = 1", "x = 1\nx = 1", False),
    ],
)
def test_programs_are_compared(one: str, other: str, same: bool) -> None:
    known = {"x", "y"}
    texts = [statements_of([ast.parse(text)], known) for text in (one, other)]
    assert (first_difference(*texts) is None) is same


def test_a_conversion_that_looks_at_spelling_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A context that is not converted in a loop is a difference of text; a lost finding is one of findings."""
    source = b"import torch\n\ndef f(x):\n    return torch.relu(x)\n"
    form = FORMS["loop"]
    assert difference(source, Options("paddle"), form) is None

    def other(text: str, target: object) -> Rewritten | None:
        found = form.rewrite(text, "paddle")
        assert found is not None
        found.text = found.text.replace("torch.relu(x)", "torch.no_such_function(x)")
        return found

    found = difference(source, Options("paddle"), type(form)("other", other, form.back))
    assert found is not None
    assert (found.plain, found.more) == ("return paddle.nn.functional.relu(x)", (("API225", 4),))
