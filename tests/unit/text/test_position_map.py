"""Converted code lies on the lines of the text that it was made from."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from types import CodeType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paddletorch.model import Edit, FileResult, Options, Span
from paddletorch.text.position_map import converted_tree
from paddletorch.text.source import Source, pieces, splice

from ...fixture_files import Fixture, engine_for, with_fixtures


@cache
def compiles(data: bytes) -> bool:
    try:
        compile(data, "module.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


@with_fixtures(lambda fixture: compiles(fixture.source) and compiles(fixture.output))
def test_each_function_begins_on_its_line(fixture: Fixture) -> None:
    assert functions(ast.parse(fixture.source)) <= functions(converted_tree(fixture.result, "module.py"))


@with_fixtures(lambda fixture: compiles(fixture.output))
def test_each_line_is_one_of_the_original(fixture: Fixture) -> None:
    last = len(Source(fixture.source).line_starts)
    module = compile(converted_tree(fixture.result, "module.py"), "module.py", "exec", dont_inherit=True)
    for code in codes(module):
        assert all(not line or line <= last for *_, line in code.co_lines())


@with_fixtures(lambda fixture: compiles(fixture.source) and compiles(fixture.output))
def test_statements_without_an_edit_stay_where_they_are(fixture: Fixture) -> None:
    check_kept(fixture.result)


def check_kept(result: FileResult) -> None:
    original = Source(result.source)
    placed = Counter(place(node) for node in statements(converted_tree(result, "module.py")))
    for node in statements(ast.parse(original.text)):
        span = Span(min(original.span(n).start for n in [node, *decorators(node)]), original.span(node).end)
        if not any(edit.span.start < span.end and span.start < edit.span.end for edit in touching(result)):
            assert placed[place(node)], f"line {node.lineno}"


def decorators(node: ast.stmt) -> list[ast.expr]:
    """What stands above a function or class and belongs to it, outside of its span."""
    return getattr(node, "decorator_list", [])


def touching(result: FileResult) -> list[Edit]:
    """The edits, with room for the insertions, which touch both sides of a place."""
    return [Edit(Span(e.span.start - 1, e.span.end + 1), e.text) for e in result.edits]


LAYOUTS = st.sampled_from(["\n", "\r\n", "\r"])
BEFORE = st.text("#é𝔘 \t", max_size=3).map(lambda text: f"# {text}")
CALLS = st.sampled_from(
    [
        "z = torch.sub(x, y, alpha=2)",
        "z = torch.max(x, 1)[1]",
        "z = (torch.cat(\n    [x,  # é\n     y],\n    dim=1,\n).view(-1))",
        "torch.backends.cudnn.benchmark = True",
        "z = torch.randn(2, 3, requires_grad=True, dtype=torch.float64)",
        "é = [torch.relu(i) for i in (x, y)]; z = f'{torch.sum(x, dim=1)}'",
        "if x is None: x = torch.full((1,),\n  torch.inf)",
    ]
)


@given(st.lists(st.tuples(BEFORE, CALLS, st.integers(0, 3)), min_size=1, max_size=6), LAYOUTS, st.booleans())
def test_lines_between_edits_stay(parts: list[tuple[str, str, int]], newline: str, bom: bool) -> None:
    lines = ["import torch", "def f(x, y):"]
    for number, (comment, call, blank) in enumerate(parts):
        lines += [f"    {comment}", *(f"    {line}" for line in call.split("\n")), *[""] * blank]
        lines.append(f"    kept = {number}")
    data = newline.join([*lines, "    return z", ""]).encode("utf-8-sig" if bom else "utf-8")
    result = engine_for(Options(target="paddle")).convert(data, "module.py")
    assert result.output != data
    check_kept(result)
    kept = [n for n in statements(converted_tree(result, "module.py")) if ast.unparse(n).startswith("kept = ")]
    assert [Source(data).slice(Source(data).span(n)) for n in kept] == [f"kept = {n}" for n in range(len(parts))]


def test_two_statements_for_one_lie_on_its_line() -> None:
    data = b"import paddle\ns = paddle.amp.GradScaler()\n\ndef f(o, l):\n    s.minimize(\n        o,\n        l)\n"
    result = engine_for(Options(target="torch")).convert(data, "module.py")
    body = converted_tree(result, "module.py").body[-1]
    assert isinstance(body, ast.FunctionDef)
    assert [ast.unparse(n) for n in body.body] == ["s.step(o)", "s.update()"]
    assert {n.lineno for n in body.body} == {5}


def test_parts_that_change_places_end_after_their_start() -> None:
    data = b"import torch\ndef f(x: torch.Tensor, y: torch.Tensor):\n    return torch.rsub(\n        x,\n        y)\n"
    result = engine_for(Options(target="paddle")).convert(data, "module.py")
    assert result.output != data
    compile(converted_tree(result, "module.py"), "module.py", "exec")


@pytest.mark.parametrize("text", ["a.b(c)", "x + é", "f(a, b)"])
@given(data=st.data())
def test_pieces_make_the_text_and_know_its_origin(text: str, data: st.DataObject) -> None:
    body = text.encode()
    starts = st.integers(0, len(body))
    first, second = sorted([data.draw(starts), data.draw(starts)])
    inner = Edit(Span(first, second), data.draw(st.text(max_size=3)))
    outer = Edit(Span(0, len(body)), "", parts=("<", Span(0, len(body)), ">"))
    edits = [inner, outer] if data.draw(st.booleans()) else [inner]
    made = pieces(body, edits)
    assert b"".join(piece.text for piece in made) == splice(body, edits)
    assert all(body[p.origin.start : p.origin.end] == p.text for p in made if p.is_copy)


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def functions(module: ast.AST) -> Counter[tuple[str, int]]:
    """Name and line of each function and class, without decorators, which a conversion may remove."""
    found = (n for n in ast.walk(module) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
    return Counter((node.name, node.lineno) for node in found)


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.stmt))


def place(node: ast.stmt) -> tuple[str, int, int, int | None, int | None]:
    return ast.dump(node), node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
