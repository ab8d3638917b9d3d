"""Real files, changed at random: statements and tokens lost, doubled, swapped, renamed, wrapped or laid out anew."""

from __future__ import annotations

import ast
import itertools
import os
import re
import textwrap
from functools import cache
from pathlib import Path

from hypothesis import strategies as st
from paddletorch.model import Framework

from .hazards import commented, loosened, other_import, spelled
from .stored import with_cookie

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOLDER = "PADDLETORCH_FUZZ_FOLDER"
"""Environment variable: a folder of further files to mutate, such as the checkout of a real project."""
_LARGEST = 60_000  # bytes: a larger file costs more time than it shows
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]+")
_WORD = re.compile(r"[^\W\d]\w*")
_WRAPPERS = (
    "def wrapped(self, x, *args, **kwargs):",
    "async def wrapped():",
    "class Wrapped(nn.Module, metaclass=M):",
    "if __name__ == '__main__':",
    "for x in y:",
    "with a as b, c:",
    "while True:",
)
_SPACES = (
    "",
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\f",
    "\\\n",
    " # new\n",
    "\0",
    "\ufeff",
    "\u2028",
    "é",
    ";",
    "'",
    '"""',
    "(",
    ")",
    ",",
)


@cache
def seeds() -> tuple[Path, ...]:
    """The files to mutate: the project's own fixtures, and those of the folder that the environment names."""
    folders = [FIXTURES, *([Path(os.environ[FOLDER])] if FOLDER in os.environ else [])]
    found = sorted(p for folder in folders for p in folder.rglob("*.py") if p.is_file())
    return tuple(p for p in found if p.stat().st_size <= _LARGEST and re.search(rb"torch|paddle", p.read_bytes()))


@st.composite
def mutated(draw: st.DrawFn) -> tuple[Framework, bytes]:
    """A framework to convert from, and the bytes of a file after a few mutations."""
    path = draw(st.sampled_from(seeds()))
    data = path.read_bytes()
    text = data.decode("utf-8", "replace")
    for _ in range(draw(st.integers(1, 5))):
        text = draw(draw(st.sampled_from(MUTATIONS))(text))
    paddle = text.count("paddle") > text.count("torch")
    source: Framework = "paddle" if paddle != (draw(st.integers(0, 9)) == 0) else "torch"
    if draw(st.integers(0, 19)) == 0:
        return source, draw(with_cookie(text))
    return source, text.encode("utf-8", "surrogatepass")


@st.composite
def statements(draw: st.DrawFn, text: str) -> str:
    """A statement lost, doubled, moved, or put in the place of another."""
    tree = parsed_whole(text)
    places = [n for n in ast.walk(tree) if isinstance(n, ast.stmt)] if tree is not None else []
    if not places:
        return text
    lines = text.splitlines(keepends=True)
    first, second = draw(st.sampled_from(places)), draw(st.sampled_from(places))
    kind = draw(st.sampled_from(("lose", "double", "move", "replace", "pass")))
    taken = _cut(lines, first)
    indent = " " * second.col_offset
    moved = textwrap.indent(textwrap.dedent("".join(taken)), indent).rstrip("\n") + "\n"
    start, end = second.lineno - 1, second.end_lineno or second.lineno
    if kind == "lose":
        del lines[first.lineno - 1 : first.end_lineno]
    elif kind == "pass":
        lines[first.lineno - 1 : first.end_lineno] = [" " * first.col_offset + "pass\n"]
    elif kind == "replace":
        lines[start:end] = [moved]
    else:
        lines[end:end] = [moved]
        if kind == "move" and first.lineno > end:
            del lines[first.lineno : (first.end_lineno or first.lineno) + 1]
    return "".join(lines)


@st.composite
def tokens(draw: st.DrawFn, text: str) -> str:
    """A token lost, doubled, swapped with another, or put in another's place."""
    found = _TOKEN.findall(text)
    if not found:
        return text
    first, second = draw(st.integers(0, len(found) - 1)), draw(st.integers(0, len(found) - 1))
    kind = draw(st.sampled_from(("lose", "double", "swap", "replace")))
    if kind == "lose":
        del found[first]
    elif kind == "double":
        found.insert(first, found[first])
    elif kind == "swap":
        found[first], found[second] = found[second], found[first]
    else:
        found[first] = found[second]
    return "".join(found)


@st.composite
def names(draw: st.DrawFn, text: str) -> str:
    """One name becomes another, everywhere or once."""
    found = sorted(set(_WORD.findall(text)))
    if not found:
        return text
    old = draw(st.sampled_from(found))
    new = draw(
        st.sampled_from(found) | st.sampled_from(("torch", "paddle", "x", "self", "nn", "_", "print", "int", "é"))
    )
    return re.sub(rf"\b{re.escape(old)}\b", new, text, count=draw(st.sampled_from((0, 1))))


@st.composite
def wrapped(draw: st.DrawFn, text: str) -> str:
    """The whole file in a block."""
    head, indent = draw(st.sampled_from(_WRAPPERS)), draw(st.sampled_from(("    ", "\t", " ")))
    return f"{head}\n{textwrap.indent(text, indent)}"


@st.composite
def white(draw: st.DrawFn, text: str) -> str:
    """White space, or a character with a meaning of its own, somewhere."""
    place = draw(st.integers(0, len(text)))
    return text[:place] + draw(st.sampled_from(_SPACES)) + text[place:]


