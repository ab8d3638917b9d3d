"""The parts of calls, against LibCST, which keeps every byte."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst
import pytest
from paddletorch.model import Span
from paddletorch.text import call_spans
from paddletorch.text.call_spans import LayoutError, read_layout
from paddletorch.text.source import Source

FILES = sorted(Path(call_spans.__file__).parent.glob("*.py"))

ODD = """\
f( )
(f)(x)
(f) (x)
((f)
 )(x,)
f(x for x in y)
f( # c )
  x for x in (y) if (a)  # d
  )
f((x for x in y))
f((x for x in y), )
f((a), * (b), c = (d), ** {"a": (1)})
f(*b, c=1, *d, **e)
f(a # x (
  , # y )
  b = # z =
  ( # u
   c # v
   ) # w
  , # t
  )
f(a, \\
  b \\
  )
f(é = "é", ü=2)
f("a" "b"
  "c")
f(lambda: (yield), (yield))
f((a:=1), b, *a, *b)
f(a)(b)(c, d)[0](c)
f(x)if(y)else(z)
f(a,b, # last
)
f(
\ta,\x0c
\t)
f(a=b==c)
f(not(a)) ; f(()) ; f([],()) ; f((),)
"""

Parts = tuple[Span, int, list[tuple[Span, Span | None, Span, int | None]], int]


def calls(source: Source) -> list[ast.Call]:
    """The calls of a file whose places are right: in f-strings they are not, before Python 3.12."""
    module = ast.parse(source.text)
    strings = [node for node in ast.walk(module) if isinstance(node, ast.JoinedStr)]
    misplaced = {node for string in strings for node in ast.walk(string)}
    return [node for node in ast.walk(module) if isinstance(node, ast.Call) and node not in misplaced]


def ours(source: Source, call: ast.Call) -> Parts:
    layout = read_layout(source, call)
    arguments = [(a.whole, a.keyword, a.value, a.comma_end) for a in layout.arguments]
    return layout.function, layout.open_end, arguments, layout.close_start


def libcsts(source: Source, call: ast.Call) -> Parts:
    """The same, as LibCST reads it from the call's own text."""
    span = source.span(call)
    module = libcst.Module([], default_newline=source.newline)
    config = libcst.PartialParserConfig(default_newline=source.newline)
    text = source.slice(span)
    node = libcst.parse_expression(text, config=config)
    assert isinstance(node, libcst.Call) and module.code_for_node(node) == text

    def length(*nodes: object) -> int:
        return sum(len(module.code_for_node(n).encode()) for n in nodes if isinstance(n, libcst.CSTNode))

    function = Span(span.start, span.start + length(node.func))
    position = open_end = function.end + length(node.whitespace_after_func) + 1
    position += length(node.whitespace_before_args)
    arguments = []
    for given in node.args:
        begin = position
        position += len(given.star) + length(given.whitespace_after_star)
        keyword = Span(position, position + length(given.keyword)) if given.keyword else None
        position += length(given.keyword, given.equal)
        value = Span(position, position + length(given.value))
        comma = given.comma if isinstance(given.comma, libcst.Comma) else None
        comma_end = value.end + length(comma.whitespace_before) + 1 if comma is not None else None
        arguments.append((Span(begin, value.end), keyword, value, comma_end))
        position = value.end + length(comma, given.whitespace_after_arg)
    return function, open_end, arguments, position


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_odd_calls(newline: str) -> None:
    source = Source(ODD.replace("\n", newline).encode())
    assert len(calls(source)) > 25
    for call in calls(source):
        assert ours(source, call) == libcsts(source, call)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_calls_of_this_package(file: Path) -> None:
    source = Source(file.read_bytes())
    for call in calls(source):
        assert ours(source, call) == libcsts(source, call)


def test_the_items_of_a_dict() -> None:
    source = Source(b'{"a": (1), **(b), # d)\n (c): (\n2 # e )\n)  # f\n,}')
    layout = read_layout(source, ast.parse(source.text).body[0].value)  # type: ignore[attr-defined]
    assert [source.slice(a.whole) for a in layout.arguments] == ['"a": (1)', "**(b)", "(c): (\n2 # e )\n)"]
    assert [a.comma_end for a in layout.arguments] == [10, 17, layout.close_start]
    assert layout.close_start == len(source.body) - 1


def test_what_is_no_mark_is_an_error() -> None:
    source = Source(b"f(a, b)\n")
    call = ast.parse("f(a, b)").body[0].value  # type: ignore[attr-defined]
    call.args[1].col_offset = call.args[1].end_col_offset = 3
    del call.args[0]
    with pytest.raises(LayoutError, match="line 1"):
        read_layout(source, call)
