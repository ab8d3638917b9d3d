"""Programs rich in uses of both frameworks, in every shape that Python's grammar has room for.

The uses are the examples of the tables' own rows; shapes nest them in each other and in every kind of expression
and statement. What comes out need not run or make sense: it must be Python.
"""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Sequence
from functools import cache

from hypothesis import strategies as st
from paddletorch.model import Framework
from paddletorch.proof.environment import INPUTS
from paddletorch_rules import load

from .hazards import FORMS, HEADLESS, PLAIN, commented, loosened, other_import, spelled
from .shapes import NEWER, SHAPES, STATEMENTS
from .stored import stored

ALIASES: dict[Framework, tuple[tuple[str, str], ...]] = {
    "torch": (("nn", "torch.nn"), ("F", "torch.nn.functional"), ("optim", "torch.optim")),
    "paddle": (("nn", "paddle.nn"), ("F", "paddle.nn.functional"), ("optimizer", "paddle.optimizer")),
}
"""The short names that the rows' examples use."""

IMPORTS = (
    "import {root}",
    "import {root}  # the framework",
    "import os, {root}, sys",
    "import os; import {root}; import sys",
    "import {root}.nn as nn, {root}.nn.functional as F, {root}",
    "from {root} import nn\nimport {root}",
    "from {root} import (  # all of it\n    nn,\n\n    amp,  # mixed precision\n)\nimport {root}.nn.functional as F",
    "from {root}.nn import *\nimport {root}",
    "from {root} import *",
    "try:\n    import {root}\nexcept ImportError:\n    {root} = None",
    "try:\n    import {root}, {root}.nn as nn\nexcept ImportError as error: raise SystemExit from error",
    "if True:\n    import {root}\nelse:\n    {root} = object()",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import {root}\nelse: import {root}",
    "import {root}; {root} = {root}",
    "import {root}\ndel {root}\nimport {root}",
    "import {root} as T\n{root} = T\nnn = T.nn",
    "from {root} import nn as {root}_nn, optim as _, Tensor as Array\nimport {root}",
    "import \\\n  {root}",
    "import {root}, {other}",
    "from __future__ import annotations\nimport {root}",
    '"""A docstring."""\nfrom __future__ import annotations\nimport {root}',
    "__all__ = ['{root}', 'nn']\nimport {root}\nfrom {root} import nn",
)

_LEAVES = (
    "x",
    "y",
    "self.x",
    "None",
    "1",
    "-2.5",
    "'cuda'",
    "'é\\n'",
    "b''",
    "...",
    "()",
    "[]",
    "len(x)",
    "os.environ['A']",
)

INDENTS = ("    ", "    ", "  ", "\t", " \t", "        ", "\f    ")


@cache
def examples(source: Framework) -> tuple[str, ...]:
    """The examples of all rows for one side."""
    found = (e for row in load().rows for e in (row.examples if source == "torch" else row.paddle_examples))
    return tuple(sorted({textwrap.dedent(e).strip() for e in found if parsed(e) is not None}))


@cache
def uses(source: Framework) -> tuple[str, ...]:
    """The expressions that end the examples, those on one line without comments."""
    found = set()
    for example in examples(source):
        last = ast.parse(example).body[-1]
        if isinstance(last, ast.Expr) and last.lineno == last.end_lineno:
            found.add(ast.get_source_segment(example, last) or "")
    return tuple(sorted(found - {""}))


def parsed(text: str) -> ast.Module | None:
    """The tree of ``text``, or None."""
    try:
        return ast.parse(textwrap.dedent(text).strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def filled(shape: str, parts: Sequence[str]) -> str:
    """``shape`` with its holes filled."""
    return shape.format(*parts)


@st.composite
def expressions(draw: st.DrawFn, source: Framework, depth: int) -> str:
    """A use, or uses in a shape, or a use with another one for an argument."""
    kind = draw(st.integers(0, 9))
    if depth == 0 or kind < 3:
        return draw(st.sampled_from(uses(source)))
    if kind == 3:
        return draw(st.sampled_from(_LEAVES))
    if kind < 7:
        return draw(_nested(source, depth))
    return draw(_shaped(st.sampled_from(SHAPES), source, depth))


@st.composite
def _shaped(draw: st.DrawFn, shapes: st.SearchStrategy[str], source: Framework, depth: int) -> str:
    shape = draw(shapes)
    parts = [draw(expressions(source, depth - 1)) for _ in range(_holes(shape))]
    return _readable(shape, parts)


def _holes(shape: str) -> int:
    return len(re.findall(r"(?<!\{)\{\}(?!\})|\{\{\{\}\}\}|\{\{\{\}", shape))


def _readable(shape: str, parts: Sequence[str]) -> str:
    """The parts in their shape, with brackets or in plainer words where that is needed to be Python."""
    holes = shape.count("{}")
    tries = (parts, [f"({p})" for p in parts], ["x"] * holes)
    for attempt in tries:
        text = shape.format(*(list(attempt) + ["x"] * holes)[:holes])
        if _stands(text):
            return text
    return "x"


def _stands(text: str) -> bool:
    """Whether ``text`` is Python somewhere: in a function, a coroutine, a loop."""
    inner = textwrap.indent(text, " ")
    return any(parsed(f"{head}\n{inner}\n") is not None for head in ("async def f():\n while x:\n  pass", "if x:"))


@st.composite
def _nested(draw: st.DrawFn, source: Framework, depth: int) -> str:
    """A use in which names of inputs stand for further uses."""
    text = draw(st.sampled_from(uses(source)))
    names = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name) and n.id in INPUTS]
    if not names or not text.isascii():
        return text
    name = draw(st.sampled_from(names))
    inner = draw(expressions(source, depth - 1))
    for written in (inner, f"({inner})"):
        whole = text[: name.col_offset] + written + text[name.end_col_offset :]
        if _stands(whole):
            return whole
    return text