@st.composite
def cut(draw: st.DrawFn, text: str) -> str:
    """The file up to some place, or from there on."""
    place = draw(st.integers(0, len(text)))
    return text[:place] if draw(st.booleans()) else text[place:]


@st.composite
def line_ends(draw: st.DrawFn, text: str) -> str:
    """Other line ends, the same everywhere or mixed; tabs in the place of spaces."""
    kind = draw(st.sampled_from(("\r\n", "\r", "mixed", "tabs")))
    if kind == "tabs":
        return text.replace("    ", "\t")
    if kind != "mixed":
        return re.sub(r"\r\n|\r|\n", kind, text)
    ends = itertools.cycle(draw(st.lists(st.sampled_from(("\n", "\r\n", "\r")), min_size=5, max_size=5)))
    return re.sub(r"\r\n|\r|\n", lambda _: next(ends), text)


@st.composite
def expressions(draw: st.DrawFn, text: str) -> str:
    """One expression in the place of another."""
    tree = parsed_whole(text)
    found = [n for n in ast.walk(tree) if isinstance(n, ast.expr)] if tree is not None else []
    if not found:
        return text
    old, new = draw(st.sampled_from(found)), draw(st.sampled_from(found))
    body, starts = text.encode(), [0]
    for line in re.split(rb"(?<=\n)|(?<=\r)(?!\n)", body):
        starts.append(starts[-1] + len(line))
    spans = [
        (starts[n.lineno - 1] + n.col_offset, starts[(n.end_lineno or n.lineno) - 1] + (n.end_col_offset or 0))
        for n in (old, new)
    ]
    (start, end), (first, last) = spans
    return (body[:start] + b"(" + body[first:last] + b")" + body[end:]).decode("utf-8", "replace")


@st.composite
def imports(draw: st.DrawFn, text: str) -> str:
    """The other framework imported somewhere; an import lost, guarded, made late, made a star."""
    tree = parsed_whole(text)
    if tree is None or not tree.body:
        return text
    lines = text.splitlines(keepends=True)
    kind = draw(st.sampled_from(("other", "other", "lose", "guard", "late", "star", "inside")))
    if kind in ("other", "inside"):
        found = [n for n in ast.walk(tree) if isinstance(n, ast.stmt)] if kind == "inside" else tree.body
        place = draw(st.sampled_from(found))
        source: Framework = "paddle" if text.count("paddle") > text.count("torch") else "torch"
        new = textwrap.indent(draw(other_import(source)), " " * place.col_offset)
        lines[place.lineno - 1 : place.lineno - 1] = [new + "\n"]
        return "".join(lines)
    own = [n for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom)) and "__future__" not in ast.dump(n)]
    if not own:
        return text
    chosen = draw(st.sampled_from(own))
    taken = "".join(_cut(lines, chosen))
    start, end = chosen.lineno - 1, chosen.end_lineno or chosen.lineno
    if kind == "guard":
        heads = ("try:\n{}except ImportError:\n    pass\n", "if x:\n{}", "try:\n{}finally:\n    pass\n")
        lines[start:end] = [draw(st.sampled_from(heads)).format(textwrap.indent(taken, "    "))]
    elif kind == "star" and isinstance(chosen, ast.ImportFrom):
        lines[start:end] = [f"from {'.' * chosen.level}{chosen.module or ''} import *\n"]
    else:
        del lines[start:end]
        if kind == "late":
            lines.append(taken)
    return "".join(lines)


@st.composite
def branched(draw: st.DrawFn, text: str) -> str:
    """A run of statements of one block in a condition, a loop, a try, a function or a class."""
    tree = parsed_whole(text)
    found = [b for n in ast.walk(tree) for b in _blocks(n)] if tree is not None else []
    if not found:
        return text
    block = draw(st.sampled_from(found))
    first = draw(st.integers(0, len(block) - 1))
    last = draw(st.integers(first, min(len(block) - 1, first + 3)))
    heads = (
        "if x:\n{}",
        "if a:\n{}elif b:\n{}",
        "if a: pass\nelse:\n{}",
        "for i in range(3):\n{}",
        "try:\n{}except Exception:\n    pass\n",
        "try:\n    pass\nfinally:\n{}",
        "def g():\n{}g()\n",
        "class G:\n{}",
        "with a:\n{}",
        "match x:\n  case 1:\n{}  case _: pass\n",
    )
    lines = text.splitlines(keepends=True)
    start, end = block[first].lineno - 1, block[last].end_lineno or block[last].lineno
    start = min([start, *(d.lineno - 1 for d in getattr(block[first], "decorator_list", []))])
    taken = textwrap.dedent("".join(lines[start:end])).rstrip("\n") + "\n"
    new = draw(st.sampled_from(heads)).replace("{}", textwrap.indent(taken, "    "))
    lines[start:end] = [textwrap.indent(new, " " * block[first].col_offset)]
    return "".join(lines)


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    found = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    return [b for b in found if isinstance(b, list) and b and isinstance(b[0], ast.stmt)]


MUTATIONS = (
    imports,
    imports,
    imports,
    branched,
    branched,
    branched,
    commented,
    commented,
    loosened,
    loosened,
    loosened,
    spelled,
    statements,
    statements,
    tokens,
    tokens,
    names,
    names,
    expressions,
    expressions,
    wrapped,
    white,
    white,
    cut,
    line_ends,
)


def parsed_whole(text: str) -> ast.Module | None:
    """The tree of a file, or None."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _cut(lines: list[str], statement: ast.stmt) -> list[str]:
    return lines[statement.lineno - 1 : statement.end_lineno]