@st.composite
def statements(draw: st.DrawFn, source: Framework) -> str:
    """A statement with uses in it, or a whole example."""
    kind = draw(st.integers(0, 27))
    if kind < 6:
        return draw(st.sampled_from(examples(source)))
    if kind >= 20:
        return draw(_form(source, kind))
    shapes = NEWER if kind == 19 else STATEMENTS
    shape = draw(st.sampled_from(shapes))
    parts = [draw(expressions(source, draw(st.integers(0, 2)))) for _ in range(shape.count("{}"))]
    if kind == 19:
        return shape.format(*parts)
    return _readable(shape, parts)


@st.composite
def _form(draw: st.DrawFn, source: Framework, kind: int) -> str:
    """A form that is known to be hard, with a use in each ``{}``."""
    if kind < 22:
        return draw(other_import(source))
    if kind < 24:
        return draw(loosened(draw(st.sampled_from(examples(source)))))
    shape = draw(st.sampled_from(FORMS[source] if kind < 26 else PLAIN))
    return draw(_put(shape, source))


@st.composite
def _put(draw: st.DrawFn, shape: str, source: Framework) -> str:
    parts = [draw(expressions(source, draw(st.integers(0, 1)))) for _ in range(shape.count("{}"))]
    for part in parts:
        shape = shape.replace("{}", f"({part})" if "\n" in part else part, 1)
    return shape


@st.composite
def headless(draw: st.DrawFn, source: Framework) -> str:
    """A file that imports no framework."""
    shapes = draw(st.lists(st.sampled_from(HEADLESS[source]) | st.sampled_from(PLAIN), min_size=1, max_size=3))
    root = re.compile(rf"\b(?:{source}|nn|F|optim|optimizer|paddle|torchvision)\.")
    own = [text for text in uses(source) if not root.search(text)]
    bodies = []
    for shape in shapes:
        while "{}" in shape:
            shape = shape.replace("{}", draw(st.sampled_from(own)), 1)
        bodies.append(shape)
    imports = draw(
        st.sampled_from(("", "import os\n", '"""Doc."""\n', "from .own import x\n", "from typing import Optional\n"))
    )
    return imports + "\n".join(bodies) + "\n"


@st.composite
def blocks(draw: st.DrawFn, source: Framework, depth: int = 2) -> str:
    """Statements, some of them below a function, class, loop or condition."""
    text = "\n".join(draw(st.lists(statements(source), min_size=1, max_size=4)))
    heads = (
        "",
        "def f(x: {root}.Tensor, y, *args):",
        "def f(self, x, y):",
        "async def f(x):",
        "class C(nn.Module):",
        "if x:",
        "for x in y:",
        "async def f():",
        "with x as y, z:",
        "while True:",
        "try:",
    )
    head = draw(st.sampled_from(heads)).format(root=source)
    if not head or depth == 0:
        return text
    inner = text + "\n" + draw(blocks(source, depth - 1)) if draw(st.booleans()) else text
    indent = draw(st.sampled_from(INDENTS))
    ending = "\nfinally: pass" if head == "try:" else ""
    return f"{head}\n{textwrap.indent(inner, indent)}{ending}"


@st.composite
def programs(draw: st.DrawFn) -> tuple[Framework, bytes]:
    """The framework that a program is written for, and its bytes."""
    source: Framework = draw(st.sampled_from(("torch", "paddle")))
    if draw(st.integers(0, 9)) == 0:
        return source, draw(stored(draw(headless(source))))
    other = "paddle" if source == "torch" else "torch"
    head = draw(st.sampled_from(IMPORTS)).format(root=source, other=other)
    aliases = [f"import {module} as {name}" for name, module in ALIASES[source]]
    lines = [head, *draw(st.permutations(aliases)), "import math, numpy as np"]
    bodies = draw(st.lists(blocks(source), min_size=1, max_size=5))
    late = draw(st.integers(0, 9))
    if late < 3:
        bodies.insert(draw(st.integers(0, len(bodies))), draw(other_import(source)))
    if draw(st.integers(0, 2)) == 0:
        alias = draw(st.sampled_from(("t", "th", "_", "pt", "nn_", "ф")))
        bodies = [re.sub(rf"\b{source}\b(?=\.)", alias, body) for body in bodies]
        (bodies if late == 9 else lines).append(f"import {source} as {alias}")
    text = "\n".join([*lines, *bodies]) + draw(st.sampled_from(("\n", "", "\n\n", "  \n", "\n# end", "\f")))
    kind = draw(st.integers(0, 9))
    if kind < 4:
        text = draw(spread(text))
    elif kind == 4:
        text = draw(commented(text))
    elif kind == 5:
        text = draw(spelled(text))
    return source, draw(stored(text))


@st.composite
def spread(draw: st.DrawFn, text: str) -> str:
    """The same program with line breaks, comments and white space between the tokens in brackets."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text
    lines = text.splitlines(keepends=True)
    places: list[tuple[int, int]] = []
    depth = 0
    for token in tokens:
        depth += (
            {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0) if token.type == tokenize.OP else 0
        )
        if depth and token.type == tokenize.OP:
            places.append(token.end)
    if not places:
        return text
    breaks = st.sampled_from(("\n", "  ", "\t", "\n\n    ", "  # é why\n", "\f", " \\\n ", "\n# alone\n\n"))
    chosen = draw(st.lists(st.tuples(st.sampled_from(places), breaks), max_size=6, unique_by=lambda pair: pair[0]))
    for (line, column), written in sorted(chosen, reverse=True):
        lines[line - 1] = lines[line - 1][:column] + written + lines[line - 1][column:]
    return "".join(lines)
